package persistence

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/mq9-broker/broker/mq9"
)

// The record of a message; priority and id are in its key. The lengths come first, so that an index entry is read
// without looking at the bytes behind them.
//
//	+-------------+---------------+-------------------+--------------------+---------+-----------+
//	| version (1) | accepted (8)  | header length (4) | payload length (4) | header  |  payload  |
//	+-------------+---------------+-------------------+--------------------+---------+-----------+
const (
	messageVersion    = 1
	messageHeadLength = 1 + 8 + 4 + 4
)

// appendMessage appends the record of m.
func appendMessage(b []byte, m *mq9.Message) ([]byte, error) {
	if len(m.Header) > math.MaxUint32 || len(m.Payload) > math.MaxUint32 {
		return b, invalid("a message of %d bytes", m.Size())
	}
	b = append(b, messageVersion)
	b = binary.BigEndian.AppendUint64(b, uint64(m.At))
	b = binary.BigEndian.AppendUint32(b, uint32(len(m.Header)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(m.Payload)))
	return append(append(b, m.Header...), m.Payload...), nil
}

// decodeEntry reads a key and the head of a record. It fails with ErrCorrupt, and never panics, on bytes that
// appendMessageKey and appendMessage did not write.
func decodeEntry(key, record []byte) (mq9.Entry, error) {
	p, id, err := parseMessageKey(key)
	if err != nil {
		return mq9.Entry{}, err
	}
	if len(record) < messageHeadLength {
		return mq9.Entry{}, corrupt("a message of %d bytes", len(record))
	}
	if record[0] != messageVersion {
		return mq9.Entry{}, corrupt("a message of version %d", record[0])
	}
	header, payload := uint64(binary.BigEndian.Uint32(record[9:])), uint64(binary.BigEndian.Uint32(record[13:]))
	if header+payload != uint64(len(record)-messageHeadLength) {
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

// decodeMessage makes the message of an entry and the record it was read from. It copies: the result shares no memory with the record.
func decodeMessage(e mq9.Entry, record []byte) *mq9.Message {
	m := &mq9.Message{ID: e.ID, Priority: e.Priority, At: e.At}
	body := bytes.Clone(record[messageHeadLength:])
	if n := e.Size - e.PayloadSize; n > 0 {
		m.Header = body[:n:n]
	}
	if e.PayloadSize > 0 {
		m.Payload = body[e.Size-e.PayloadSize:]
	}
	return m
}
