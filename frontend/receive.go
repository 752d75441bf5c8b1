package frontend

import (
	"bytes"
)

// hungUp winds up what needs the embedded server, which has hung up.
func (s *session) hungUp() {
	s.box.finish(2 * flushWait)
	s.part() // now, not when the last bytes are written: the client may be gone, and its groups wait
	// Whatever the reader waits for would be in vain now.
	s.barrier.close()
	close(s.done)
}

// forward acts on the whole frames in data and passes on what the client gets of them, except for data[from:to]: that is the caller's
// to pass on. The rest, data[to:], is the beginning of a frame; want is how many bytes that has, if known.
func (s *session) forward(data []byte) (from, to, want int, err error) {
	for {
		frame, err := nextFrame(data[to:])
		if err != nil {
			return from, to, 0, err
		}
		next := to + frame.size
		switch frame.kind {
		case frameMore:
			return from, to, frame.size, nil
		case frameMsg:
			if s.subs.limited.Load() > 0 {
				s.subs.passed(frame.arg)
			}
		case frameRefuse:
			if subject, queue, ok := refusedSubscription(string(frame.arg)); ok {
				s.subs.refused(subject, queue)
			}
		case frameAnswer:
			s.box.passCopy(data[from:to])
			s.admit.accept(s.barrier.ponged())
			from = next
		case frameAccept:
			if s.swallow.Load() > 0 {
				s.box.passCopy(data[from:to])
				s.swallow.Add(-1)
				from = next
			}
		case frameInfo:
			s.box.passCopy(data[from:to])
			info, err := s.inform(frame.arg)
			if err != nil {
				return from, to, 0, err
			}
			s.box.passCopy(info)
			from = next
		}
		to = next
	}
}

// inform learns from an INFO of the embedded server and renders the one that the client gets.
func (s *session) inform(body []byte) ([]byte, error) {
	info, err := parseInfo(body)
	if err != nil {
		return nil, err
	}
	s.maxPayload.Store(int64(info.MaxPayload))
	if info.ClientID != 0 {
		s.cid.Store(info.ClientID)
	}
	frame, err := rewriteInfo(body, s.infoFields())
	if err != nil {
		return nil, err
	}
	s.admit.keepInfo(bytes.TrimSuffix(frame[len("INFO "):], []byte("\r\n")))
	return frame, nil
}

// lameDuck tells a client that understands it that the broker is about to go.
func (s *session) lameDuck() {
	if s.admit.state() == 0 || s.protocol.Load() < 1 {
		return
	}
	frame, err := rewriteInfo(s.admit.lastInfo(), infoFields{"ldm": true})
	if err != nil {
		s.server.log.Error("rendering INFO", "error", err)
		return
	}
	s.box.write(frame)
}
