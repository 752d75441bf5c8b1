package actors

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/mq9-broker/broker/mq9"
)

// router knows where every mailbox is. It spawns a mailbox actor at its creation and forgets it at its end; since
// it handles one CREATE at a time, racing ones make one mailbox. A session remembers what it was told and asks again
// when that mailbox has ended.
//
// Spawned by the broker, supervised, one per broker. It sends to mailboxes, the directory and itself; it never waits
// for one. The table survives a crash.
type router struct {
	broker *Broker // immutable
	table  *table
}

// table is what the router owns.
type table struct {
	mailboxes map[key]*ref
	waiting   map[key][]*create       // CREATEs of a name whose old mailbox is still ending
	dormant   map[key][]*Subscription // live subscriptions to expired public names, to be served again (protocol section 4)
	leavers   map[*ref][]*leave       // who left while the mailbox that served it was ending
	atlas     atlas                   // mailboxes and groups in order, for operators
}

func newTable() *table {
	return &table{map[key]*ref{}, map[key][]*create{}, map[key][]*Subscription{}, map[*ref][]*leave{}, newAtlas()}
}

type (
	// resolve asks where a mailbox is; the answer is nil if there is none.
	resolve struct {
		key   key
		found chan<- *ref
	}

	// ended tells the router that a mailbox took its last message, and which subscriptions outlive it.
	ended struct {
		at      *ref
		orphans []*Subscription
	}

	// recoverAll brings the mailboxes on disk to life.
	recoverAll struct{ done chan<- error }

	// stopAll stops every mailbox.
	stopAll struct{ done chan<- struct{} }
)

// Receive handles one message; see the message types.
func (r *router) Receive(ctx actor.Context) {
	defer answerCrash(ctx.Message())
	switch message := ctx.Message().(type) {
	case *resolve:
		at := r.table.mailboxes[message.key]
		if at != nil && at.expired() {
			at = nil
		}
		message.found <- at
	case *create:
		r.create(message)
	case *ended:
		r.ended(message)
	case *leave:
		r.leave(message)
	case *survey:
		r.survey(message)
	case *grouped:
		r.grouped(groupPlace(*message))
	case *ungrouped:
		r.ungrouped(groupPlace(*message))
	case *recoverAll:
		message.done <- r.recover()
	case *stopAll:
		for _, at := range r.table.mailboxes {
			ctx.Stop(at.pid)
		}
		close(message.done)
	}
}

// create answers a CREATE that needs no mailbox, and hands every other to the mailbox, which exists after this.
func (r *router) create(op *create) {
	k := key{op.account, op.request.Name}
	switch {
	case op.request.MailID != "":
		k.id = op.request.MailID
		at := r.table.mailboxes[k]
		switch {
		case at == nil || at.expired():
			op.refuse(mq9.ErrNoMailbox)
		case at.box.Public:
			op.refuse(mq9.Errorf(mq9.CodeConflict, "mail_id names a public mailbox: CREATE it with \"public\": true and its name"))
		case !at.send(op):
			op.refuse(mq9.ErrNoMailbox)
		}
		return
	case !op.request.Public:
		k.id = mq9.NewMailID()
	}
	at := r.table.mailboxes[k]
	if at == nil {
		r.make(k, op)
		return
	}
	if at.expired() {
		at.send(&expire{}) // its own timer may be a moment late
	} else if at.send(op) {
		return
	}
	r.table.waiting[k] = append(r.table.waiting[k], op)
}

