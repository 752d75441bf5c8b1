package frontend

import (
	"bytes"
)

// receive is the upstream reader: it passes on what the embedded server has for the client, until it hangs up. in holds what
// was read already.
func (s *session) receive(in *readBuffer) {
	defer close(s.done)
	// Whatever the reader waits for would be in vain now.
	defer s.barrier.close()
	defer s.part() // now, not when the last bytes are written: the client may be gone, and its groups wait
	defer s.box.finish(2 * flushWait)
	data := in.bytes[:in.end]
	for {
		used, want, err := s.forward(data)
		if err != nil {
			s.server.log.Error("reading from the embedded server", "error", err)
			return
		}
		in.use(used)
		if data, err = in.fill(s.up.conn, want); err != nil {
			return // it hung up; with its last bytes it comes never together
		}
	}
}

// forward passes on the whole frames in data. It returns how many bytes they are and, if known, how many the next frame needs.
func (s *session) forward(data []byte) (used, want int, err error) {
	start, at := 0, 0 // data[start:at] is to be passed on as it is
	pass := func() error {
		if at > start && !s.box.pass(data[start:at]) {
			return errHangUp
		}
		return nil
	}
	for {
		frame, err := nextFrame(data[at:])
		if err != nil {
			return at, 0, err
		}
		next := at + frame.size
		switch frame.kind {
		case frameMore:
			if err := pass(); err != nil {
				return len(data), 0, nil // the client is gone; what it missed does not matter
			}
			return at, frame.size, nil
		case frameMsg:
			if s.subs.limited.Load() > 0 {
				s.subs.passed(frame.arg)
			}
		case frameRefuse:
			if subject, queue, ok := refusedSubscription(string(frame.arg)); ok {
				s.subs.refused(subject, queue)
			}
		case frameAnswer:
			if err := pass(); err != nil {
				return len(data), 0, nil
			}
			s.admit.accept(s.barrier.ponged())
			start = next
		case frameAccept:
			if s.swallow.Load() > 0 {
				if err := pass(); err != nil {
					return len(data), 0, nil
				}
				s.swallow.Add(-1)
				start = next
			}
		case frameInfo:
			if err := pass(); err != nil {
				return len(data), 0, nil
			}
			info, err := s.inform(frame.arg)
			if err != nil {
				return at, 0, err
			}
			s.box.pass(info)
			start = next
		}
		at = next
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
