package persistence

import (
	"bytes"
	"encoding/binary"

	"github.com/mq9-broker/broker/mq9"
)

// The record of a message; priority and id are in its key. The lengths come first, so that an index entry is read
// without looking at the bytes behind them.
//
//	+-------------+---------------+-------------------+--------------------+---------+-----------+
//	| version (1) | accepted (8)  | header length (4) | payload length (4) | header  |  payload  |
//	+-------------+---------------+-------------------+--------------------+---------+-----------+
//	 ------------------------------ head ------------------------------------ ------ body -------
//
// Version 1 is this. In version 2 the body is not here but in the family bodies: an index is read without it.
const (
	messageWhole      = 1
	messageApart      = 2
	messageHeadLength = 1 + 8 + 4 + 4

	// apartFrom is how many bytes of header and payload are kept apart. Below it, what a second key costs every writer is more than
	// what an index reads too much.
	apartFrom = 1 << 10
)

// appendMessage appends the head and the body of m, which checkMessages has let pass.
func appendMessage(b []byte, m *mq9.Message) []byte {
	version := byte(messageWhole)
	if m.Size() >= apartFrom {
		version = messageApart
	}
	b = append(b, version)
	b = binary.BigEndian.AppendUint64(b, uint64(m.At))
	b = binary.BigEndian.AppendUint32(b, uint32(len(m.Header)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(m.Payload)))
	return append(append(b, m.Header...), m.Payload...)
}

// decodeEntry reads a key and the head of a record that has length bytes. It fails with ErrCorrupt, and never panics, on bytes that
// appendMessageKey and appendMessage did not write.
func decodeEntry(key, record []byte, length int) (mq9.Entry, error) {
	p, id, err := parseMessageKey(key)
	if err != nil {
		return mq9.Entry{}, err
	}
	if len(record) < messageHeadLength {
		return mq9.Entry{}, corrupt("a message of %d bytes", len(record))
	}
	header, payload := uint64(binary.BigEndian.Uint32(record[9:])), uint64(binary.BigEndian.Uint32(record[13:]))
	body := uint64(0)
	switch record[0] {
	case messageWhole:
		body = header + payload
	case messageApart:
	default:
		return mq9.Entry{}, corrupt("a message of version %d", record[0])
	}
	if body != uint64(length-messageHeadLength) {
		return mq9.Entry{}, corrupt("a message whose lengths do not add up")
	}
	return mq9.Entry{
		ID:          id,
		Priority:    p,
		At:          int64(binary.BigEndian.Uint64(record[1:])),
		Size:        int(header + payload),
		PayloadSize: int(payload),
	}, nil
}

// decodeMessage makes the message of an entry and its body. It copies: the result shares no memory with the body. It fails
// with ErrCorrupt when they do not belong together.
func decodeMessage(e mq9.Entry, body []byte) (*mq9.Message, error) {
	if len(body) != e.Size {
		return nil, corrupt("a message with another's body")
	}
	m := &mq9.Message{ID: e.ID, Priority: e.Priority, At: e.At}
	body = bytes.Clone(body)
	if n := e.Size - e.PayloadSize; n > 0 {
		m.Header = body[:n:n]
	}
	if e.PayloadSize > 0 {
		m.Payload = body[e.Size-e.PayloadSize:]
	}
	return m, nil
}
