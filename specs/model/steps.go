package model

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	subjectCreate = "$mq9.AI.MAILBOX.CREATE"
	subjectSend   = "$mq9.AI.MAILBOX.MSG."
	subjectList   = "$mq9.AI.MAILBOX.LIST."
	subjectDelete = "$mq9.AI.MAILBOX.DELETE."
)

// create makes a mailbox, or confirms one that lives.
func (r *runner) create(p *peer, conn int, b *boxState) error {
	if b.alive && b.plan.Mortal && !b.plan.Public {
		return nil // there is nothing to confirm without keeping the id for ourselves
	}
	ttl := 10 * time.Minute
	if b.plan.Mortal {
		ttl = r.ttl
	}
	body := fmt.Sprintf(`{"ttl":%d,"max_inflight":%d`, ttl/time.Second, b.plan.MaxInflight)
	switch {
	case b.plan.Public:
		if b.id == "" {
			b.id = r.prefix + "." + fmt.Sprint(len(r.messages)) + "." + fmt.Sprint(r.serial)
		}
		body += fmt.Sprintf(`,"public":true,"name":%q`, b.id)
	case b.alive:
		body = fmt.Sprintf(`{"mail_id":%q`, b.id)
	case b.id != "": // the address of the old one is gone for good
		*b = boxState{plan: b.plan, box: &box{}}
		r.world.boxes = append(r.world.boxes, b.box)
	}
	isNew := r.world.create(b.box, b.plan.MaxInflight)
	deadline := time.Now().Add(ttl)
	return r.exchange(p, r.request(conn, subjectCreate, body+"}", func(reply []byte) error {
		var c struct {
			MailID string `json:"mail_id"`
			IsNew  bool   `json:"is_new"`
		}
		if err := decode(reply, &c); err != nil {
			return err
		}
		if c.MailID == "" || c.IsNew != isNew || b.id != "" && c.MailID != b.id {
			return fmt.Errorf("CREATE was answered %s, while is_new should be %t", reply, isNew)
		}
		b.id = c.MailID
		if isNew {
			b.deadline = deadline
		}
		return nil
	}))
}

// burst writes several operations at one go.
func (r *runner) burst(p *peer, conn int, b *boxState, items []Item) error {
	var text strings.Builder
	for _, it := range items {
		if b.id == "" {
			return nil
		}
		switch it.Kind {
		case Send:
			text.WriteString(r.send(conn, b, it))
		case Remove:
			text.WriteString(r.remove(p, conn, b, it))
		case Subscribe:
			if it.Max > 0 && text.Len() > 0 { // the broker is to read SUB and UNSUB together: between them more than max may come
				if err := r.exchange(p, text.String()); err != nil {
					return err
				}
				if err := r.settle(); err != nil {
					return err
				}
				text.Reset()
			}
			text.WriteString(r.subscribe(p, b, it))
		}
	}
	return r.exchange(p, text.String())
}

// gone is how an operation on a mailbox that does not live is answered.
func gone(reply []byte) error {
	var refusal struct {
		Code int `json:"code"`
	}
	if err := decode(reply, &refusal); err != nil {
		return err
	}
	if refusal.Code != 404 {
		return fmt.Errorf("an expired mailbox answered %s", reply)
	}
	return nil
}

// ask is a request, or the same without a reply subject. On a mailbox that does not live it expects to be refused.
func (r *runner) ask(conn int, b *boxState, silent bool, subject, body string, check func([]byte) error) string {
	switch {
	case silent:
		if !b.alive {
			r.refusals++
		}
		return fmt.Sprintf("PUB %s %d\r\n%s\r\n", subject, len(body), body)
	case !b.alive:
		check = gone
	}
	return r.request(conn, subject, body, check)
}

func (r *runner) send(conn int, b *boxState, it Item) string {
	x := &message{name: fmt.Sprintf("m%d", len(r.messages)), pri: it.Priority, size: it.Size}
	if b.alive {
		r.messages[x.name] = x
		r.world.send(b.box, x)
		b.mayKnow = b.mayKnow || it.Silent
	}
	body := x.name + "|"
	body += strings.Repeat("-", x.size-len(body))
	return r.ask(conn, b, it.Silent, subjectSend+b.id+patterns[it.Priority], body, func(reply []byte) error {
		var sent struct {
			MsgID string `json:"msg_id"`
		}
		if err := decode(reply, &sent); err != nil {
			return err
		}
		if sent.MsgID == "" {
			return fmt.Errorf("a message was answered %s", reply)
		}
		return x.identify(sent.MsgID)
	})
}

