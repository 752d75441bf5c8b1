package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/mq9-broker/broker/benchmarks/load"
)

// limits measures what no broker on this machine can exceed.
func limits(ctx context.Context, l *lab) ([]fact, error) {
	synced, err := appendSynced(ctx, l.dataDir, l.count(2000, 200), 256)
	if err != nil {
		return nil, err
	}
	loopback, err := loopbackBandwidth(l.count(2<<30, 256<<20))
	if err != nil {
		return nil, err
	}
	all := []fact{
		{"256 B and fdatasync", fmt.Sprintf("p50 %s, p99 %s", nanoseconds(median.of(synced)), nanoseconds(p99.of(synced)))},
		{"TCP over loopback", gigabytes(loopback)},
		{"copying memory", gigabytes(memoryBandwidth(l.count(16, 4)))},
	}
	for _, frame := range []struct{ name, text string }{
		{"nats.go receives 128 B", natsFrame("", nil)},
		{"nats.go receives 128 B with a reply subject", natsFrame(heavyReply, nil)},
		{"nats.go receives 128 B with a reply subject and two headers", natsFrame(heavyReply, heavyHeader)},
	} {
		rate, err := clientAlone(ctx, frame.text, l.count(500_000, 50_000))
		if err != nil {
			return nil, err
		}
		all = append(all, fact{frame.name, perSecond(rate)})
	}
	return all, nil
}

func gigabytes(perSecond float64) string { return fmt.Sprintf("%.1f GB/s", perSecond/1e9) }

// memoryBandwidth copies a block that no cache holds, so many times, and returns bytes a second.
func memoryBandwidth(times int) float64 {
	const block = 128 << 20
	from, to := bytes.Repeat([]byte{1}, block), make([]byte, block)
	copy(to, from) // its pages exist from here on
	begun := time.Now()
	for range times {
		copy(to, from)
	}
	return float64(times*block) / time.Since(begun).Seconds()
}

// loopbackBandwidth sends so many bytes through a TCP connection and returns bytes a second.
func loopbackBandwidth(total int) (float64, error) {
	var received int64
	begun := time.Now()
	err := overLoopback(func(conn net.Conn) error {
		block := make([]byte, 256<<10)
		for sent := 0; sent < total; sent += len(block) {
			if _, err := conn.Write(block); err != nil {
				return err
			}
		}
		return nil
	}, func(addr string) error {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return err
		}
		defer conn.Close()
		received, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{conn}, make([]byte, 256<<10))
		return err
	})
	return float64(received) / time.Since(begun).Seconds(), err
}

// overLoopback gives serve the one connection that use makes to a listener. The connection is closed when serve returns.
func overLoopback(serve func(net.Conn) error, use func(addr string) error) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			err = errors.Join(serve(conn), conn.Close())
		}
		served <- err
	}()
	err = use(listener.Addr().String())
	return errors.Join(err, listener.Close(), <-served)
}

// natsFrame is a message as a server sends it.
func natsFrame(reply string, header nats.Header) string {
	const size = 128
	payload := strings.Repeat("x", size)
	if reply != "" {
		reply += " "
	}
	if header == nil {
		return fmt.Sprintf("MSG %s 1 %s%d\r\n%s\r\n", plainSubject, reply, size, payload)
	}
	var block strings.Builder
	block.WriteString("NATS/1.0\r\n")
	for name, values := range header {
		fmt.Fprintf(&block, "%s: %s\r\n", name, values[0])
	}
	block.WriteString("\r\n")
	return fmt.Sprintf("HMSG %s 1 %s%d %d\r\n%s%s\r\n", plainSubject, reply, block.Len(), block.Len()+size, block.String(), payload)
}

// clientAlone is how many messages a second the client library takes from a server that does nothing but write the same frame again and
// again.
func clientAlone(ctx context.Context, frame string, n int) (rate float64, err error) {
	err = overLoopback(func(conn net.Conn) error { return pretend(conn, frame, n) }, func(addr string) error {
		r, err := load.Replay(ctx, load.Job{
			Dial:     func() (*nats.Conn, error) { return nats.Connect("nats://"+addr, nats.NoReconnect()) },
			Pattern:  plainSubject,
			Messages: n, InFlight: 1,
		})
		rate = r.PerSecond()
		return err
	})
	return rate, err
}

// pretend is a server of one client and one subscription.
func pretend(conn net.Conn, frame string, n int) error {
	if _, err := io.WriteString(conn, `INFO {"server_id":"limits","version":"2.11.0","proto":1,"headers":true,"max_payload":1048576}`+"\r\n"); err != nil {
		return err
	}
	in := bufio.NewReader(conn)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		switch {
		case strings.HasPrefix(line, "PING"):
			if _, err := io.WriteString(conn, "PONG\r\n"); err != nil {
				return err
			}
		case strings.HasPrefix(line, "SUB"):
			const batch = 500
			frames := strings.Repeat(frame, batch)
			for sent := 0; sent < n; sent += batch {
				if _, err := io.WriteString(conn, frames); err != nil {
					return err
				}
			}
			_, err := io.Copy(io.Discard, in) // until the client has taken all and leaves
			return err
		}
	}
}
