package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	create  = "$mq9.AI.MAILBOX.CREATE"
	mailbox = "$mq9.AI.MAILBOX.MSG."
)

// crowd is agents that use a broker until they disperse.
type crowd struct {
	addr   string
	secret string // the address of a private mailbox
	stop   context.CancelFunc
	work   sync.WaitGroup // the goroutines

	conns []interface{ Close() } // owned by gather, then by disperse
	raw   net.Conn               // the reader that does not read

	mu   sync.Mutex
	errs []error // guarded by mu: what went wrong in a goroutine
}

// publics are the mailboxes that everyone may find.
var publics = []struct {
	name, desc  string
	ttl         int
	maxInflight int
}{
	{"task.queue", "work for anyone", 86400, 24},
	{"alerts.site", "what wakes somebody up", 604800, 0},
	{"agents.planner", "requests to the planner", 43200, 0},
	{"crawl.pages", "pages to fetch, one worker each", 21600, 8},
	{"metrics.stream", "readings, for whoever looks", 7200, 0},
	{"reports.daily", "what was done, by day", 604800, 0},
	{"translate.texts", "texts to translate", 86400, 0},
}

// gather has everyone come.
func gather(ctx context.Context, addr string) (*crowd, error) {
	ctx, stop := context.WithCancel(ctx)
	c := &crowd{addr: addr, stop: stop}
	if err := c.begin(ctx); err != nil {
		return nil, errors.Join(err, c.disperse())
	}
	return c, nil
}

// disperse ends the crowd and tells what went wrong.
func (c *crowd) disperse() error {
	c.stop()
	c.work.Wait()
	for _, nc := range c.conns {
		nc.Close()
	}
	if c.raw != nil {
		c.errs = append(c.errs, c.raw.Close())
	}
	return errors.Join(c.errs...)
}

func (c *crowd) begin(ctx context.Context) error {
	boss, err := c.connect("orchestrator")
	if err != nil {
		return err
	}
	for _, p := range publics {
		ask := fmt.Sprintf(`{"public":true,"name":%q,"desc":%q,"ttl":%d,"max_inflight":%d}`, p.name, p.desc, p.ttl, p.maxInflight)
		if _, err := boss.Request(create, []byte(ask), 5*time.Second); err != nil {
			return err
		}
	}
	for i := range 9 {
		if c.secret, err = private(boss, 600+i*1700); err != nil {
			return err
		}
		for n := range i % 4 {
			level := []string{"", ".urgent", ".critical"}[(i+n)%3]
			if err := boss.Publish(mailbox+c.secret+level, []byte("an answer")); err != nil {
				return err
			}
		}
	}
	if err := c.workers(ctx); err != nil {
		return err
	}
	if err := c.idle(); err != nil {
		return err
	}
	return c.senders(ctx)
}

// connect opens a connection with a name.
func (c *crowd) connect(name string) (*nats.Conn, error) {
	nc, err := nats.Connect("nats://"+c.addr, nats.Name(name))
	if err == nil {
		c.conns = append(c.conns, nc)
	}
	return nc, err
}

// private makes a private mailbox.
func private(nc *nats.Conn, ttl int) (string, error) {
	reply, err := nc.Request(create, fmt.Appendf(nil, `{"ttl":%d}`, ttl), 5*time.Second)
	if err != nil {
		return "", err
	}
	var made struct {
		MailID string `json:"mail_id"`
	}
	return made.MailID, json.Unmarshal(reply.Data, &made)
}

