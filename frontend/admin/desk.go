package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/mq9-broker/broker/mq9"
)

// Desk lets a person use mailboxes by hand. Whoever knows a mail_id may; it travels in bodies alone, because addresses are kept in
// logs and histories. Methods are safe for concurrent use; their errors are *mq9.Error.
type Desk interface {
	// Send stores a message and returns when its tier holds it.
	Send(ctx context.Context, letter Letter) (Sent, error)

	// Watch calls ready when the mailbox is being watched, and then deliver with what it stores and what comes, in the protocol's order
	// (protocol section 6), from the calling goroutine, until ctx ends or one of them fails. It waits for deliver, and
	// nobody else does.
	Watch(ctx context.Context, wish Wish, ready func() error, deliver func(Delivery) error) error
}

// mostLetter bounds a request that sends, bytes of JSON.
const mostLetter = 8 << 20

// sendWait bounds how long a request that sends waits for the store.
const sendWait = 10 * time.Second

// send answers POST send.
func (s *Server) send(w http.ResponseWriter, r *http.Request) {
	var letter Letter
	if refusal := readDesk(w, r, &letter); refusal != nil {
		s.answer(w, 0, nil, refusal)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), sendWait)
	defer cancel()
	sent, err := s.options.Desk.Send(ctx, letter)
	s.answer(w, http.StatusCreated, sent, err)
}

// watch answers POST watch with Server-Sent Events: `watching`, then a `message` for each. (It is no GET, because a mail_id
// must not be in an address.)
func (s *Server) watch(w http.ResponseWriter, r *http.Request) {
	var wish Wish
	if refusal := readDesk(w, r, &wish); refusal != nil {
		s.answer(w, 0, nil, refusal)
		return
	}
	release, refusal := s.takeStream()
	if refusal != nil {
		s.answer(w, 0, nil, refusal)
		return
	}
	defer release()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		select {
		case <-s.stopping:
			cancel()
		case <-ctx.Done():
		}
	}()
	out := newStream(w)
	err := s.options.Desk.Watch(ctx, wish,
		func() error { return out.send("watching", struct{}{}) },
		func(d Delivery) error { return out.send("message", d) })
	if err != nil && !out.begun {
		s.answer(w, 0, nil, err)
	}
}

// readDesk reads the JSON object of a request to the desk, whose keys must be known.
func readDesk(w http.ResponseWriter, r *http.Request, into any) *mq9.Error {
	if refusal := checkPage(r); refusal != nil {
		return refusal
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostLetter))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return mq9.Errorf(mq9.CodeBadRequest, "the body is not the JSON object that is expected: %v", err)
	}
	return nil
}
