package persistence

import (
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/linxGnu/grocksdb"

	"github.com/mq9-broker/broker/mq9"
)

// writeBatch is the committer's write: one RocksDB batch for all requests, whole or not at all.
func (s *Store) writeBatch(batch []request) {
	s.batch.Clear()
	s.turns = s.turns[:0]
	sync, total, oldest := s.opts.Sync == SyncAlways, load{}, int64(0)
	for i := range batch {
		r := &batch[i]
		if _, ok := r.change.(reserve); ok {
			sync = true
		}
		r.err = s.stage(r.change)
		if c, ok := r.change.(mq9.AppendMessages); ok && r.err == nil && (oldest == 0 || c.Messages[0].At < oldest) {
			oldest = c.Messages[0].At
		}
		total.add(loadOf(r.change))
	}
	start := time.Now()
	err := s.writeStaged(sync)
	if err != nil {
		s.undo()
		for i := range batch {
			if batch[i].err == nil {
				batch[i].err = err
			}
		}
	} else {
		s.dig()
	}
	if s.opts.Observe != nil {
		b := Batch{Changes: total.changes, Bytes: total.bytes, Queued: s.committer.queued(), Took: time.Since(start), Err: err}
		if oldest > 0 {
			b.Waited = max(1, time.Duration(time.Now().UnixNano()-oldest))
		}
		s.opts.Observe(b)
	}
}

// writeStaged writes the batch and remembers how that went.
func (s *Store) writeStaged(sync bool) error {
	if s.batch.Count() == 0 {
		return nil
	}
	err := s.tryWrite(sync)
	s.noteWrite(err)
	if err != nil {
		return unavailable(err)
	}
	s.unsaved = !sync // a sync covers the log up to its end
	return nil
}

// tryWrite writes the batch to the engine.
func (s *Store) tryWrite(sync bool) error {
	if s.opts.beforeWrite != nil {
		if err := s.opts.beforeWrite(); err != nil {
			return err
		}
	}
	return s.mu.engine.write(s.batch, sync)
}

// stage adds a change to the batch, or says why it cannot be stored. It keeps live in step, so that a later
// change of the same batch sees what an earlier one did.
func (s *Store) stage(change any) error {
	if _, ok := change.(late); ok {
		return ErrClosed
	}
	if s.mu.engine == nil {
		return unavailable(errNoEngine)
	}
	switch c := change.(type) {
	case mq9.CreateMailbox:
		return s.stageCreate(c.Mailbox)
	case mq9.ExpireMailbox:
		return s.stageExpire(c.Mailbox)
	case mq9.AppendMessages:
		return s.stageAppend(c)
	case mq9.DeleteMessage:
		s.stageDelete(c)
		return nil
	case reserve:
		s.batch.Put(keyIDs, binary.BigEndian.AppendUint64(s.scratch[:0], c.mark))
		return nil
	case purge:
		for _, key := range c.keys {
			s.batch.DeleteCF(s.family(c.family), key)
		}
		return nil
	case bury:
		s.batch.DeleteCF(s.family(familyGraveyard), appendNumber(s.scratch[:0], c.number))
		return nil
	default:
		return invalid("a %T", change)
	}
}

func (s *Store) stageCreate(m *mq9.Mailbox) error {
	if m == nil {
		return invalid("no mailbox")
	}
	key, err := appendMailboxKey(s.scratch[:0], m.Account, m.ID)
	if err != nil {
		return err
	}
	both, err := appendMailbox(key, m)
	if err != nil {
		return err
	}
	s.batch.PutCF(s.family(familyMailboxes), key, both[len(key):])
	if !s.alive(m.Number) {
		s.live[m.Number] = nil
		s.turns = append(s.turns, turn{m.Number, true})
	}
	s.scratch = both
	return nil
}

// stageExpire does nothing for a mailbox that is not alive: its name may be another one's by now.
func (s *Store) stageExpire(m *mq9.Mailbox) error {
	if m == nil {
		return invalid("no mailbox")
	}
	if !s.alive(m.Number) {
		return nil
	}
	key, err := appendMailboxKey(s.scratch[:0], m.Account, m.ID)
	if err != nil {
		return err
	}
	s.batch.DeleteCF(s.family(familyMailboxes), key)
	s.batch.PutCF(s.family(familyGraveyard), appendNumber(nil, m.Number), nil)
	delete(s.live, m.Number)
	s.turns = append(s.turns, turn{m.Number, false})
	s.scratch = key
	return nil
}

// checkMessages reports what of an AppendMessages cannot be stored.
func checkMessages(messages []*mq9.Message) error {
	if len(messages) == 0 {
		return invalid("no message")
	}
	for _, m := range messages {
		switch {
		case m == nil || !m.Priority.Durable():
			return invalid("no durable message")
		case len(m.Header) > math.MaxUint32 || len(m.Payload) > math.MaxUint32:
			return invalid("a message of %d bytes", m.Size())
		}
	}
	return nil
}

func (s *Store) stageAppend(c mq9.AppendMessages) error {
	if err := checkMessages(c.Messages); err != nil {
		return err
	}
	if !s.alive(c.Number) {
		return mq9.ErrNoMailbox
	}
	for _, m := range c.Messages {
		s.stageMessage(c.Number, m)
	}
	return nil
}

func (s *Store) stageMessage(number uint64, m *mq9.Message) {
	key := appendMessageKey(s.scratch[:0], number, m.Priority, m.ID)
	both := appendMessage(key, m)
	record := both[len(key):]
	if record[0] == messageApart {
		s.batch.PutCF(s.family(familyBodies), key, record[messageHeadLength:])
		record = record[:messageHeadLength]
		s.box(number).bodies = some
	}
	s.batch.PutCF(s.family(familyMessages), key, record)
	const keep = 1 << 20 // one big message must not hold its memory for ever
	if s.scratch = both; cap(both) > keep {
		s.scratch = nil
	}
}

func (s *Store) alive(number uint64) bool {
	_, ok := s.live[number]
	return ok
}

func (s *Store) family(f family) *grocksdb.ColumnFamilyHandle { return s.mu.engine.families[f] }

// turn is one change of live: a mailbox was created, or expired.
type turn struct {
	number uint64
	born   bool
}

// undo puts live back to what it was before the failed batch.
func (s *Store) undo() {
	for _, t := range slices.Backward(s.turns) {
		if t.born {
			delete(s.live, t.number)
		} else {
			s.live[t.number] = nil
		}
	}
}

// dig hands the mailboxes that a written batch expired to the purger.
func (s *Store) dig() {
	for _, t := range s.turns {
		if !t.born {
			s.graves.add(t.number)
		}
	}
}