// workers share mailboxes, each at its own pace.
func (c *crowd) workers(ctx context.Context) error {
	for i, pace := range []time.Duration{14, 18, 24, 60} {
		if err := c.worker(ctx, fmt.Sprintf("worker-%d", i+1), "task.queue", "workers", pace*time.Millisecond); err != nil {
			return err
		}
	}
	for i, pace := range []time.Duration{170, 210, 420} {
		if err := c.worker(ctx, fmt.Sprintf("crawler-%c", 'a'+i), "crawl.pages", "crawlers", pace*time.Millisecond); err != nil {
			return err
		}
	}
	for name, box := range map[string]string{"planner": "agents.planner", "pager": "alerts.site", "dashboard": "metrics.stream"} {
		nc, err := c.connect(name)
		if err != nil {
			return err
		}
		if _, err := nc.Subscribe(mailbox+box+".*", func(*nats.Msg) {}); err != nil {
			return err
		}
	}
	return nil
}

// worker does one message after the other, and deletes each when it is done.
func (c *crowd) worker(ctx context.Context, name, box, group string, pace time.Duration) error {
	nc, err := c.connect(name)
	if err != nil {
		return err
	}
	tasks := make(chan *nats.Msg, 1024)
	if _, err := nc.ChanQueueSubscribe(mailbox+box+".*", group, tasks); err != nil {
		return err
	}
	c.work.Go(func() {
		busy := time.NewTicker(pace)
		defer busy.Stop()
		for {
			select {
			case m := <-tasks:
				<-busy.C // the work itself
				c.note(m.Respond(nil))
			case <-ctx.Done():
				return
			}
		}
	})
	return nil
}

// idle is a reader that does not read: it subscribes over a bare connection and takes nothing from its socket.
func (c *crowd) idle() (err error) {
	if c.raw, err = net.Dial("tcp", c.addr); err != nil {
		return err
	}
	if err := c.raw.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.raw, "CONNECT {\"verbose\":false,\"name\":\"archiver\",\"lang\":\"go\",\"headers\":true}\r\nSUB %smetrics.stream.* 1\r\n", mailbox)
	return err
}

// senders publish, more and less by turns.
func (c *crowd) senders(ctx context.Context) error {
	reading := make([]byte, 900)
	for i := range reading {
		reading[i] = byte('a' + i%26)
	}
	for _, s := range []struct {
		name, to string
		body     []byte
		most     float64 // a second
		turn     float64 // seconds
	}{
		{"gateway", "task.queue", []byte(`{"job":"summarise","doc":4711}`), 220, 47},
		{"gateway-urgent", "task.queue.urgent", []byte(`{"job":"answer","user":"ada"}`), 40, 31},
		{"sensors", "metrics.stream", reading, 240, 61},
		{"frontier", "crawl.pages.urgent", []byte(`{"url":"https://example.org/a"}`), 16, 37},
		{"watchdog", "alerts.site.critical", []byte(`{"alert":"disk 91 % full"}`), .4, 23},
		{"clerk", "reports.daily.urgent", []byte(`{"done":128,"failed":0}`), 1, 19},
		{"asker", "agents.planner.urgent", []byte(`{"plan":"the week"}`), 2, 41},
		{"translator", "translate.texts", []byte(`{"text":"Guten Morgen"}`), 3, 53},
	} {
		nc, err := c.connect(s.name)
		if err != nil {
			return err
		}
		c.work.Go(func() { c.send(ctx, nc, mailbox+s.to, s.body, s.most, s.turn) })
	}
	return nil
}

// send publishes up to most messages a second, in waves.
func (c *crowd) send(ctx context.Context, nc *nats.Conn, to string, body []byte, most, turn float64) {
	const step = 50 * time.Millisecond
	tick := time.NewTicker(step)
	defer tick.Stop()
	for owed, t := 0.0, 0.0; ; t += step.Seconds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		wave := .55 + .3*math.Sin(2*math.Pi*t/turn) + .15*math.Sin(2*math.Pi*t/turn*5.3)
		for owed += most * wave * step.Seconds(); owed >= 1; owed-- {
			c.note(nc.Publish(to, body))
		}
	}
}

// note remembers what went wrong.
func (c *crowd) note(err error) {
	if err == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.errs = append(c.errs, err)
}
