package main

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	create = "$mq9.AI.MAILBOX.CREATE"
	send   = "$mq9.AI.MAILBOX.MSG."
)

// batch is how many operations go out between two flushes.
const batch = 2000

// createAll makes the public mailboxes s.0 to s.(n-1).
func createAll(w *wire, n int) error {
	for i := range n {
		w.publish(create, fmt.Sprintf(`{"public":true,"name":"s.%d","ttl":36000}`, i))
		if i%batch == batch-1 || i == n-1 {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// mailboxes: private ones, idle, without messages.
func mailboxes(b *broker, n int) error {
	w, err := dial(b.addr)
	if err != nil {
		return err
	}
	defer w.Close()
	before, err := b.memory()
	if err != nil {
		return err
	}
	began := time.Now()
	for i := range n {
		w.publish(create, `{"ttl":36000}`)
		if i%batch == batch-1 || i == n-1 {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	fmt.Printf("%-14s %9d  created in %v\n", "mailboxes", n, time.Since(began).Round(time.Millisecond))
	if err := b.grown("mailboxes", before, n); err != nil {
		return err
	}
	if err := b.kill(); err != nil {
		return err
	}
	began = time.Now()
	if err := b.start(); err != nil {
		return err
	}
	fmt.Printf("%-14s %9d  served again %v after SIGKILL\n", "mailboxes", n, time.Since(began).Round(time.Millisecond))
	return nil
}

// subscriptions: one on each of n mailboxes, over 200 connections, idle.
func subscriptions(b *broker, n int) error {
	const conns = 200
	maker, err := dial(b.addr)
	if err != nil {
		return err
	}
	defer maker.Close()
	if err := createAll(maker, n); err != nil {
		return err
	}
	wires, err := dialAll(b.addr, conns)
	defer closeAll(wires)
	if err != nil {
		return err
	}
	before, err := b.memory()
	if err != nil {
		return err
	}
	began := time.Now()
	for c, w := range wires {
		for i := c; i < n; i += conns {
			w.say("SUB %ss.%d.* %d\r\n", send, i, i)
		}
		if err := w.flush(); err != nil {
			return err
		}
	}
	fmt.Printf("%-14s %9d  subscribed in %v\n", "subscriptions", n, time.Since(began).Round(time.Millisecond))
	return b.grown("subscriptions", before, n)
}

// connections: idle after their handshake.
func connections(b *broker, n int) error {
	before, err := b.memory()
	if err != nil {
		return err
	}
	began := time.Now()
	wires, err := dialAll(b.addr, n)
	defer closeAll(wires)
	if err != nil {
		return err
	}
	fmt.Printf("%-14s %9d  connected in %v\n", "connections", n, time.Since(began).Round(time.Millisecond))
	return b.grown("connections", before, n)
}

// fanout: n subscriptions of one mailbox, and one message to all.
func fanout(b *broker, n int) error {
	const conns = 20
	wires, err := dialAll(b.addr, conns)
	defer closeAll(wires)
	if err != nil {
		return err
	}
	if err := createAll(wires[0], 1); err != nil {
		return err
	}
	for i := range n {
		wires[i%conns].say("SUB %ss.0 %d\r\n", send, i)
	}
	for _, w := range wires {
		if err := w.flush(); err != nil {
			return err
		}
	}
	const rounds = 10
	began := time.Now()
	for range rounds {
		wires[0].publish(send+"s.0", "x")
	}
	if err := wires[0].out.Flush(); err != nil {
		return err
	}
	results := make(chan error, conns)
	for c, w := range wires {
		left := rounds * ((n - c + conns - 1) / conns)
		go func() {
			results <- w.until(func(line []byte) bool {
				if bytes.HasPrefix(line, []byte("HMSG")) {
					left--
				}
				return left == 0
			})
		}()
	}
	for range wires {
		err = errors.Join(err, <-results)
	}
	took := time.Since(began)
	fmt.Printf("%-14s %9d  %v a message, %.0f deliveries/s\n", "fanout", n, (took / rounds).Round(time.Microsecond), float64(n*rounds)/took.Seconds())
	return err
}

// storm: n clients of the real library, each subscribed to a mailbox with 100 messages; the broker is killed and started
// again, and all are served again.
func storm(b *broker, n int) error {
	const each = 100
	maker, err := dial(b.addr)
	if err != nil {
		return err
	}
	if err := createAll(maker, n); err != nil {
		return err
	}
	for i := range n * each {
		maker.publish(fmt.Sprintf("%ss.%d.urgent", send, i%n), "x")
		if i%batch == batch-1 || i == n*each-1 {
			if err := maker.flush(); err != nil {
				return err
			}
		}
	}
	var served sync.WaitGroup
	served.Add(n)
	clients := make([]*nats.Conn, 0, n)
	defer func() {
		for _, c := range clients {
			c.Close()
		}
	}()
	for i := range n {
		c, err := nats.Connect(b.addr, nats.MaxReconnects(-1), nats.ReconnectWait(500*time.Millisecond), nats.Timeout(20*time.Second), nats.ReconnectBufSize(-1))
		if err != nil {
			return err
		}
		clients = append(clients, c)
		got := 0
		if _, err := c.Subscribe(fmt.Sprintf("%ss.%d.*", send, i), func(*nats.Msg) {
			if got++; got%each == 0 {
				served.Done()
			}
		}); err != nil {
			return err
		}
	}
	served.Wait()
	if err := errors.Join(maker.Close(), b.kill()); err != nil {
		return err
	}
	served.Add(n)
	began := time.Now()
	if err := b.start(); err != nil {
		return err
	}
	served.Wait()
	fmt.Printf("%-14s %9d  clients served again %v after the restart began\n", "storm", n, time.Since(began).Round(time.Millisecond))
	return nil
}

func dialAll(addr string, n int) ([]*wire, error) {
	wires := make([]*wire, 0, n)
	for range n {
		w, err := dial(addr)
		if err != nil {
			return wires, err
		}
		wires = append(wires, w)
	}
	return wires, nil
}

func closeAll(wires []*wire) {
	for _, w := range wires {
		_ = w.Close() // the experiment is over
	}
}
