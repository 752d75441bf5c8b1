package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// digest notes what a connection received.
func (r *runner) digest(p *peer, frames []frame) error {
	for _, f := range frames {
		switch f.op {
		case "MSG", "HMSG":
			if err := r.received(p, f); err != nil {
				return err
			}
		case "-ERR":
			r.refusals--
			if text := strings.Join(f.args, " "); !strings.Contains(text, ": 404 ") {
				return fmt.Errorf("the broker said %s", text)
			}
		case "PING":
			if err := p.say("PONG\r\n"); err != nil {
				return err
			}
		case eof:
			return fmt.Errorf("the broker cut the connection: %v", f.args)
		}
	}
	return nil
}

// received notes a reply or a delivery.
func (r *runner) received(p *peer, f frame) error {
	subject, sid := f.args[0], f.args[1]
	if sid == "0" {
		check := r.expected[subject]
		if check == nil {
			return fmt.Errorf("a reply that nobody waits for: %s", f.payload)
		}
		delete(r.expected, subject)
		return check(f.payload)
	}
	m := p.subs[sid]
	name, _, _ := strings.Cut(string(f.payload), "|")
	x := r.messages[name]
	switch {
	case m == nil:
		return fmt.Errorf("a delivery of %s on sid %s, which has ended", name, sid)
	case x == nil || len(f.payload) != x.size || !slices.Contains(m.line.box.messages, x):
		return fmt.Errorf("a delivery of %d bytes that nobody sent to this mailbox", len(f.payload))
	}
	reply := f.args[2]
	if err := x.identify(reply[strings.LastIndexByte(reply, '.')+1:]); err != nil {
		return err
	}
	return r.world.observe(m, x, f.at)
}

// identify notes a message's id wherever it is seen; it must be the same everywhere.
func (x *message) identify(id string) error {
	if x.id != "" && x.id != id {
		return fmt.Errorf("%s has the ids %s and %s", x.name, x.id, id)
	}
	x.id = id
	return nil
}

func decode(reply []byte, into any) error {
	if err := json.Unmarshal(reply, into); err != nil {
		return fmt.Errorf("reply %q: %w", reply, err)
	}
	return nil
}

// monitors asks the embedded server's monitor. Plans run side by side and share its connections.
var monitors = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}, Timeout: dialTimeout}

// noticed waits until the broker has noticed the end of a connection.
func (r *runner) noticed(p *peer) error {
	url := "http://" + r.target.Monitor + "/connz?cid=" + strconv.FormatUint(p.id, 10)
	pause := time.NewTicker(2 * time.Millisecond)
	defer pause.Stop()
	for deadline := time.Now().Add(r.patience); time.Now().Before(deadline); <-pause.C {
		answer, err := monitors.Get(url)
		if err != nil {
			return err
		}
		var z struct {
			N int `json:"num_connections"`
		}
		text, err := io.ReadAll(answer.Body) // to the end, so that its connection can be used again
		if err := errors.Join(err, answer.Body.Close()); err != nil {
			return err
		}
		if err := json.Unmarshal(text, &z); err != nil {
			return err
		}
		if z.N == 0 {
			return nil
		}
	}
	return errors.New("the broker did not notice the end of a connection")
}