// make spawns a new mailbox, with the CREATE that it will answer first.
func (r *router) make(k key, op *create) {
	if err := r.broker.admitMailbox(); err != nil {
		op.refuse(err)
		return
	}
	number, err := r.broker.ids.take()
	if err != nil {
		r.broker.usage.mailboxes.Add(-1)
		r.broker.config.Log.Error("no ids could be reserved", "error", err)
		op.refuse(mq9.ErrUnavailable)
		return
	}
	ttl := op.request.TTL
	if ttl == 0 {
		ttl = int64(r.broker.config.DefaultTTL / time.Second)
	}
	at := r.spawn(&mq9.Mailbox{
		Number: number, Account: k.account, ID: k.id, Public: op.request.Public, Desc: op.request.Desc,
		TTL: ttl, MaxInflight: op.request.MaxInflight, Created: r.broker.config.Now().UnixNano(),
	}, time.Duration(ttl)*time.Second, legacy{birth: &birth{creators: []*create{op}}})
	for _, sub := range r.table.dormant[k] {
		sub.at.Store(at)
		at.send(&subscribe{sub, func(*mq9.Error) {}})
	}
	delete(r.table.dormant, k)
}

// spawn starts the actor of a mailbox that has life left to live.
func (r *router) spawn(box *mq9.Mailbox, life time.Duration, left legacy) *ref {
	b := r.broker
	at := &ref{root: b.root, box: box, deadline: time.Now().Add(life), left: left}
	b.alive.Add(1)
	at.mu.Lock() // until pid is set, which the actor may need at once
	at.pid = b.spawn(func() actor.Actor { return newMailbox(b, at) })
	at.mu.Unlock()
	r.table.mailboxes[at.key()] = at
	r.table.atlas.mailboxes.ReplaceOrInsert(at)
	if box.Public {
		b.usage.public.Add(1)
	}
	return at
}

// ended forgets a mailbox, keeps the subscriptions to its name, and creates it afresh if somebody waits for that.
func (r *router) ended(message *ended) {
	k := message.at.key()
	delete(r.table.mailboxes, k)
	r.broker.usage.mailboxes.Add(-1)
	if message.at.box.Public {
		r.broker.usage.public.Add(-1)
	}
	r.forgetPlaces(message.at)
	for _, sub := range message.orphans {
		if message.at.box.Public {
			r.table.dormant[k] = append(r.table.dormant[k], sub)
		}
		sub.at.CompareAndSwap(message.at, nil)
	}
	leavers := r.table.leavers[message.at]
	delete(r.table.leavers, message.at)
	for _, op := range leavers {
		r.leave(op)
	}
	waiting := r.table.waiting[k]
	delete(r.table.waiting, k)
	for _, op := range waiting {
		r.create(op)
	}
}

// leave ends a subscription whose mailbox has ended or is ending; if the name lives again, its mailbox does it.
func (r *router) leave(op *leave) {
	k := op.sub.key
	for i, sub := range r.table.dormant[k] {
		if sub == op.sub {
			r.table.dormant[k] = append(r.table.dormant[k][:i], r.table.dormant[k][i+1:]...)
			if len(r.table.dormant[k]) == 0 {
				delete(r.table.dormant, k)
			}
			op.answer()
			return
		}
	}
	at := op.sub.at.Load()
	switch {
	case at != nil && at.send(op):
	case at != nil && r.table.mailboxes[k] == at: // sealed, and its orphans are on their way here
		r.table.leavers[at] = append(r.table.leavers[at], op)
	default: // never attached
		op.answer()
	}
}

// recover spawns the mailboxes that the store knows, and has the store forget those that expired while the broker was down.
func (r *router) recover() error {
	var expired []*mq9.Mailbox // committed afterwards: the store is being read
	now := r.broker.config.Now()
	err := r.broker.store.Mailboxes(func(box mq9.Mailbox) error {
		life := time.Duration(box.TTL) * time.Second
		left := min(box.ExpiresAt().Sub(now), life) // a clock set back does not prolong a life
		if left <= 0 {
			expired = append(expired, &box)
			return nil
		}
		r.broker.usage.mailboxes.Add(1)
		r.spawn(&box, left, legacy{phase: living})
		if box.Public {
			r.broker.root.Send(r.broker.directory, &listed{&box})
		}
		return nil
	})
	for _, box := range expired {
		r.broker.store.Commit(mq9.ExpireMailbox{Mailbox: box}, r.broker.logCommit("an expired mailbox"))
	}
	return err
}
