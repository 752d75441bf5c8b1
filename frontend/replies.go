package frontend

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/mq9-broker/broker/mq9"
)

// reply sends the answer to a request. An inbox that this connection holds gets it straight, so that nobody else can see it
// (protocol section 1); only a foreign one is published through the embedded server, in this client's name. A reply subject
// of ours makes it a message like any other.
func (s *session) reply(r *request, body []byte) {
	if strings.HasPrefix(r.reply, mq9.Prefix) {
		s.republish(r, body)
		return
	}
	frames, recount := s.subs.appendReply(r.frames[:0], r.reply, body)
	if len(frames) == 0 {
		frame := append(append([]byte("PUB "), r.reply...), ' ')
		frame = strconv.AppendInt(frame, int64(len(body)), 10)
		frame = append(append(append(frame, "\r\n"...), body...), "\r\n"...)
		s.inject(frame, 1)
		return
	}
	r.frames = frames
	if r.atOnce {
		s.box.writeAtOnce(frames)
	} else {
		s.box.write(frames)
	}
	if len(recount) > 0 {
		s.inject(recount, strings.Count(string(recount), "\r\n"))
	}
}

// republish publishes an answer on a subject of ours. It belongs to the epoch of its request. The broker
// must not be called from its own callback, so a goroutine does it.
func (s *session) republish(r *request, body []byte) {
	s.drain.Lock()
	defer s.drain.Unlock()
	if s.drain.closed {
		return // with the connection everything that it was to be told is void
	}
	s.barrier.continued(r.epoch)
	again, body := &request{session: s, epoch: r.epoch, subject: r.reply}, bytes.Clone(body)
	s.owned.Go(func() {
		s.calls.Lock()
		defer s.calls.Unlock()
		again.dispatch(-1, body)
		s.client.Flush()
	})
}
