package model

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Plan is what one seed asks of the broker.
type Plan struct {
	Seed  uint64
	Slow  bool // connection 0 has small buffers and is made to stand still at times
	Boxes []BoxPlan
	Steps []Step
}

// BoxPlan describes a mailbox.
type BoxPlan struct {
	Public      bool
	Mortal      bool // its life is short: a step waits for its end
	MaxInflight int
}

// Kind is what a step does.
type Kind int

// The kinds of steps.
const (
	Create Kind = iota // makes the mailbox, or confirms it
	Burst              // several operations of one connection on one mailbox, written at one go
	Unsub              // ends a subscription, or sets its max
	Close              // ends a connection; a later step of it connects again
	Stall              // the connection reads no more
	Resume             // it reads again
	List               // asks what is stored
	Expire             // waits for the end of the mailbox's life
)

// Step is one thing that a connection does; the broker comes to rest after it. What a step needs and does not find (a subscription,
// a message, a mailbox that is to expire) makes it do nothing, so that any part of a plan is a plan.
type Step struct {
	Kind   Kind
	Conn   int
	Box    int
	Sid    int    // Unsub
	Max    int    // Unsub: 0 ends it at once
	Abrupt bool   // Close: by a reset
	Items  []Item // Burst
}

// ItemKind is what an item of a burst does.
type ItemKind int

// The kinds of items.
const (
	Send      ItemKind = iota
	Remove             // deletes a message
	Subscribe          // adds a subscription
)

// Item is one operation of a burst.
type Item struct {
	Kind     ItemKind
	Priority int    // Send
	Size     int    // Send: bytes
	Silent   bool   // Send, Remove: without a reply subject
	From     int    // Remove: 0 = of what this connection holds, 1 = of what is stored, 2 = of all there ever was
	Nth      int    // Remove: which one, modulo how many there are
	Sid      int    // Subscribe
	Pattern  int    // Subscribe: one priority, or 3 for all
	Queue    string // Subscribe
	Max      int    // Subscribe: an UNSUB max right behind the SUB; 0 = none
}

const (
	connections = 4
	sids        = 4 // of one connection
)

// NewPlan makes the plan of a seed.
func NewPlan(seed uint64) Plan {
	g := generator{rand.New(rand.NewPCG(seed, 9))}
	p := Plan{Seed: seed, Slow: g.one(5)}
	mortal := g.one(10)
	for i := range 1 + g.IntN(3) {
		b := BoxPlan{Public: g.one(2), MaxInflight: g.pick(0, 0, 1, 2, 5)}
		b.Mortal = mortal && i == 0
		p.Boxes = append(p.Boxes, b)
		p.Steps = append(p.Steps, Step{Kind: Create, Conn: 1, Box: i})
	}
	n := 20 + g.IntN(30)
	for i := range n {
		if mortal && (i == n/2 || i == n*3/4) {
			p.Steps = append(p.Steps, Step{Kind: Expire, Conn: 1}, Step{Kind: Create, Conn: 2})
		}
		p.Steps = append(p.Steps, g.step(&p))
	}
	return p
}

type generator struct{ *rand.Rand }

func (g generator) one(in int) bool { return g.IntN(in) == 0 }

func (g generator) pick(from ...int) int { return from[g.IntN(len(from))] }

func (g generator) step(p *Plan) Step {
	s := Step{Conn: g.IntN(connections), Box: g.IntN(len(p.Boxes)), Sid: 1 + g.IntN(sids)}
	switch n := g.IntN(20); {
	case n < 12:
		s.Kind = Burst
		size := 1 + g.IntN(6)
		if p.Slow && g.one(3) {
			size = 30 // more than a window
		}
		subscribed := false
		for range size {
			it := g.item(p, s.Conn)
			if it.Kind == Subscribe {
				if subscribed {
					continue // one at a time: who joins first would be the broker's choice
				}
				subscribed = true
			}
			s.Items = append(s.Items, it)
		}
	case n < 14:
		s.Kind = Unsub
		if g.one(2) {
			s.Max = 1 + g.IntN(12)
		}
	case n < 16:
		s.Kind, s.Abrupt = Close, g.one(2)
	case n < 18 && p.Slow:
		s.Kind, s.Conn = Kind(g.pick(int(Stall), int(Resume))), 0
	case n < 19:
		s.Kind = List
	default:
		s.Kind = Create
	}
	return s
}

func (g generator) item(p *Plan, conn int) Item {
	switch n := g.IntN(10); {
	case n < 5:
		it := Item{Kind: Send, Priority: g.pick(0, 1, 2, 2), Size: 20 + g.IntN(200), Silent: g.one(2)}
		if p.Slow {
			it.Size = g.pick(100, 10_000, 40_000)
		}
		return it
	case n < 8:
		return Item{Kind: Remove, From: g.IntN(3), Nth: g.IntN(50), Silent: g.one(3)}
	default:
		it := Item{Kind: Subscribe, Sid: 1 + g.IntN(sids), Pattern: g.pick(0, 1, 2, 3, 3, 3, 3)}
		if g.one(2) {
			it.Queue = [...]string{"q", "r"}[g.pick(0, 0, 1)]
		}
		// A member that comes to its max while it stands still drains unseen: what it was sent cannot be told then.
		if g.one(4) && (!p.Slow || conn != 0 || it.Queue == "") {
			it.Max = 1 + g.IntN(8)
		}
		return it
	}
}

// String shows a plan so that it can be read.
func (p Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, slow connection: %t\n", p.Seed, p.Slow)
	for i, box := range p.Boxes {
		fmt.Fprintf(&b, "  mailbox %d: public %t, mortal %t, max_inflight %d\n", i, box.Public, box.Mortal, box.MaxInflight)
	}
	for i, s := range p.Steps {
		fmt.Fprintf(&b, "  %2d. %s\n", i, s)
	}
	return b.String()
}

// String shows a step so that it can be read.
func (s Step) String() string {
	who := fmt.Sprintf("connection %d", s.Conn)
	switch s.Kind {
	case Create:
		return fmt.Sprintf("%s creates mailbox %d", who, s.Box)
	case Unsub:
		return fmt.Sprintf("%s UNSUB %d max %d", who, s.Sid, s.Max)
	case Close:
		return fmt.Sprintf("%s closes, abruptly: %t", who, s.Abrupt)
	case Stall:
		return who + " reads no more"
	case Resume:
		return who + " reads again"
	case List:
		return fmt.Sprintf("%s lists mailbox %d", who, s.Box)
	case Expire:
		return fmt.Sprintf("mailbox %d expires", s.Box)
	}
	var items []string
	for _, it := range s.Items {
		items = append(items, it.String())
	}
	return fmt.Sprintf("%s on mailbox %d: %s", who, s.Box, strings.Join(items, ", "))
}

// patterns are what a SUB ends in, by Item.Pattern.
var patterns = [...]string{".critical", ".urgent", "", ".*"}

// String shows an item so that it can be read.
func (it Item) String() string {
	silent := ""
	if it.Silent {
		silent = " without reply"
	}
	switch it.Kind {
	case Send:
		return fmt.Sprintf("send %s %d bytes%s", [...]string{"critical", "urgent", "normal"}[it.Priority], it.Size, silent)
	case Remove:
		return fmt.Sprintf("delete number %d of what %s%s", it.Nth, [...]string{"it holds", "is stored", "ever was"}[it.From], silent)
	}
	return fmt.Sprintf("SUB %d %q queue %q max %d", it.Sid, patterns[it.Pattern], it.Queue, it.Max)
}
