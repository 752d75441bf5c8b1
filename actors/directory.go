package actors

import (
	"slices"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/google/btree"

	"github.com/mq9-broker/broker/mq9"
)

// directory knows the public mailboxes of each account and who watches them (protocol section 7). A private
// mailbox never comes here.
//
// Spawned by the broker, supervised, one per broker. Mailboxes and the router tell it what lives and what ended. It calls outlets, and
// sends to nobody. Its sections survive a crash.
type directory struct {
	sections map[string]*section // by account; owned
}

// section is one account's part of the directory. It belongs to the directory actor.
type section struct {
	alive    *btree.BTreeG[*public] // by mail_id
	watchers map[*Subscription]*watcher
}

// public is one life of a public mailbox.
type public struct {
	listing          mq9.Listing
	created, expired []byte // the events, rendered when first sent and shared by all watchers; expired is nil while it lives
	number           uint64
}

// watcher is a discovery subscription: the events it has yet to get, as references. A mailbox that came and went
// before its watcher could hear of it is left out, so what waits is bounded by what lives and what the watcher was told.
type watcher struct {
	sub     *Subscription
	waiting []event
	parked  bool
	woken   bool // its outlet called Resume and is owed an Idle
	ended   bool // its outlet takes no more; its leave is on the way
}

// event is a mailbox's beginning or end.
type event struct {
	of  *public
	end bool
}

type (
	// listed says that a public mailbox is there.
	listed struct{ box *mq9.Mailbox }

	// unlisted says that it has ended.
	unlisted struct{ box *mq9.Mailbox }

	// discover asks for a page.
	discover struct {
		account  string
		page     mq9.PageRequest
		maxBytes int
		done     func(mq9.DiscoverReply, *mq9.Error)
	}
)

func (o *discover) refuse(err *mq9.Error) {
	if done := take(&o.done); done != nil {
		done(mq9.DiscoverReply{}, err)
	}
}

// Receive handles one message; see the message types.
func (d *directory) Receive(ctx actor.Context) {
	defer answerCrash(ctx.Message())
	switch message := ctx.Message().(type) {
	case *listed:
		d.section(message.box.Account).list(message.box)
	case *unlisted:
		d.section(message.box.Account).unlist(message.box)
	case *discover:
		reply := d.section(message.account).page(message.page, message.maxBytes)
		take(&message.done)(reply, nil)
	case *subscribe:
		d.section(message.sub.key.account).watch(message)
	case *leave:
		delete(d.section(message.sub.key.account).watchers, message.sub)
		message.answer()
	case *resume:
		d.section(message.sub.key.account).resume(message.sub)
	}
}

func (d *directory) section(account string) *section {
	s := d.sections[account]
	if s == nil {
		const degree = 32
		less := func(a, b *public) bool { return a.listing.MailID < b.listing.MailID }
		s = &section{btree.NewG(degree, less), map[*Subscription]*watcher{}}
		d.sections[account] = s
	}
	return s
}

// list adds a mailbox and tells the watchers.
func (s *section) list(box *mq9.Mailbox) {
	p := &public{listing: mq9.NewListing(box), number: box.Number}
	if was, ok := s.alive.ReplaceOrInsert(p); ok && was.number == p.number { // told twice, after a crash
		s.alive.ReplaceOrInsert(was)
		return
	}
	for _, w := range s.watchers {
		w.waiting = append(w.waiting, event{of: p})
		w.pump()
	}
}

// unlist removes a mailbox and tells the watchers who knew it.
func (s *section) unlist(box *mq9.Mailbox) {
	p, ok := s.alive.Get(&public{listing: mq9.Listing{MailID: box.ID}})
	if !ok || p.number != box.Number {
		return
	}
	s.alive.Delete(p)
	p.expired = p.listing.EncodeExpired()
	for _, w := range s.watchers {
		if i := slices.Index(w.waiting, event{of: p}); i >= 0 {
			w.waiting = slices.Delete(w.waiting, i, i+1)
			continue
		}
		w.waiting = append(w.waiting, event{of: p, end: true})
		w.pump()
	}
}

// watch adds a watcher, who first hears of every mailbox alive.
func (s *section) watch(op *subscribe) {
	w := &watcher{sub: op.sub, waiting: make([]event, 0, s.alive.Len())}
	s.alive.Ascend(func(p *public) bool {
		w.waiting = append(w.waiting, event{of: p})
		return true
	})
	s.watchers[op.sub] = w
	w.pump()
	take(&op.done)(nil)
}

// resume goes on with a watcher whose outlet has room again.
func (s *section) resume(sub *Subscription) {
	if w := s.watchers[sub]; w != nil {
		w.parked, w.woken = false, true
		w.pump()
	} else {
		sub.out.Idle()
	}
}

// pump sends what waits, until the outlet is full.
func (w *watcher) pump() {
	if w.parked || w.ended {
		return
	}
	for len(w.waiting) > 0 {
		switch w.sub.out.Event(w.waiting[0].body()) {
		case Parked:
			w.parked, w.woken = true, false
			return
		case Ended:
			w.ended = true
			return
		}
		w.waiting = w.waiting[1:]
	}
	w.waiting = nil
	if w.woken {
		w.woken = false
		w.sub.out.Idle()
	}
}

// body renders the event.
func (e event) body() []byte {
	if e.end {
		return e.of.expired
	}
	if e.of.created == nil {
		e.of.created = e.of.listing.EncodeCreated()
	}
	return e.of.created
}

// page is one page of the mailboxes alive, ordered by mail_id, in at most maxBytes of JSON.
func (s *section) page(page mq9.PageRequest, maxBytes int) mq9.DiscoverReply {
	reply := mq9.DiscoverReply{Mailboxes: []mq9.Listing{}}
	room := maxBytes - len(reply.Encode())
	from := &public{listing: mq9.Listing{MailID: mq9.MailID(page.After)}}
	s.alive.AscendGreaterOrEqual(from, func(p *public) bool {
		if string(p.listing.MailID) == page.After {
			return true
		}
		room -= len(p.listing.EncodeCreated()) // a little more than the entry and its comma
		if room < 0 || len(reply.Mailboxes) == page.Limit {
			reply.More = true
			return false
		}
		reply.Mailboxes = append(reply.Mailboxes, p.listing)
		return true
	})
	return reply
}
