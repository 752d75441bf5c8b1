package actors

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"github.com/google/btree"

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

// ErrCursor says that a cursor is none that a page ended with.
var ErrCursor = errors.New("after is none of ours: give the next of the page before")

// groupPlace is a mailbox, or one of its queue groups, among all.
type groupPlace struct {
	at   *ref
	name string
}

// atlas is the router's ordered view of what there is: public mailboxes by account and name, then private ones by age.
type atlas struct {
	mailboxes *btree.BTreeG[*ref]
	groups    *btree.BTreeG[groupPlace]
}

func newAtlas() atlas {
	const degree = 32
	return atlas{
		btree.NewG(degree, refBefore),
		btree.NewG(degree, func(a, b groupPlace) bool {
			if a.at.box.Number != b.at.box.Number {
				return refBefore(a.at, b.at)
			}
			return a.name < b.name
		}),
	}
}

func refBefore(a, b *ref) bool {
	switch x, y := a.box, b.box; {
	case x.Public != y.Public:
		return x.Public
	case x.Public && x.Account != y.Account:
		return x.Account < y.Account
	case x.Public && x.ID != y.ID:
		return x.ID < y.ID
	default:
		return x.Number < y.Number
	}
}

// forgetPlaces takes a mailbox that ended and its groups out.
func (r *router) forgetPlaces(at *ref) {
	r.table.atlas.mailboxes.Delete(at)
	var groups []groupPlace
	r.table.atlas.groups.AscendGreaterOrEqual(groupPlace{at: at}, func(g groupPlace) bool {
		if g.at == at {
			groups = append(groups, g)
		}
		return g.at == at
	})
	for _, g := range groups {
		r.ungrouped(g)
	}
}

// grouped notes a new group.
func (r *router) grouped(g groupPlace) {
	if _, was := r.table.atlas.groups.ReplaceOrInsert(g); !was {
		r.broker.usage.groups.Add(1)
	}
}

// ungrouped forgets a group.
func (r *router) ungrouped(g groupPlace) {
	if _, was := r.table.atlas.groups.Delete(g); was {
		r.broker.usage.groups.Add(-1)
	}
}

type (
	// survey asks the router for mailboxes, or groups, behind a place.
	survey struct {
		groups bool
		after  *groupPlace
		most   int
		found  chan<- []groupPlace // buffered by one
	}

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

	// grouped tells the router that a mailbox has a new group; ungrouped, that it is gone.
	grouped   groupPlace
	ungrouped groupPlace
)

// survey answers from the tree.
func (r *router) survey(op *survey) {
	found := make([]groupPlace, 0, op.most)
	take := func(g groupPlace) bool {
		if g.at.box.Number != op.after.at.box.Number || g.name != op.after.name {
			found = append(found, g)
		}
		return len(found) < op.most
	}
	if op.groups {
		r.table.atlas.groups.AscendGreaterOrEqual(*op.after, take)
	} else {
		r.table.atlas.mailboxes.AscendGreaterOrEqual(op.after.at, func(at *ref) bool { return take(groupPlace{at: at}) })
	}
	op.found <- found
}

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

// A cursor names a place without giving a private mail_id away, in base64:
//
//	kind (1) | number (8) | account | 0 | mail_id | 0 | group
//
// of a private mailbox without account and mail_id. None of them holds a zero byte.
func cursor(g groupPlace) string {
	box, kind, name := g.at.box, byte(cursorPrivate), "\x00\x00"
	if box.Public {
		kind, name = cursorPublic, box.Account+"\x00"+string(box.ID)+"\x00"
	}
	b := binary.BigEndian.AppendUint64([]byte{kind}, box.Number)
	return base64.RawURLEncoding.EncodeToString(append(append(b, name...), g.name...))
}

// The kinds of cursors.
const (
	cursorPublic  = 'p'
	cursorPrivate = 'x'
)

// parseCursor makes a place that compares as the one that the cursor names; the empty cursor stands before all.
func parseCursor(text string) (*groupPlace, error) {
	if text == "" {
		return &groupPlace{at: &ref{box: &mq9.Mailbox{Public: true}}}, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	const head = 9
	if err != nil || len(b) < head || b[0] != cursorPublic && b[0] != cursorPrivate {
		return nil, ErrCursor
	}
	parts := strings.Split(string(b[head:]), "\x00")
	if len(parts) != 3 {
		return nil, ErrCursor
	}
	box := &mq9.Mailbox{
		Public: b[0] == cursorPublic, Number: binary.BigEndian.Uint64(b[1:head]), Account: parts[0], ID: mq9.MailID(parts[1]),
	}
	return &groupPlace{&ref{box: box}, parts[2]}, nil
}
