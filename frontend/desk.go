package frontend

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/mq9-broker/broker/actors"
	"github.com/mq9-broker/broker/frontend/admin"
	"github.com/mq9-broker/broker/mq9"
)

// desk is the server as a person uses it by hand, over HTTP. Each request is a client of its own.
type desk struct{ s *Server }

var _ admin.Desk = desk{}

// mostText bounds what is shown of a message, bytes.
const mostText = 16 << 10

// errDeskClosed refuses what HTTP cannot check: who somebody is, where clients must say it.
var errDeskClosed = mq9.Errorf(mq9.CodeForbidden,
	"clients of this broker must authenticate, which this page cannot do for you: use a NATS client, such as mq9 send and mq9 watch")

// Send implements admin.Desk.
func (d desk) Send(ctx context.Context, letter admin.Letter) (admin.Sent, error) {
	sent, err := d.send(ctx, letter)
	if err != nil {
		d.s.refusals.count(err)
		return admin.Sent{}, err
	}
	return admin.Sent{MsgID: sent.String()}, nil
}

func (d desk) send(ctx context.Context, letter admin.Letter) (mq9.MsgID, *mq9.Error) {
	p, refusal := priority(cmp.Or(letter.Priority, mq9.Normal.String()))
	if refusal != nil {
		return 0, refusal
	}
	client, id, refusal := d.open(letter.MailID, letter.Account)
	if refusal != nil {
		return 0, refusal
	}
	if most := d.s.nats.settings.Load().maxPayload; most > 0 && len(letter.Text) > most {
		return 0, errTooLarge
	}
	receipt := make(slip, 1)
	client.Send(id, actors.Draft{Priority: p, Payload: []byte(letter.Text)}, receipt)
	client.Flush()
	select {
	case r := <-receipt:
		return r.id, r.err
	case <-ctx.Done():
		return 0, mq9.Errorf(mq9.CodeUnavailable, "the store has not answered in time: whether the message is kept is not known")
	}
}

// open finds the mailbox that a person names and makes a client for it.
func (d desk) open(mailID, account string) (*actors.Client, mq9.MailID, *mq9.Error) {
	if d.s.draining.Load() {
		return nil, "", mq9.ErrShuttingDown
	}
	if d.s.nats.authenticates() {
		return nil, "", errDeskClosed
	}
	id, refusal := mq9.ParseMailID(mailID)
	if refusal != nil {
		return nil, "", refusal
	}
	if account == "" {
		account = globalAccount
	}
	return d.s.broker.NewClient(account), id, nil
}

// authenticates reports whether clients must say who they are.
func (e *embedded) authenticates() bool {
	v, err := e.server.Varz(nil)
	tls := e.settings.Load().tls
	return err != nil || v.AuthRequired || v.TLSVerify || tls != nil && tls.mustBring
}

// priority reads the name of one.
func priority(name string) (mq9.Priority, *mq9.Error) {
	p, ok := mq9.ParsePriority(name)
	if !ok {
		return 0, mq9.Errorf(mq9.CodeBadRequest, "priority must be critical, urgent or normal")
	}
	return p, nil
}

// slip is the receipt of one message. It is buffered.
type slip chan struct {
	id  mq9.MsgID
	err *mq9.Error
}

var _ actors.Receipt = slip(nil)

// Sent implements actors.Receipt.
func (s slip) Sent(id mq9.MsgID, err *mq9.Error, _ bool) {
	s <- struct {
		id  mq9.MsgID
		err *mq9.Error
	}{id, err}
}

