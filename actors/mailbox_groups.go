package actors

import (
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/mq9-broker/broker/mq9"
)

// A mailbox's side of its queue groups. To a mailbox, a group is one reader: it has a view and is offered what comes next
// in it, as far as the credit goes that the group gave. Which member gets a message is the group's affair (group.go).

// group is a queue group as its mailbox sees it. It belongs to the mailbox actor and survives its crash.
type group struct {
	pid   *actor.PID
	subs  []*Subscription // the members, but for draining ones
	joins int             // how many joins were sent to the group
	view  view

	// the credit that is left: offers go out while flowing, for these priorities, within count and bytes
	flowing bool
	set     mq9.PrioritySet
	count   int
	bytes   int
	asked   bool         // the group wants to hear when the offers end
	wish    mq9.Priority // while not flowing: only what is more pressing is shown to the group
}

// Messages from a group to its mailbox.
type (
	// want adds credit: offer messages of these priorities, and say done when there are no more.
	want struct {
		name         string
		set          mq9.PrioritySet
		count, bytes int // bytes of Size plus offerCost each
	}

	// pause takes the credit back; it is confirmed by paused, behind the last offer.
	pause struct{ name string }

	// rest says that everything offered before the pause has come back, and that no member has room.
	rest struct{ name string }

	// release puts messages back in line.
	release struct {
		name string
		ids  []mq9.MsgID
	}

	// empty says that the last member is gone, after so many joins.
	empty struct {
		name  string
		joins int
	}

	// groupRestarted says that a group crashed and forgot who holds what.
	groupRestarted struct{ name string }
)

// offerCost is what an offer counts beyond the message's Size, so that empty messages are bounded too.
const offerCost = 128

// join makes the subscription a member of its group, which is made with its first member.
func (m *mailbox) join(op *subscribe) {
	name := op.sub.queue
	g := m.groups[name]
	if g == nil {
		if m.groups == nil {
			m.groups = map[string]*group{}
		}
		b, at := m.broker, m.at
		b.alive.Add(1)
		g = &group{pid: b.spawn(newGroupActor(b, at, name))}
		m.groups[name] = g
		b.root.Send(b.router, &grouped{at, name})
	}
	g.subs = append(g.subs, op.sub)
	g.joins++
	m.broker.root.Send(g.pid, &join{op})
}

// part passes a leave on to the group, which knows what the leaver holds.
func (m *mailbox) part(op *leave) {
	g := m.groups[op.sub.queue]
	if g == nil {
		op.answer()
		return
	}
	if i := slices.Index(g.subs, op.sub); i >= 0 {
		g.subs = slices.Delete(g.subs, i, i+1)
	}
	m.broker.root.Send(g.pid, op)
}

// resumeMember passes on that a member's outlet has room again.
func (m *mailbox) resumeMember(sub *Subscription) {
	if g := m.groups[sub.queue]; g != nil {
		m.broker.root.Send(g.pid, &resume{sub})
	} else {
		sub.out.Idle()
	}
}

// tellGroups tells every group that a message was deleted: nobody holds it any more.
func (m *mailbox) tellGroups(id mq9.MsgID) {
	for _, g := range m.groups {
		m.broker.root.Send(g.pid, &deleted{id})
	}
}

// wanted takes new credit.
func (m *mailbox) wanted(w *want) {
	g := m.groups[w.name]
	if g == nil {
		return
	}
	g.flowing, g.set, g.asked = true, w.set, true
	g.count += w.count
	g.bytes += w.bytes
	m.pumpGroup(g)
	m.cool()
}

// pumpGroup offers what comes next while the credit lasts. A group without credit is shown a message more pressing
// than what it could not place, so that its members' outlets learn of it.
func (m *mailbox) pumpGroup(g *group) {
	if m.load() != nil { // after a crash; with the next event it is tried again
		return
	}
	for g.flowing && g.count > 0 && g.bytes > 0 {
		p, e := m.queues.next(&g.view, g.set)
		if e == nil || !m.offer(g, p, e) {
			break
		}
	}
	if g.flowing && g.asked {
		g.asked = false
		m.broker.root.Send(g.pid, &done{})
	}
	if !g.flowing && len(g.subs) > 0 {
		if p, e := m.queues.next(&g.view, mq9.AllPriorities); e != nil && p < g.wish {
			g.wish = p
			m.offer(g, p, e)
		}
	}
}

// offer sends one message to the group, or drops it when it is gone; it reports false when the store failed.
func (m *mailbox) offer(g *group, p mq9.Priority, e *entry) bool {
	id := e.id
	if e.message == nil && !m.body(p, e) {
		return m.queues[p].find(id) == nil
	}
	message := e.message
	g.view.advance(p, message.ID)
	if g.flowing {
		g.count--
		g.bytes -= message.Size() + offerCost
	}
	m.broker.root.Send(g.pid, &offer{message})
	return true
}

// pause takes the credit back.
func (m *mailbox) pause(op *pause) {
	if g := m.groups[op.name]; g != nil {
		g.flowing, g.asked, g.count, g.bytes = false, false, 0, 0
		g.wish = 0 // nothing, until what is on its way has come back: it may stand before what is next now
		m.broker.root.Send(g.pid, &paused{})
	}
}

// rested shows the group what comes next, so that its members' outlets know what they wait for.
func (m *mailbox) rested(op *rest) {
	if g := m.groups[op.name]; g != nil && !g.flowing {
		g.wish = mq9.Priorities
		m.pumpGroup(g)
		m.cool()
	}
}

// release puts messages back at their places in the group's view.
func (m *mailbox) release(op *release) {
	g := m.groups[op.name]
	if g == nil {
		return
	}
	g.view.giveBack(op.ids)
	m.pumpGroup(g)
	m.cool()
}

// groupEmpty ends a group whose last member is gone, unless somebody joined meanwhile.
func (m *mailbox) groupEmpty(op *empty) {
	if g := m.groups[op.name]; g != nil && g.joins == op.joins {
		delete(m.groups, op.name)
		m.broker.root.Send(m.broker.router, &ungrouped{m.at, op.name})
		m.broker.root.Send(g.pid, &disband{})
	}
}

// groupRestarted begins the group's reading anew: every undeleted message is handed out again, since nobody knows who held what.
func (m *mailbox) groupRestarted(op *groupRestarted) {
	g := m.groups[op.name]
	if g == nil {
		return
	}
	g.view, g.flowing, g.count, g.bytes, g.joins = view{}, false, 0, 0, 0
	for _, sub := range g.subs {
		g.joins++
		m.broker.root.Send(g.pid, &join{&subscribe{sub, func(*mq9.Error) {}}})
	}
	if len(g.subs) == 0 {
		m.groupEmpty(&empty{op.name, 0})
	}
}
