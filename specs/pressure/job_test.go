package pressure_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/mq9-broker/broker/specs/harness"
)

// doJob is what a process of its own does. It returns its exit code.
func doJob(job string) int {
	nc, err := nats.Connect("nats://"+os.Getenv(addrVariable), nats.MaxReconnects(0))
	if err == nil {
		switch subject := harness.Send + os.Getenv(boxVariable) + ".*"; job {
		case "read":
			err = read(nc, subject)
		case "work":
			err = work(nc, subject)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, job+":", err)
		return 1
	}
	return 0
}

// read says its own address, and then the name of everything it receives. It ends with its connection.
func read(nc *nats.Conn, subject string) error {
	out := bufio.NewWriter(os.Stdout)
	fmt.Fprintln(out, nc.LocalAddr())
	sub, err := nc.SubscribeSync(subject)
	if err != nil {
		return err
	}
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return err
	}
	if err := nc.Flush(); err != nil {
		return err
	}
	for {
		if n, _, err := sub.Pending(); err != nil || n == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
		m, err := sub.NextMsg(time.Hour)
		if err != nil {
			return err
		}
		name, _, _ := strings.Cut(string(m.Data), "|")
		fmt.Fprintln(out, name)
	}
}

// work is a worker of a queue group: it says what it takes in hand and deletes it, one by one. On SIGTERM it drains.
func work(nc *nats.Conn, subject string) error {
	terminate, failed := make(chan os.Signal, 1), make(chan error, 1)
	signal.Notify(terminate, syscall.SIGTERM)
	closed := make(chan struct{})
	sub, err := nc.QueueSubscribe(subject, "workers", func(m *nats.Msg) {
		name, _, _ := strings.Cut(string(m.Data), "|")
		fmt.Println("take", name)
		reply, err := nc.Request(m.Reply, nil, 30*time.Second)
		if err != nil {
			failed <- fmt.Errorf("deleting %s: %w", name, err)
			return
		}
		var d struct {
			Deleted bool `json:"deleted"`
		}
		if err := json.Unmarshal(reply.Data, &d); err != nil || !d.Deleted {
			fmt.Println("odd", name, string(reply.Data))
			return
		}
		fmt.Println("done", name)
	})
	if err != nil {
		return err
	}
	sub.SetClosedHandler(func(string) { close(closed) })
	if err := nc.Flush(); err != nil {
		return err
	}
	fmt.Println("ready")
	select {
	case err := <-failed:
		return err
	case <-terminate:
	}
	if err := sub.Drain(); err != nil {
		return err
	}
	<-closed // everything in hand is done
	fmt.Println("drained")
	nc.Close()
	return nil
}
