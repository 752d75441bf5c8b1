package persistence

import (
	"github.com/mq9-broker/broker/mq9"
)

// Mailboxes calls fn for every mailbox on disk, in the order of account and mail_id, expired ones included, and stops at
// fn's first error. It shows the mailboxes as they were when it began. Neither here nor in Index may fn use the store: a
// Close that waits would hold up both.
func (s *Store) Mailboxes(fn func(mq9.Mailbox) error) error {
	return s.read(scan{family: familyMailboxes}, func(key, value []byte) (bool, error) {
		m, err := decodeMailbox(key, value)
		if err == nil {
			err = fn(m)
		}
		return true, err
	})
}

// Index calls fn for every committed message of the mailbox with that number, in delivery order: critical before
// urgent, each by id. It shows them as they were when it began, and looks at no body.
func (s *Store) Index(number uint64, fn func(mq9.Entry)) error {
	all := scan{family: familyMessages, from: appendNumber(nil, number), to: mailboxEnd(number), jump: pastMark}
	return s.read(all, func(key, value []byte) (bool, error) {
		e, err := decodeEntry(key, value)
		if err == nil {
			fn(e)
		}
		return true, err
	})
}

// Read returns committed messages of one priority in id order, beginning with the first whose id is at least from: as many as
// fit into maxBytes of Size, but at least one if there is any. It finds the first one directly, however many were
// deleted before it, if from is that one's id or 0. The caller owns the slice and shares the messages.
func (s *Store) Read(number uint64, p mq9.Priority, from mq9.MsgID, maxBytes int) (messages []*mq9.Message, err error) {
	if !p.Durable() {
		return nil, nil
	}
	some := scan{
		family: familyMessages, from: appendMessageKey(nil, number, p, from), to: tierEnd(number, p),
		keepWarm: s.opts.Tuning.WarmReads, ahead: s.opts.Tuning.ReadAhead,
	}
	if from == 0 {
		some.from, some.jump = appendTier(nil, number, p), pastMark
	}
	bytes := 0
	err = s.read(some, func(key, value []byte) (bool, error) {
		e, err := decodeEntry(key, value)
		if err != nil {
			return false, err
		}
		if bytes += e.Size; bytes > maxBytes && len(messages) > 0 {
			return false, nil
		}
		messages = append(messages, decodeMessage(e, value))
		return bytes < maxBytes, nil
	})
	if err != nil {
		return nil, err
	}
	return messages, nil
}

// read runs a scan on the open engine and keeps it open meanwhile. Errors of the engine read as 503; those of
// fn stay what they are.
func (s *Store) read(what scan, fn func(key, value []byte) (bool, error)) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.mu.engine == nil {
		if err := s.Err(); err != nil {
			return err
		}
		return ErrClosed
	}
	var own error
	err := s.mu.engine.each(what, func(key, value []byte) (more bool, err error) {
		more, own = fn(key, value)
		return more, own
	})
	if err != nil && own == nil {
		return unavailable(err)
	}
	return err
}
