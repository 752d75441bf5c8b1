package actors

import (
	"sync"
	"testing"

	"github.com/mq9-broker/broker/mq9"
	"github.com/mq9-broker/broker/persistence"
)

// benchClient starts a broker on a store in memory and makes a private mailbox.
func benchClient(b *testing.B) (*Client, mq9.MailID) {
	b.Helper()
	store := persistence.NewMemory()
	broker, err := Start(store, Config{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		broker.Stop()
		if err := store.Close(); err != nil {
			b.Error(err)
		}
	})
	client := broker.NewClient("A")
	made := make(chan mq9.MailID, 1)
	client.Create(mq9.CreateRequest{}, func(r mq9.CreateReply, err *mq9.Error) {
		if err != nil {
			b.Error(err)
		}
		made <- r.MailID
	})
	return client, <-made
}

// counter is a Receipt and an Outlet with room for everything: it counts down to zero.
type counter struct {
	b    *testing.B
	left sync.WaitGroup
}

func (c *counter) Sent(_ mq9.MsgID, err *mq9.Error, _ bool) {
	if err != nil {
		c.b.Error(err)
	}
	c.left.Done()
}

func (c *counter) Room(mq9.Priority, int) Verdict { return Granted }
func (c *counter) Event([]byte) Verdict           { return Granted }
func (c *counter) Idle()                          {}

func (c *counter) Offer(messages []*mq9.Message) (int, Verdict) {
	c.left.Add(-len(messages))
	return len(messages), Granted
}

var (
	_ Receipt = (*counter)(nil)
	_ Outlet  = (*counter)(nil)
)

// sendAll sends b.N messages of 128 bytes.
func (c *counter) sendAll(client *Client, id mq9.MailID, p mq9.Priority) {
	payload := make([]byte, 128)
	for range c.b.N {
		client.Send(id, Draft{Priority: p, Payload: payload}, c)
	}
	client.Flush()
}

// BenchmarkResolve is finding the mailbox of an address that the client has not used before.
func BenchmarkResolve(b *testing.B) {
	client, id := benchClient(b)
	b.ReportAllocs()
	for b.Loop() {
		if client.resolve(id) == nil {
			b.Fatal("the mailbox is gone")
		}
	}
}

// BenchmarkAppend is storing messages, from the client's door to the receipt.
func BenchmarkAppend(b *testing.B) {
	for _, p := range []mq9.Priority{mq9.Normal, mq9.Critical} {
		b.Run(p.String(), func(b *testing.B) {
			client, id := benchClient(b)
			c := &counter{b: b}
			c.left.Add(b.N)
			b.ReportAllocs()
			b.ResetTimer()
			c.sendAll(client, id, p)
			c.left.Wait()
		})
	}
}

// BenchmarkDeliver is storing normal messages and pushing each to a subscription that always has room.
func BenchmarkDeliver(b *testing.B) {
	for _, queue := range []string{"", "workers"} {
		name := "subscription"
		if queue != "" {
			name = "queue-group"
		}
		b.Run(name, func(b *testing.B) {
			client, id := benchClient(b)
			stored, pushed := &counter{b: b}, &counter{b: b}
			attached := make(chan *mq9.Error, 1)
			client.Subscribe(id, mq9.AllPriorities, queue, pushed, func(err *mq9.Error) { attached <- err })
			if err := <-attached; err != nil {
				b.Fatal(err)
			}
			stored.left.Add(b.N)
			pushed.left.Add(b.N)
			b.ReportAllocs()
			b.ResetTimer()
			stored.sendAll(client, id, mq9.Normal)
			stored.left.Wait()
			pushed.left.Wait()
		})
	}
}

// BenchmarkReplay is pushing what is stored to a subscription that comes later.
func BenchmarkReplay(b *testing.B) {
	client, id := benchClient(b)
	stored, pushed := &counter{b: b}, &counter{b: b}
	stored.left.Add(b.N)
	pushed.left.Add(b.N)
	stored.sendAll(client, id, mq9.Normal)
	stored.left.Wait()
	b.ReportAllocs()
	b.ResetTimer()
	client.Subscribe(id, mq9.AllPriorities, "", pushed, func(err *mq9.Error) {
		if err != nil {
			b.Error(err)
		}
	})
	pushed.left.Wait()
}
