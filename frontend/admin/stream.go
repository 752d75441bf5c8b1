package admin

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/mq9-broker/broker/mq9"
)

// mostStreams bounds the clients of streams at a time.
const mostStreams = 64

// streamWait is how long the client of a stream may take nothing before it is cut off.
const streamWait = 10 * time.Second

// takeStream counts a client of a stream; release ends that.
func (s *Server) takeStream() (release func(), refusal *mq9.Error) {
	select {
	case s.streams <- struct{}{}:
		return func() { <-s.streams }, nil
	default:
		return nil, mq9.Errorf(mq9.CodeUnavailable, "%d clients follow events already: close one, or ask for %s now and then", mostStreams, StatusPath)
	}
}

// stream sends Server-Sent Events. It belongs to one goroutine.
type stream struct {
	w     http.ResponseWriter
	out   *http.ResponseController
	begun bool // the header is sent
}

func newStream(w http.ResponseWriter) *stream {
	return &stream{w: w, out: http.NewResponseController(w)}
}

// send sends an event with an object as its data. It fails when the client is gone.
func (s *stream) send(event string, data any) error {
	body, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if !s.begun {
		s.begun = true
		h := s.w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
	}
	_ = s.out.SetWriteDeadline(time.Now().Add(streamWait)) // a server without deadlines has no slow clients
	if _, err := s.w.Write([]byte("event: " + event + "\ndata: " + string(body) + "\n\n")); err != nil {
		return err
	}
	return s.out.Flush()
}
