package persistence

import (
	"errors"

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
	all := scan{family: familyMessages, from: appendNumber(nil, number), to: mailboxEnd(number), jump: pastMark, head: messageHeadLength}
	return s.view(func(e *engine) error {
		return e.pairs(all, func(p pair) (bool, error) {
			entry, err := decodeEntry(p.key, p.value, p.length)
			if err == nil {
				fn(entry)
			}
			return true, err
		})
	})
}

// Read returns committed messages of one priority in id order, beginning with the first whose id is at least from: as many as
// fit into maxBytes of Size, but at least one if there is any, and fewer when very many were deleted in between.
// It finds the first one directly, however many were deleted before it, if from is that one's id or 0. The caller
// owns the slice and shares the messages.
func (s *Store) Read(number uint64, p mq9.Priority, from mq9.MsgID, maxBytes int) ([]*mq9.Message, error) {
	if !p.Durable() {
		return nil, nil
	}
	some := scan{
		family: familyMessages, from: appendMessageKey(nil, number, p, from), to: tierEnd(number, p),
		keepWarm: s.opts.Tuning.WarmReads, ahead: s.opts.Tuning.ReadAhead, patience: patienceOfRead,
	}
	if from == 0 {
		some.from, some.jump = appendTier(nil, number, p), pastMark
	}
	messages, err := s.readMessages(some, maxBytes)
	if errors.Is(err, errFar) {
		if len(messages) > 0 {
			return messages, nil
		}
		some.patience = 0 // there may be one, and then it must be found
		messages, err = s.readMessages(some, maxBytes)
	}
	if err != nil {
		return nil, err
	}
	return messages, nil
}

// patienceOfRead is how many tombstones Read walks over for one more message, about 2 ms. The caller knows where that one is.
const patienceOfRead = 5000

// readMessages runs a scan of messages. What it read before an error is returned beside that.
func (s *Store) readMessages(some scan, maxBytes int) (messages []*mq9.Message, err error) {
	err = s.view(func(e *engine) error {
		apart := bodies{engine: e, scan: some}
		defer apart.close()
		bytes := 0
		return e.each(some, func(key, record []byte) (bool, error) {
			entry, err := decodeEntry(key, record, len(record))
			if err != nil {
				return false, err
			}
			if bytes+entry.Size > maxBytes && len(messages) > 0 {
				return false, nil
			}
			body := record[messageHeadLength:]
			if record[0] == messageApart {
				var there bool
				if body, there, err = apart.get(key); err != nil || !there {
					return err == nil, err
				}
			}
			m, err := decodeMessage(entry, body)
			if err != nil {
				return false, err
			}
			messages = append(messages, m)
			bytes += entry.Size
			return bytes < maxBytes, nil
		})
	})
	return messages, err
}

// read runs a scan on the open engine.
func (s *Store) read(what scan, fn func(key, value []byte) (bool, error)) error {
	return s.view(func(e *engine) error { return e.each(what, fn) })
}

// view calls fn with the open engine and keeps it open meanwhile. Errors of the engine read as 503; those of fn stay
// what they are.
func (s *Store) view(fn func(e *engine) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.mu.engine == nil {
		if err := s.Err(); err != nil {
			return err
		}
		return ErrClosed
	}
	err := fn(s.mu.engine)
	if engine, ok := errors.AsType[engineError](err); ok {
		return unavailable(engine)
	}
	return err
}
