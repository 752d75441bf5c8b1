package actors

import (
	"context"
	"time"

	"github.com/mq9-broker/broker/mq9"
)

// What an operator may see of mailboxes and groups. The router says which there are, in pages; each one answers for itself, by a
// message like any other, so that nothing of theirs is shared.

// MailboxView is what an operator may see of a mailbox. It never holds a private mail_id.
type MailboxView struct {
	Account       string
	Public        bool
	Name          string // a public mailbox's mail_id; of a private one its [Broker.Hash]
	Desc          string
	Created       time.Time
	Expires       time.Time
	MaxInflight   int
	Known         bool // Depth is counted; what was on disk at the start is counted in the background
	Depth         [mq9.Priorities]Depth
	Subscriptions int // independent ones
	Waiting       int // of these, those whose connection has no room
	Groups        int
	Members       int // of all its groups, without those that are leaving
}

// GroupView is what an operator may see of a queue group.
type GroupView struct {
	Account string
	Public  bool
	Mailbox string // as MailboxView.Name
	Group   string
	Held    int // messages handed out and not deleted
	Size    int // members; more than Members lists if there are many
	Members []MemberView
}

// MemberView is one member of a queue group.
type MemberView struct {
	Connection uint64 // see [Connected]; 0 = not known
	Held       int    // messages handed to it and not deleted
	Waiting    bool   // its connection has no room
	Draining   bool   // it left and keeps what it holds for now
}

// Connected is what an Outlet may implement to say which connection it belongs to, by a number that is its own while it lasts.
// It is called on actors' goroutines and must not block.
type Connected interface{ Connection() uint64 }

// MostMembers bounds the members in a GroupView.
const MostMembers = 256

type (
	// look asks a mailbox for its view.
	look struct {
		weigh bool               // have it count what is on disk, if nobody did
		seen  chan<- MailboxView // buffered for every mailbox that is asked
	}

	// lookGroup asks a mailbox to have one of its groups answer; a group that is gone does not.
	lookGroup struct {
		name string
		seen chan<- GroupView // buffered for every group that is asked
	}
)

// places asks the router for what is behind a cursor, one more than wanted to see whether there is more.
func (b *Broker) places(ctx context.Context, groups bool, after string, limit int) (found []groupPlace, more bool, err error) {
	from, err := parseCursor(after)
	if err != nil {
		return nil, false, err
	}
	answer := make(chan []groupPlace, 1)
	b.root.Send(b.router, &survey{groups, from, limit + 1, answer})
	select {
	case found = <-answer:
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	if len(found) > limit {
		return found[:limit], true, nil
	}
	return found, false, nil
}

// Mailboxes returns up to limit views of mailboxes, public ones by account and name and then private ones by age, and the cursor
// of what follows, which is empty at the end. A page begins at the empty cursor or where another ended. What a mailbox did not answer before ctx
// ended is left out of its view. It fails with ErrCursor, or as ctx does.
func (b *Broker) Mailboxes(ctx context.Context, after string, limit int) (views []MailboxView, next string, err error) {
	return b.mailboxes(ctx, after, limit, false)
}

func (b *Broker) mailboxes(ctx context.Context, after string, limit int, weigh bool) ([]MailboxView, string, error) {
	places, more, err := b.places(ctx, false, after, limit)
	if err != nil {
		return nil, "", err
	}
	views := make([]MailboxView, 0, len(places))
	seen := make([]chan MailboxView, len(places))
	for i, place := range places {
		seen[i] = make(chan MailboxView, 1)
		if !place.at.send(&look{weigh, seen[i]}) {
			seen[i] = nil // it has just ended
		}
	}
	for i, place := range places {
		if seen[i] == nil {
			continue
		}
		view := b.outline(place.at)
		select {
		case view = <-seen[i]:
		case <-ctx.Done():
		}
		views = append(views, view)
	}
	next := ""
	if more {
		next = cursor(places[len(places)-1])
	}
	return views, next, nil
}

// Groups returns up to limit views of queue groups, in the order of their mailboxes and by name, and the cursor of what follows. It is paged
// and fails as [Broker.Mailboxes].
func (b *Broker) Groups(ctx context.Context, after string, limit int) ([]GroupView, string, error) {
	places, more, err := b.places(ctx, true, after, limit)
	if err != nil {
		return nil, "", err
	}
	seen := make([]chan GroupView, len(places))
	for i, place := range places {
		seen[i] = make(chan GroupView, 1)
		if !place.at.send(&lookGroup{place.name, seen[i]}) {
			close(seen[i])
		}
	}
	views := make([]GroupView, 0, len(places))
	for i := range places {
		select {
		case view, ok := <-seen[i]:
			if ok {
				views = append(views, view)
			}
		case <-ctx.Done():
		}
	}
	next := ""
	if more {
		next = cursor(places[len(places)-1])
	}
	return views, next, nil
}

// outline is what can be said of a mailbox without asking it.
func (b *Broker) outline(at *ref) MailboxView {
	box := at.box
	return MailboxView{
		Account: box.Account, Public: box.Public, Name: b.shown(box), Desc: box.Desc,
		Created: box.CreatedAt(), Expires: box.ExpiresAt(), MaxInflight: box.MaxInflight,
	}
}

// shown is the name under which a mailbox may be shown.
func (b *Broker) shown(box *mq9.Mailbox) string {
	if box.Public {
		return string(box.ID)
	}
	return b.Hash(box.ID)
}

// look answers an operator.
func (m *mailbox) look(op *look) {
	if op.weigh {
		m.weigh()
	}
	view := m.broker.outline(m.at)
	if d := m.depths(); d != nil {
		view.Known, view.Depth = true, *d
	}
	view.Subscriptions, view.Groups = len(m.readers), len(m.groups)
	for _, r := range m.readers {
		if r.parked {
			view.Waiting++
		}
	}
	for _, g := range m.groups {
		view.Members += len(g.subs)
	}
	op.seen <- view
}

// lookGroup has a group answer.
func (m *mailbox) lookGroup(op *lookGroup) {
	if g := m.groups[op.name]; g != nil {
		m.broker.root.Send(g.pid, op)
		return
	}
	close(op.seen)
}

// look answers an operator.
func (g *groupActor) look(op *lookGroup) {
	box := g.at.box
	view := GroupView{
		Account: box.Account, Public: box.Public, Mailbox: g.broker.shown(box),
		Group: g.name, Held: len(g.holders), Size: len(g.members), Members: make([]MemberView, 0, min(len(g.members), MostMembers)),
	}
	for _, m := range g.members[:min(len(g.members), MostMembers)] {
		seen := MemberView{Held: len(m.holds), Waiting: m.parked, Draining: m.draining}
		if c, ok := m.sub.out.(Connected); ok {
			seen.Connection = c.Connection()
		}
		view.Members = append(view.Members, seen)
	}
	op.seen <- view
}
