package persistence

import (
	"encoding/binary"
	"math"

	"github.com/mq9-broker/broker/mq9"
)

// The record of a mailbox; account and mail_id are in its key.
//
//	+-------------+-----------+------------+---------+-------------+------------------+---------+
//	| version (1) | flags (1) | number (8) | ttl (8) | created (8) | max_inflight (8) |  desc   |
//	+-------------+-----------+------------+---------+-------------+------------------+---------+
//
// Flags: bit 0 = public; the others are zero.
const (
	mailboxVersion   = 1
	mailboxMinLength = 1 + 1 + 8 + 8 + 8 + 8
	flagPublic       = 1
)

// appendMailbox appends the record of m.
func appendMailbox(b []byte, m *mq9.Mailbox) ([]byte, error) {
	if what := mailboxFault(m); what != "" {
		return b, invalid("a mailbox with %s", what)
	}
	flags := byte(0)
	if m.Public {
		flags = flagPublic
	}
	b = append(b, mailboxVersion, flags)
	b = binary.BigEndian.AppendUint64(b, m.Number)
	b = binary.BigEndian.AppendUint64(b, uint64(m.TTL))
	b = binary.BigEndian.AppendUint64(b, uint64(m.Created))
	b = binary.BigEndian.AppendUint64(b, uint64(m.MaxInflight))
	return append(b, m.Desc...), nil
}

// decodeMailbox reads a key and a record. The result shares no memory with them. It fails with ErrCorrupt, and never panics,
// on bytes that appendMailboxKey and appendMailbox did not write.
func decodeMailbox(key, record []byte) (mq9.Mailbox, error) {
	account, id, err := parseMailboxKey(key)
	if err != nil {
		return mq9.Mailbox{}, err
	}
	if len(record) < mailboxMinLength {
		return mq9.Mailbox{}, corrupt("a mailbox of %d bytes", len(record))
	}
	if record[0] != mailboxVersion || record[1]&^flagPublic != 0 {
		return mq9.Mailbox{}, corrupt("a mailbox of version %d, flags %#x", record[0], record[1])
	}
	inflight := binary.BigEndian.Uint64(record[26:])
	if inflight > math.MaxInt {
		return mq9.Mailbox{}, corrupt("a mailbox with a negative max_inflight")
	}
	m := mq9.Mailbox{
		Number:      binary.BigEndian.Uint64(record[2:]),
		Account:     account,
		ID:          id,
		Public:      record[1] == flagPublic,
		Desc:        string(record[mailboxMinLength:]),
		TTL:         int64(binary.BigEndian.Uint64(record[10:])),
		MaxInflight: int(inflight),
		Created:     int64(binary.BigEndian.Uint64(record[18:])),
	}
	if what := mailboxFault(&m); what != "" {
		return mq9.Mailbox{}, corrupt("a mailbox with %s", what)
	}
	return m, nil
}

// mailboxFault says what no mailbox may have, or nothing.
func mailboxFault(m *mq9.Mailbox) string {
	switch {
	case m.Number == 0:
		return "the number 0"
	case m.TTL < 1:
		return "a ttl below 1"
	case m.MaxInflight < 0:
		return "a negative max_inflight"
	}
	return ""
}
