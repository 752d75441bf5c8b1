package mq9

import "time"

// Message is one stored message. It is immutable once accepted: the tier, every delivery and every reader share it.
type Message struct {
	ID       MsgID
	Priority Priority
	At       int64  // acceptance, Unix nanoseconds, never decreasing within a mailbox
	Header   []byte // the publisher's header lines, "Key: value\r\n" each, without the version line, the closing empty line and any Mq9-* key
	Payload  []byte
}

// Size is what the message counts against limits and windows, in bytes: header lines and payload.
func (m *Message) Size() int { return len(m.Header) + len(m.Payload) }

// Entry returns the message without its bytes.
func (m *Message) Entry() Entry {
	return Entry{ID: m.ID, Priority: m.Priority, At: m.At, Size: m.Size(), PayloadSize: len(m.Payload)}
}

// Entry is what an index and LIST know of a stored message: everything but its bytes.
type Entry struct {
	ID          MsgID
	Priority    Priority
	At          int64 // acceptance, Unix nanoseconds
	Size        int   // header lines and payload, bytes
	PayloadSize int   // payload alone, bytes
}

// Mailbox is what is fixed at a mailbox's creation (protocol sections 1 and 3).
type Mailbox struct {
	Number      uint64 // names the mailbox in the store; never used twice by one data directory
	Account     string // the NATS account whose clients can reach it
	ID          MailID
	Public      bool
	Desc        string
	TTL         int64 // seconds, at least 1
	MaxInflight int   // undeleted messages a queue-group member may hold; 0 = unbounded
	Created     int64 // Unix nanoseconds
}

// CreatedAt is the wall-clock time of creation, UTC.
func (m *Mailbox) CreatedAt() time.Time { return time.Unix(0, m.Created).UTC() }

// ExpiresAt is the wall-clock time of the end of its life, UTC.
func (m *Mailbox) ExpiresAt() time.Time {
	return m.CreatedAt().Add(time.Duration(m.TTL) * time.Second)
}

// Change is one durable change. Every change to the store is one of these four and goes through its one committer;
// applying one twice leaves what applying it once leaves.
type Change interface{ isChange() }

type (
	// CreateMailbox puts the metadata of a new mailbox.
	CreateMailbox struct{ Mailbox *Mailbox }

	// ExpireMailbox removes a mailbox's metadata and, in time, everything stored under its number.
	ExpireMailbox struct{ Mailbox *Mailbox }

	// AppendMessages stores durable messages, all of them or none.
	AppendMessages struct {
		Number   uint64 // the mailbox
		Messages []*Message
	}

	// DeleteMessage removes a durable message.
	DeleteMessage struct {
		Number   uint64 // the mailbox
		Priority Priority
		ID       MsgID
		First    MsgID // nothing of this mailbox and priority is stored below it: reading may begin there; 0 = unknown
	}
)

func (CreateMailbox) isChange()  {}
func (ExpireMailbox) isChange()  {}
func (AppendMessages) isChange() {}
func (DeleteMessage) isChange()  {}