// Watch implements admin.Desk.
func (d desk) Watch(ctx context.Context, wish admin.Wish, ready func() error, deliver func(admin.Delivery) error) error {
	set := mq9.AllPriorities
	if wish.Priority != "" {
		p, refusal := priority(wish.Priority)
		if refusal != nil {
			d.s.refusals.count(refusal)
			return refusal
		}
		set = mq9.Only(p)
	}
	client, id, refusal := d.open(wish.MailID, wish.Account)
	if refusal != nil {
		d.s.refusals.count(refusal)
		return refusal
	}
	tap := &tap{more: make(chan struct{}, 1)}
	attached := make(chan *mq9.Error, 1)
	sub := client.Subscribe(id, set, "", tap, func(refusal *mq9.Error) { attached <- refusal })
	defer func() {
		tap.end()
		sub.Leave(true, nil)
	}()
	select {
	case refusal := <-attached:
		if refusal != nil {
			d.s.refusals.count(refusal)
			return refusal
		}
	case <-ctx.Done():
		return nil
	}
	if err := ready(); err != nil {
		return err
	}
	for {
		select {
		case <-tap.more:
		case <-ctx.Done():
			return nil
		}
		for _, m := range tap.take() {
			if err := deliver(shown(m)); err != nil {
				return err
			}
			d.delivered(m)
			if tap.written(m.Size()) {
				sub.Resume()
			}
		}
	}
}

// delivered counts a message that was written.
func (d desk) delivered(m *mq9.Message) {
	var one delivered
	one[m.Priority].messages, one[m.Priority].bytes = 1, uint64(m.Size())
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	d.s.mu.past.add(one)
}

// shown is what a person sees of a message.
func shown(m *mq9.Message) admin.Delivery {
	v := admin.Delivery{
		MsgID: m.ID.String(), Priority: m.Priority.String(), At: time.Unix(0, m.At).UTC(), Header: string(m.Header), Size: len(m.Payload),
	}
	if !utf8.Valid(m.Payload) {
		return v
	}
	text := m.Payload
	if len(text) > mostText {
		text = text[:mostText]
		for !utf8.Valid(text) { // it ends inside a character
			text = text[:len(text)-1]
		}
	}
	v.Text, v.Whole = string(text), len(text) == len(m.Payload)
	return v
}

// tap is the outlet of a watching person: a small window, and what is in it.
type tap struct {
	more chan struct{} // has a token when something was queued; buffered

	mu     sync.Mutex
	queue  []*mq9.Message // guarded by mu
	used   int            // bytes that are set aside and not yet written; guarded by mu
	parked bool           // the actor waits for room; guarded by mu
	ended  bool           // nobody reads any more; guarded by mu
}

var _ actors.Outlet = (*tap)(nil)

// tapWindow is how much may be on its way to one watcher, bytes.
const tapWindow = 64 << 10

// tapCost is what a message of the given size takes of the window: empty ones take some, too.
func tapCost(size int) int { return size + 128 }

// Room implements actors.Outlet.
func (t *tap) Room(_ mq9.Priority, size int) actors.Verdict {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.roomLocked(size)
}

func (t *tap) roomLocked(size int) actors.Verdict {
	switch {
	case t.ended:
		return actors.Ended
	case t.used > 0 && t.used+tapCost(size) > tapWindow:
		t.parked = true
		return actors.Parked
	}
	t.parked = false
	return actors.Granted
}

// Offer implements actors.Outlet.
func (t *tap) Offer(messages []*mq9.Message) (sent int, verdict actors.Verdict) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range messages {
		if verdict = t.roomLocked(m.Size()); verdict != actors.Granted {
			break
		}
		t.used += tapCost(m.Size())
		t.queue = append(t.queue, m)
		sent++
	}
	select {
	case t.more <- struct{}{}:
	default: // it will look anyway
	}
	return sent, verdict
}

// Event implements actors.Outlet. A mailbox has none.
func (t *tap) Event([]byte) actors.Verdict { return actors.Ended }

// Idle implements actors.Outlet.
func (t *tap) Idle() {}

// take returns what is queued.
func (t *tap) take() []*mq9.Message {
	t.mu.Lock()
	defer t.mu.Unlock()
	queue := slices.Clip(t.queue)
	t.queue = nil
	return queue
}

// written gives a message's room back, and reports whether the actor waits for some.
func (t *tap) written(size int) (resume bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.used -= tapCost(size)
	resume, t.parked = t.parked, false
	return resume
}

// end has the actor send no more.
func (t *tap) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended, t.queue = true, nil
}
