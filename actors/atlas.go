package actors

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"

	"github.com/google/btree"

	"github.com/mq9-broker/broker/mq9"
)

// The router's ordered view of mailboxes and groups, and the cursors with which operators page through it.

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
