package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/mq9-broker/broker/benchmarks/load"
)

// onRedis is a side that appends to a Redis Stream, all commands in a pipeline, and waits for the last reply.
func onRedis(t task) side {
	return side{
		name: "Redis Streams", start: startRedis,
		work: func(ctx context.Context, l *lab, p *process) (sample, error) {
			return p.measure(ctx, func(ctx context.Context, job load.Job) (load.Result, error) { return addAll(ctx, p.addr, job) }, t.job(l, p))
		},
	}
}

// addAll writes XADD commands without waiting, and reads the replies beside that.
func addAll(ctx context.Context, addr string, job load.Job) (load.Result, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return load.Result{}, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := conn.SetDeadline(time.Now().Add(redisWait)); err != nil {
		return load.Result{}, err
	}
	const buffer = 64 << 10
	command := xadd("stream", make([]byte, job.Size))
	job.Began()
	begun := time.Now()
	read := make(chan error, 1)
	go func() { read <- readIDs(bufio.NewReaderSize(conn, buffer), job.Messages) }()
	out := bufio.NewWriterSize(conn, buffer)
	for range job.Messages {
		if _, err = out.Write(command); err != nil {
			break
		}
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		_ = conn.Close() // ends the reader
		err = errors.Join(err, <-read)
		return load.Result{}, err
	}
	if err := <-read; err != nil {
		return load.Result{}, err
	}
	elapsed := time.Since(begun)
	job.Ended()
	return load.Result{Messages: job.Messages, Size: job.Size, Elapsed: elapsed}, nil
}

// redisWait bounds the whole of it.
const redisWait = 5 * time.Minute

// xadd is the command that appends an entry with one field.
func xadd(stream string, value []byte) []byte {
	var b bytes.Buffer
	args := [][]byte{[]byte("XADD"), []byte(stream), []byte("*"), []byte("v"), value}
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	return b.Bytes()
}

// readIDs reads the replies to n commands: each is the id of an entry, as a bulk string.
func readIDs(in *bufio.Reader, n int) error {
	for range n {
		head, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if head[0] != '$' {
			return fmt.Errorf("redis says %q", head)
		}
		size, err := strconv.Atoi(string(bytes.TrimSpace(head[1:])))
		if err != nil {
			return fmt.Errorf("redis says %q", head)
		}
		if _, err := in.Discard(size + len("\r\n")); err != nil {
			return err
		}
	}
	return nil
}
