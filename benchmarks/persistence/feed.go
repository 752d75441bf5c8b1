package main

import (
	"crypto/rand"
	"errors"
	"sync"

	"github.com/mq9-broker/broker/mq9"
	"github.com/mq9-broker/broker/persistence"
)

// window is how many changes are under way at a time: as many as some busy connections have.
const window = 4096

// feed hands changes to a store and waits for them, a window at a time.
type feed struct {
	store *persistence.Store
	room  chan struct{}

	mu  sync.Mutex
	err error
}

func newFeed(s *persistence.Store) *feed { return &feed{store: s, room: make(chan struct{}, window)} }

// commit hands a change over when there is room.
func (f *feed) commit(c mq9.Change) {
	f.room <- struct{}{}
	f.store.Commit(c, func(err error) {
		if err != nil {
			f.mu.Lock()
			f.err = errors.Join(f.err, err)
			f.mu.Unlock()
		}
		<-f.room
	})
}

// wait returns when all is stored.
func (f *feed) wait() error {
	for range window {
		f.room <- struct{}{}
	}
	for range window {
		<-f.room
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// box makes a mailbox.
func box(number int) *mq9.Mailbox {
	return &mq9.Mailbox{Number: uint64(number), Account: "$G", ID: mq9.NewMailID(), TTL: mq9.MaxTTL, Created: 1_700_000_000_000_000_000}
}

// bodies makes payloads that compress to about half, as JSON and text do, each unlike the others.
type bodies struct {
	noise []byte
	at    int
}

func newBodies() *bodies {
	b := &bodies{noise: make([]byte, 16<<20)}
	_, _ = rand.Read(b.noise) // it never fails
	return b
}

func (b *bodies) next(size int) []byte {
	body := make([]byte, size)
	half := size / 2
	if b.at+half > len(b.noise) {
		b.at = (b.at + 7) % 4096
	}
	copy(body, b.noise[b.at:b.at+half])
	b.at += half
	return body
}

// msgID is the id of the message with that number.
func msgID(number int) mq9.MsgID { return mq9.NewMsgID(uint64(number), mq9.Urgent) }

// message makes a durable message.
func message(id int, body []byte) *mq9.Message {
	return &mq9.Message{ID: msgID(id), Priority: mq9.Urgent, At: int64(id), Header: []byte("Kind: task\r\n"), Payload: body}
}