// remove deletes a message, if there is one whose id is known.
func (r *runner) remove(p *peer, conn int, b *boxState, it Item) string {
	var from []*message
	for _, x := range b.messages {
		switch {
		case x.id == "":
			continue
		case it.From == 0 && !r.holds(p, x), it.From == 1 && !x.stored(r.world.now):
			continue
		}
		from = append(from, x)
	}
	if len(from) == 0 {
		return ""
	}
	x := from[it.Nth%len(from)]
	existed := b.alive && r.world.remove(x)
	return r.ask(conn, b, it.Silent, subjectDelete+b.id+"."+x.id, "", func(reply []byte) error {
		var d struct {
			Deleted *bool `json:"deleted"`
		}
		if err := decode(reply, &d); err != nil {
			return err
		}
		if d.Deleted == nil || *d.Deleted != existed {
			return fmt.Errorf("DELETE of %s was answered %s, while it was there: %t", x.name, reply, existed)
		}
		return nil
	})
}

// holds reports whether a subscription of the connection has a message in hand.
func (r *runner) holds(p *peer, x *message) bool {
	for _, m := range p.subs {
		if at := m.line.places[x]; at != nil && at.holder == m && x.stored(r.world.now) {
			return true
		}
	}
	return false
}

func (r *runner) subscribe(p *peer, b *boxState, it Item) string {
	sid := fmt.Sprint(it.Sid)
	if p.subs[sid] != nil {
		return ""
	}
	text := fmt.Sprintf("SUB %s%s%s %s %s\r\n", subjectSend, b.id, patterns[it.Pattern], it.Queue, sid)
	if !b.alive {
		r.refusals++
		return text
	}
	p.subs[sid] = r.world.subscribe(b.box, p.world, it.Pattern, it.Queue, it.Max)
	if it.Max > 0 {
		text += fmt.Sprintf("UNSUB %s %d\r\n", sid, it.Max)
	}
	return text
}

// list compares what is stored.
func (r *runner) list(p *peer, conn int, b *boxState) error {
	if b.id == "" {
		return nil
	}
	stored := r.world.list(b.box)
	return r.exchange(p, r.ask(conn, b, false, subjectList+b.id, "", func(reply []byte) error {
		var page struct {
			Messages []struct {
				MsgID    string `json:"msg_id"`
				Priority string `json:"priority"`
				Size     int    `json:"size"`
			} `json:"messages"`
			More  bool   `json:"more"`
			Error string `json:"error"`
		}
		if err := decode(reply, &page); err != nil {
			return err
		}
		if len(page.Messages) != len(stored) || page.More {
			return fmt.Errorf("LIST shows %d messages, more: %t, error: %q, while %d are stored",
				len(page.Messages), page.More, page.Error, len(stored))
		}
		for i, x := range stored {
			got := page.Messages[i]
			if err := x.identify(got.MsgID); err != nil {
				return fmt.Errorf("LIST, place %d: %w", i, err)
			}
			if got.Size != x.size || got.Priority != [...]string{"critical", "urgent", "normal"}[x.pri] {
				return fmt.Errorf("LIST shows %+v for %s", got, x.name)
			}
		}
		return nil
	}))
}

// expire waits for the end of a mailbox's life, which must not come early.
func (r *runner) expire(p *peer, conn int, b *boxState) error {
	if !b.plan.Mortal || !b.alive {
		return nil
	}
	pause := time.NewTicker(10 * time.Millisecond)
	defer pause.Stop()
	for over := false; !over; <-pause.C {
		if time.Now().After(b.deadline.Add(r.patience)) {
			return errors.New("the mailbox does not expire")
		}
		asked := r.request(conn, subjectList+b.id, `{"limit":1}`, func(reply []byte) error {
			over = gone(reply) == nil
			return nil
		})
		if err := r.exchange(p, asked); err != nil {
			return err
		}
	}
	if time.Now().Before(b.deadline) {
		return errors.New("the mailbox expired early")
	}
	r.world.expire(b.box)
	return nil
}
