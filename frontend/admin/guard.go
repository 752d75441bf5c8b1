package admin

import (
	"encoding/json"
	"mime"
	"net"
	"net/http"

	"github.com/mq9-broker/broker/mq9"
)

// maxBody bounds what a changing request may say.
const maxBody = 64 << 10

// checkChange refuses a changing request that does not come from a program on this machine, and every one that a web page
// made a browser send: a page cannot send this content type elsewhere without leave, which is never given, and a browser names the
// page it comes from.
func checkChange(r *http.Request) *mq9.Error {
	if !fromLoopback(r) {
		return mq9.Errorf(mq9.CodeForbidden, "admin requests are taken from the broker's own machine only")
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" || r.Header.Get("Origin") != "" {
		return mq9.Errorf(mq9.CodeForbidden, "admin requests are not for web pages: send Content-Type: application/json and no Origin")
	}
	return nil
}

// ownPage lets requests of other origins through to nobody.
var ownPage = http.NewCrossOriginProtection()

// checkPage refuses a request to the desk that a page of another origin made a browser send. (A page whose name was made to lead here
// does not pass the [Gate].)
func checkPage(r *http.Request) *mq9.Error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" || ownPage.Check(r) != nil {
		return mq9.Errorf(mq9.CodeForbidden, "this is for the broker's own page and for programs: send Content-Type: application/json, and no Origin of another")
	}
	return nil
}

// fromLoopback reports whether a request comes from this machine.
func fromLoopback(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback()
}

// readBody reads the JSON object of a changing request, whose keys must be known.
func readBody(w http.ResponseWriter, r *http.Request, into any) *mq9.Error {
	if refusal := checkChange(r); refusal != nil {
		return refusal
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return mq9.Errorf(mq9.CodeBadRequest, "the body is not the JSON object that is expected: %v", err)
	}
	return nil
}
