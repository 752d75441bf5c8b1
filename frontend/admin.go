package frontend

import (
	"encoding/json"
	"log/slog"
	"mime"
	"net"
	"net/http"

	"github.com/mq9-broker/broker/mq9"
)

// SnapshotPath is where the health address takes POST {"dir": "<absolute path>"} and has a snapshot made there. It answers 201 with the
// same object, or a refusal as requests get it (protocol section 2) with the code as status.
const SnapshotPath = "/api/v1/snapshot"

// maxAdminBody bounds what an admin request may say.
const maxAdminBody = 64 << 10

// SnapshotRequest is the body of a request to SnapshotPath, and of its answer.
type SnapshotRequest struct {
	Dir string `json:"dir"`
}

// mountAdmin adds the admin requests to what the health address serves. Without take there is no such thing as a snapshot.
func mountAdmin(mux *http.ServeMux, take func(dir string) error, log *slog.Logger) {
	if take != nil {
		mux.Handle("POST "+SnapshotPath, snapshotHandler(take, log))
	}
}

// snapshotHandler has snapshots made by take. Only programs on this machine may ask, and no web page may make a browser do so:
// a page cannot send this content type elsewhere without leave, and a browser names the page it comes from.
func snapshotHandler(take func(dir string) error, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var ask SnapshotRequest
		refusal := readAdmin(w, r, &ask)
		if refusal == nil {
			err := take(ask.Dir)
			refusal = mq9.AsError(err)
			if err != nil {
				log.Error("no snapshot was made", "dir", ask.Dir, "error", err)
			} else {
				log.Info("snapshot made", "dir", ask.Dir)
			}
		}
		answerAdmin(w, ask, refusal, log)
	})
}

// readAdmin checks an admin request and reads its body.
func readAdmin(w http.ResponseWriter, r *http.Request, into any) *mq9.Error {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return mq9.Errorf(mq9.CodeForbidden, "admin requests are taken from the broker's own machine only")
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" || r.Header.Get("Origin") != "" {
		return mq9.Errorf(mq9.CodeForbidden, "admin requests are not for web pages: send Content-Type: application/json and no Origin")
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxAdminBody))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return mq9.Errorf(mq9.CodeBadRequest, "the body is not the JSON object that is expected: %v", err)
	}
	return nil
}

func answerAdmin(w http.ResponseWriter, result any, refusal *mq9.Error, log *slog.Logger) {
	w.Header().Set("Content-Type", "application/json")
	var body []byte
	var err error
	if refusal != nil {
		w.WriteHeader(refusal.Code)
		body = refusal.Encode()
	} else if body, err = json.Marshal(result); err == nil {
		w.WriteHeader(http.StatusCreated)
	}
	if err == nil {
		_, err = w.Write(append(body, '\n'))
	}
	if err != nil {
		log.Debug("answering an admin request", "error", err)
	}
}
