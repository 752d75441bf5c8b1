package actors

import "github.com/mq9-broker/broker/mq9"

// How a group and its mailbox agree on what is offered. While some member can take more, the group gives credit (want). When
// an offer finds no member, the group gives it back, takes the credit back (pause) and returns whatever was
// already on its way, until the mailbox confirms (paused): so the order of its view stays right.

// flow is whether the mailbox offers messages.
type flow uint8

const (
	halted  flow = iota // no credit is out
	flowing             // credit is out
	halting             // the credit was taken back; offers sent before that still come, and go back
)

// Credit that a group keeps out: enough that offers do not wait for it, little enough to give back what cannot be placed.
const (
	creditBytes = 64 << 10
	creditCount = 1024
)

// ask gives the mailbox credit for what the members can take now, when they can take more than it has.
func (g *groupActor) ask() {
	if g.flow == halting {
		return
	}
	var (
		set   mq9.PrioritySet
		room  int
		woken bool
	)
	for _, m := range g.members {
		if !g.able(m) || m.parked {
			continue
		}
		set |= m.sub.set
		woken = woken || m.woken
		if most := g.at.box.MaxInflight; most > 0 {
			room += most - len(m.holds)
		} else {
			room = creditCount
		}
	}
	if set == 0 {
		return
	}
	if g.flow == flowing && set&^g.set != 0 {
		g.recall() // what is on its way was chosen when the more pressing did not count
		return
	}
	w := &want{name: g.name, set: set}
	if room = min(room, creditCount); g.count < room && (g.count <= creditCount/2 || room < creditCount) {
		w.count = room - g.count
	}
	if g.bytes <= creditBytes/2 {
		w.bytes = creditBytes - g.bytes
	}
	if w.count == 0 && w.bytes == 0 && set == g.set && !woken && g.flow == flowing {
		return
	}
	g.flow, g.set = flowing, set
	g.count += w.count
	g.bytes += w.bytes
	g.at.send(w)
}

// recall takes the credit back, if any is out: whatever is on its way from the mailbox is returned, and what comes next is
// chosen anew.
func (g *groupActor) recall() {
	if g.flow != halting {
		g.flow = halting
		g.at.send(&pause{g.name})
	}
}

// paused ends the halting: nothing is on its way any more, and whoever has room by now may be offered messages.
func (g *groupActor) paused() {
	g.flow, g.set, g.count, g.bytes = halted, 0, 0, 0
	g.idle()
	g.ask()
	if g.flow == halted {
		g.at.send(&rest{g.name})
	}
}

// idle tells the outlets that were woken that there is nothing for them now.
func (g *groupActor) idle() {
	for _, m := range g.members {
		if m.woken {
			m.woken = false
			m.sub.out.Idle()
		}
	}
}
