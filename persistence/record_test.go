package persistence

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

// The bytes on disk, so that a change of them cannot happen without a new format version.
func TestRecordBytes(t *testing.T) {
	g := gomega.NewWithT(t)
	m := &mq9.Mailbox{
		Number: 0x0102, Account: "ACC", ID: "a.b", Public: true, Desc: "d", TTL: 60, MaxInflight: 3, Created: 0x0A0B0C,
	}
	key, err := appendMailboxKey(nil, m.Account, m.ID)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(hex.EncodeToString(key)).To(gomega.Equal("0003" + "414343" + "612e62"))
	record, err := appendMailbox(nil, m)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(hex.EncodeToString(record)).To(gomega.Equal(
		"01" + "01" + "0000000000000102" + "000000000000003c" + "00000000000a0b0c" + "0000000000000003" + "64"))

	g.Expect(hex.EncodeToString(appendMessageKey(nil, 0x0102, mq9.Urgent, 0x0304))).To(gomega.Equal(
		"0000000000000102" + "01" + "0000000000000304"))
	record = appendMessage(nil, &mq9.Message{At: 0x0506, Header: []byte("K: v\r\n"), Payload: []byte{0xff}})
	g.Expect(hex.EncodeToString(record)).To(gomega.Equal(
		"01" + "0000000000000506" + "00000006" + "00000001" + "4b3a20760d0a" + "ff"))
	record = appendMessage(nil, &mq9.Message{At: 0x0506, Header: []byte("K: v\r\n"), Payload: make([]byte, apartFrom-6)})
	g.Expect(hex.EncodeToString(record[:messageHeadLength+6])).To(gomega.Equal(
		"02" + "0000000000000506" + "00000006" + "000003fa" + "4b3a20760d0a"))
}

func TestRecordsThatAreNone(t *testing.T) {
	g := gomega.NewWithT(t)
	key, err := appendMailboxKey(nil, "A", "id")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	record, err := appendMailbox(nil, mailbox(1))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	changed := func(at int, to ...byte) []byte {
		b := bytes.Clone(record)
		copy(b[at:], to)
		return b
	}
	for what, c := range map[string]struct{ key, record []byte }{
		"no key":                 {nil, record},
		"half a length":          {[]byte{0}, record},
		"an account cut off":     {[]byte{0, 3, 'a'}, record},
		"no mail_id":             {[]byte{0, 1, 'a'}, record},
		"no record":              {key, nil},
		"a record cut off":       {key, record[:mailboxMinLength-1]},
		"another version":        {key, changed(0, 2)},
		"an unknown flag":        {key, changed(1, 3)},
		"the number 0":           {key, changed(2, 0, 0, 0, 0, 0, 0, 0, 0)},
		"no ttl":                 {key, changed(10, 0, 0, 0, 0, 0, 0, 0, 0)},
		"a negative ttl":         {key, changed(10, 0xff)},
		"a negative max_infl.":   {key, changed(26, 0xff)},
		"a max_inflight of 2^63": {key, changed(26, 0x80)},
	} {
		_, err := decodeMailbox(c.key, c.record)
		g.Expect(err).To(gomega.MatchError(ErrCorrupt), what)
	}

	key = appendMessageKey(nil, 1, mq9.Critical, 1)
	record = appendMessage(nil, message(1, mq9.Critical))
	for what, c := range map[string]struct{ key, record []byte }{
		"no key":               {nil, record},
		"a key cut off":        {key[:16], record},
		"a longer key":         {append(bytes.Clone(key), 0), record},
		"a normal message":     {appendMessageKey(nil, 1, mq9.Normal, 1), record},
		"no record":            {key, nil},
		"a record cut off":     {key, record[:len(record)-1]},
		"a head cut off":       {key, record[:messageHeadLength-1]},
		"a longer record":      {key, append(bytes.Clone(record), 0)},
		"another version":      {key, changed(0, 0)},
		"a body that is apart": {key, changed(0, messageApart)},
		"a huge header length": {key, changed(9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)},
	} {
		_, err := decodeEntry(c.key, c.record, len(c.record))
		g.Expect(err).To(gomega.MatchError(ErrCorrupt), what)
	}
	_, err = parseNumber(key)
	g.Expect(err).To(gomega.MatchError(ErrCorrupt))
}

