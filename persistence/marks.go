package persistence

import (
	"encoding/binary"

	"github.com/mq9-broker/broker/mq9"
)

// A queue deletes at its front, and each deletion leaves a tombstone until a compaction takes it away. So that no reader walks over them,
// a tier's first message is written down now and then, in the batch of a deletion, at a key in front of all its messages.

// markEvery is how many deletions of a tier pass between two marks of it: what a reader may walk over, about 0.3 ms, against 9 bytes
// of key and 8 of value in every so many deletions.
const markEvery = 256

// box is what the committer remembers of one mailbox besides that it lives.
type box struct {
	bodies presence
	tiers  [mq9.Normal]struct {
		deleted int       // since first was written
		first   mq9.MsgID // as written; 0 = not by this process
	}
}

// presence says whether a mailbox has had bodies that are kept apart, so that others need not delete what is not there.
type presence uint8

const (
	unknown presence = iota
	none
	some
)

// box returns what is remembered of a mailbox that is alive.
func (s *Store) box(number uint64) *box {
	b := s.live[number]
	if b == nil {
		b = &box{}
		s.live[number] = b
	}
	return b
}

// stageDelete removes a message, and writes where reading may begin when that is due. A mark that is lost with a failed
// batch, or with the process, costs the next readers some steps and nothing else.
func (s *Store) stageDelete(c mq9.DeleteMessage) {
	if !s.alive(c.Number) || !c.Priority.Durable() {
		return
	}
	b := s.box(c.Number)
	key := appendMessageKey(s.scratch[:0], c.Number, c.Priority, c.ID)
	s.scratch = key
	s.batch.DeleteCF(s.family(familyMessages), key)
	if b.bodies == unknown {
		b.bodies = s.findBodies(c.Number)
	}
	if b.bodies == some {
		s.batch.DeleteCF(s.family(familyBodies), key)
	}
	tier := &b.tiers[c.Priority]
	if tier.deleted++; tier.deleted < markEvery || c.First <= tier.first {
		return
	}
	tier.deleted, tier.first = 0, c.First
	key = appendTier(key[:0], c.Number, c.Priority)
	both := binary.BigEndian.AppendUint64(key, uint64(c.First))
	s.batch.PutCF(s.family(familyMessages), key, both[len(key):])
	s.scratch = both
}

// findBodies looks whether a mailbox has bodies that are kept apart. It is asked once for each mailbox and start.
func (s *Store) findBodies(number uint64) presence {
	found := none
	err := s.mu.engine.each(scan{family: familyBodies, from: appendNumber(nil, number), to: mailboxEnd(number)},
		func(_, _ []byte) (bool, error) {
			found = some
			return false, nil
		})
	if err != nil {
		return some // to delete what is not there is no harm
	}
	return found
}

// pastMark is where a scan of messages goes on when it stands on a mark: at the first message that may be there.
func pastMark(key, value []byte) (to []byte, err error) {
	if len(key) != tierLength {
		return nil, nil
	}
	if !mq9.Priority(key[numberLength]).Durable() || len(value) != 8 {
		return nil, corrupt("a mark of %d bytes", len(value))
	}
	return append(append(make([]byte, 0, messageKeyLength), key...), value...), nil
}
