package persistence

import (
	"encoding/binary"
	"math"

	"github.com/mq9-broker/broker/mq9"
)

// The keys, by column family. All numbers are big endian, so that RocksDB's byte order is the order of numbers.
//
//	default
//	  "format"                                            → version of everything below, 4 bytes
//	  "ids"                                               → highest id out of use, 8 bytes
//
//	mailboxes
//	  +----------------------+-----------+-----------+
//	  | length of account (2)|  account  |  mail_id  |    → record_mailbox.go
//	  +----------------------+-----------+-----------+
//	  The length keeps accounts apart: without it, account "a" with "bc" would be account "ab" with "c".
//
//	messages
//	  +--------------------+--------------+------------+
//	  | mailbox number (8) | priority (1) | msg id (8) |  → record_message.go
//	  +--------------------+--------------+------------+
//	  One forward iteration over a number yields critical before urgent and each in order of acceptance.
//	  +--------------------+--------------+
//	  | mailbox number (8) | priority (1) |               → msg id (8): none of the tier is stored below it
//	  +--------------------+--------------+
//	  The tier's mark; it is shorter than its messages' keys, so it stands before them. Not every tier has one.
//
//	bodies
//	  the key of a message whose record says so           → its header and payload, nothing else
//
//	graveyard
//	  | mailbox number (8) |                              → nothing; its messages are still to be deleted

// formatVersion is raised when a store written by this code could be misread by the code before it.
const formatVersion = 1

var (
	keyFormat = []byte("format")
	keyIDs    = []byte("ids")
)

const (
	numberLength     = 8
	tierLength       = numberLength + 1
	messageKeyLength = tierLength + 8
)

// appendMailboxKey appends the key of a mailbox's metadata.
func appendMailboxKey(b []byte, account string, id mq9.MailID) ([]byte, error) {
	if len(account) > math.MaxUint16 {
		return b, invalid("an account's name of %d bytes", len(account))
	}
	if id == "" {
		return b, invalid("a mailbox without mail_id")
	}
	b = binary.BigEndian.AppendUint16(b, uint16(len(account)))
	return append(append(b, account...), id...), nil
}

// parseMailboxKey reads what appendMailboxKey wrote.
func parseMailboxKey(key []byte) (account string, id mq9.MailID, err error) {
	if len(key) < 2 {
		return "", "", corrupt("a mailbox key of %d bytes", len(key))
	}
	n := int(binary.BigEndian.Uint16(key))
	if key = key[2:]; len(key) <= n {
		return "", "", corrupt("a mailbox key without mail_id")
	}
	return string(key[:n]), mq9.MailID(key[n:]), nil
}

// appendNumber appends a mailbox's number: the graveyard's key, and the start of all its message keys.
func appendNumber(b []byte, number uint64) []byte { return binary.BigEndian.AppendUint64(b, number) }

// parseNumber reads what appendNumber wrote.
func parseNumber(key []byte) (uint64, error) {
	if len(key) != numberLength {
		return 0, corrupt("a graveyard key of %d bytes", len(key))
	}
	return binary.BigEndian.Uint64(key), nil
}

// appendTier appends the key of a tier's mark: the start of all its message keys.
func appendTier(b []byte, number uint64, p mq9.Priority) []byte {
	return append(appendNumber(b, number), byte(p))
}

// appendMessageKey appends the key of a message.
func appendMessageKey(b []byte, number uint64, p mq9.Priority, id mq9.MsgID) []byte {
	return binary.BigEndian.AppendUint64(appendTier(b, number, p), uint64(id))
}

// parseMessageKey reads the part of a message's key that the message itself is made of.
func parseMessageKey(key []byte) (p mq9.Priority, id mq9.MsgID, err error) {
	if len(key) != messageKeyLength || !mq9.Priority(key[numberLength]).Durable() {
		return 0, 0, corrupt("a message key that is none")
	}
	return mq9.Priority(key[numberLength]), mq9.MsgID(binary.BigEndian.Uint64(key[tierLength:])), nil
}

// mailboxEnd is the first key behind all messages of a mailbox: no priority is that high.
func mailboxEnd(number uint64) []byte { return append(appendNumber(nil, number), math.MaxUint8) }

// tierEnd is the first key behind the messages of one priority of a mailbox.
func tierEnd(number uint64, p mq9.Priority) []byte {
	return appendTier(nil, number, p+1)
}
