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

// marks are what the committer remembers of one mailbox's deletions, by priority.
type marks [mq9.Normal]struct {
	deleted int       // since first was written
	first   mq9.MsgID // as written; 0 = not by this process
}

// stageDelete removes a message, and writes where reading may begin when that is due. A mark that is lost with a failed
// batch, or with the process, costs the next readers some steps and nothing else.
func (s *Store) stageDelete(c mq9.DeleteMessage) {
	m, alive := s.live[c.Number]
	if !alive || !c.Priority.Durable() {
		return
	}
	s.scratch = appendMessageKey(s.scratch[:0], c.Number, c.Priority, c.ID)
	s.batch.DeleteCF(s.family(familyMessages), s.scratch)
	if m == nil {
		m = &marks{}
		s.live[c.Number] = m
	}
	tier := &m[c.Priority]
	if tier.deleted++; tier.deleted < markEvery || c.First <= tier.first {
		return
	}
	tier.deleted, tier.first = 0, c.First
	key := appendTier(s.scratch[:0], c.Number, c.Priority)
	both := binary.BigEndian.AppendUint64(key, uint64(c.First))
	s.batch.PutCF(s.family(familyMessages), key, both[len(key):])
	s.scratch = both
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