func TestDecodedMessageSharesNothing(t *testing.T) {
	g := gomega.NewWithT(t)
	key := appendMessageKey(nil, 1, mq9.Critical, 1)
	record := appendMessage(nil, message(1, mq9.Critical))
	e, err := decodeEntry(key, record, len(record))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	m, err := decodeMessage(e, record[messageHeadLength:])
	g.Expect(err).NotTo(gomega.HaveOccurred())
	clear(record)
	g.Expect(m).To(gomega.Equal(message(1, mq9.Critical)))
	_ = append(m.Header, "more"...)
	g.Expect(m).To(gomega.Equal(message(1, mq9.Critical)), "appending to the header leaves the payload alone")
}

// FuzzDecodeMessage: any bytes are refused as corrupt or are exactly what the encoder writes for what was read.
func FuzzDecodeMessage(f *testing.F) {
	for _, m := range []*mq9.Message{
		{ID: 1, Priority: mq9.Critical, At: 1},
		message(2, mq9.Urgent),
		{ID: math.MaxUint64, Priority: mq9.Urgent, At: -1, Header: []byte("A: b\r\nA: c\r\n")},
	} {
		record := appendMessage(nil, m)
		f.Add(appendMessageKey(nil, 7, m.Priority, m.ID), record)
		f.Add(appendMessageKey(nil, 7, m.Priority, m.ID), record[:len(record)-1])
	}
	f.Add([]byte(nil), []byte(nil))
	f.Add(appendMessageKey(nil, 7, mq9.Urgent, 1), append([]byte{messageApart}, make([]byte, messageHeadLength-1)...))
	f.Fuzz(func(t *testing.T, key, record []byte) {
		e, err := decodeEntry(key, record, len(record))
		if err != nil {
			mustBeCorrupt(t, err)
			return
		}
		if e.Size >= apartFrom || record[0] == messageApart {
			return // the body is, or would be, elsewhere
		}
		m, err := decodeMessage(e, record[messageHeadLength:])
		if err != nil || m.Entry() != e {
			t.Errorf("the message is %+v and its entry %+v", m.Entry(), e)
		}
		again := appendMessage(nil, m)
		if !bytes.Equal(again, record) {
			t.Errorf("%x was read and would be written as %x", record, again)
		}
		number, err := parseNumber(key[:numberLength])
		if err != nil || !bytes.Equal(appendMessageKey(nil, number, m.Priority, m.ID), key) {
			t.Errorf("the key %x would be written otherwise, %v", key, err)
		}
	})
}

// FuzzDecodeMailbox: as FuzzDecodeMessage.
func FuzzDecodeMailbox(f *testing.F) {
	for _, m := range []*mq9.Mailbox{
		mailbox(1),
		{Number: math.MaxUint64, ID: "任务.队列", TTL: mq9.MaxTTL, MaxInflight: mq9.MaxMaxInflight, Created: -1},
	} {
		key, err := appendMailboxKey(nil, m.Account, m.ID)
		if err != nil {
			f.Fatal(err)
		}
		record, err := appendMailbox(nil, m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(key, record)
		f.Add(key[:3], record[:20])
	}
	f.Add([]byte(nil), []byte(nil))
	f.Fuzz(func(t *testing.T, key, record []byte) {
		m, err := decodeMailbox(key, record)
		if err != nil {
			mustBeCorrupt(t, err)
			return
		}
		if m.TTL < 1 || m.MaxInflight < 0 || m.Number == 0 || m.ID == "" {
			t.Errorf("accepted %+v", m)
		}
		keyAgain, keyErr := appendMailboxKey(nil, m.Account, m.ID)
		again, err := appendMailbox(nil, &m)
		if err := errors.Join(keyErr, err); err != nil || !bytes.Equal(again, record) || !bytes.Equal(keyAgain, key) {
			t.Errorf("%x %x was read and would be written as %x %x, %v", key, record, keyAgain, again, err)
		}
	})
}

func mustBeCorrupt(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, ErrCorrupt) {
		t.Errorf("not marked as corrupt: %v", err)
	}
}
