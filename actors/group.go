package actors

import (
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/mq9-broker/broker/mq9"
)

// groupActor is one queue group (protocol section 6): it owns the members and who holds which undeleted message, gives each
// message to the member with the fewest, and hands a leaver's messages on. It has no messages of its own: its
// mailbox offers them within the credit it gives, and what no member can take goes back into line there.
//
// Spawned by its mailbox, supervised at the root, stopped by its mailbox's disband. Only its mailbox and its own timers send to
// it. After a crash its mailbox lets the members join again and hands out every undeleted message anew.
type groupActor struct {
	// immutable
	broker *Broker
	at     *ref // its mailbox
	name   string

	// owned
	members []*member // draining ones included
	holders map[mq9.MsgID]*member
	again   map[mq9.MsgID]struct{} // held by a member that went, to be handed out again; nil = none
	joins   int                    // processed
	turn    uint64                 // the last turn taken, for round robin between equals
	one     [1]*mq9.Message        // what is being offered to a member

	flow  flow
	set   mq9.PrioritySet // of the credit given
	count int             // credit not yet used, as the group knows it
	bytes int
}

// member is one subscription of the group. It belongs to the group actor.
type member struct {
	sub      *Subscription
	holds    map[mq9.MsgID]struct{}
	turn     uint64       // when it got its last message
	parked   bool         // its outlet has no room and will call Resume
	wish     mq9.Priority // what it was parked with
	woken    bool         // its outlet called Resume and is owed an Idle
	ended    bool         // its outlet takes no more; its leave is on the way
	draining bool         // it left by UNSUB and keeps what it holds for now
	grace    *time.Timer  // ends the draining; nil unless draining
}

// Messages to a group.
type (
	join        struct{ op *subscribe }        // a new member
	offer       struct{ message *mq9.Message } // a message for some member
	deleted     struct{ id mq9.MsgID }         // a message is gone
	done        struct{}                       // no more offers for now
	paused      struct{}                       // no more offers until the next want
	normalsLost struct{}                       // the mailbox crashed: held normal messages do not exist any more
	disband     struct{}                       // the last message
	graceOver   struct{ m *member }            // from the member's timer
)

func (j *join) refuse(err *mq9.Error) { j.op.refuse(err) }
func (j *join) about() mq9.MailID     { return j.op.sub.key.id }

// newGroupActor returns a producer: its first call makes the group, a later one replaces a crashed incarnation.
func newGroupActor(b *Broker, at *ref, name string) actor.Producer {
	return func() actor.Actor {
		return &groupActor{broker: b, at: at, name: name, holders: map[mq9.MsgID]*member{}}
	}
}

// Receive handles one message; see the message types.
func (g *groupActor) Receive(ctx actor.Context) {
	defer answerCrash(ctx.Message())
	switch message := ctx.Message().(type) {
	case *actor.Restarting:
		g.stopTimers()
		g.at.send(&groupRestarted{g.name})
	case *actor.Stopping:
		g.stopTimers()
	case *actor.Stopped:
		g.broker.alive.Done()
	case *disband:
		ctx.Stop(ctx.Self())
	case *join:
		g.join(message.op)
	case *leave:
		g.leave(ctx, message)
	case *resume:
		g.resume(message.sub)
	case *offer:
		g.offered(message.message)
	case *done:
		g.idle()
	case *paused:
		g.paused()
	case *deleted:
		g.deleted(message.id)
	case *lookGroup:
		g.look(message)
	case *normalsLost:
		for id := range g.holders {
			if !id.Priority().Durable() {
				g.deleted(id)
			}
		}
	case *graceOver:
		if message.m.draining && slices.Contains(g.members, message.m) {
			g.dismiss(message.m)
			g.ask()
		}
	}
}

// join adds a member. What draining members still hold is handed out again.
func (g *groupActor) join(op *subscribe) {
	g.joins++
	// They go once the newcomer is in: a group whose last member drains must not seem empty.
	draining := slices.DeleteFunc(slices.Clone(g.members), func(m *member) bool { return !m.draining })
	if m := op.sub.member; m == nil || !slices.Contains(g.members, m) { // else it joins again after a crash
		m = &member{sub: op.sub, holds: map[mq9.MsgID]struct{}{}}
		op.sub.member = m
		g.members = append(g.members, m)
	}
	for _, m := range draining {
		g.dismiss(m)
	}
	take(&op.done)(nil)
	g.ask()
}

// leave takes a member out when its connection ended or it holds nothing; otherwise it drains.
func (g *groupActor) leave(ctx actor.Context, op *leave) {
	m := op.sub.member
	switch {
	case m == nil || !slices.Contains(g.members, m):
		if len(g.members) == 0 {
			g.at.send(&empty{g.name, g.joins})
		}
	case op.closed || len(m.holds) == 0:
		g.dismiss(m)
		g.ask()
	case !m.draining:
		m.draining = true
		root, self := g.broker.root, ctx.Self()
		m.grace = time.AfterFunc(g.broker.config.DrainGrace, func() { root.Send(self, &graceOver{m}) })
	}
	op.answer()
}

// dismiss removes a member and puts what it holds back in line.
func (g *groupActor) dismiss(m *member) {
	if m.grace != nil {
		m.grace.Stop()
	}
	i := slices.Index(g.members, m)
	g.members = slices.Delete(g.members, i, i+1)
	m.sub.holds.Store(false)
	if len(m.holds) > 0 {
		ids := make([]mq9.MsgID, 0, len(m.holds))
		if g.again == nil {
			g.again = map[mq9.MsgID]struct{}{}
		}
		for id := range m.holds {
			ids = append(ids, id)
			g.again[id] = struct{}{}
			delete(g.holders, id)
		}
		g.recall() // what is on its way was chosen before these came back
		g.at.send(&release{g.name, ids})
	}
	if len(g.members) == 0 {
		g.at.send(&empty{g.name, g.joins})
	}
}

// resume notes that a member's outlet has room again.
func (g *groupActor) resume(sub *Subscription) {
	m := sub.member
	if m == nil || m.draining || !slices.Contains(g.members, m) {
		sub.out.Idle()
		return
	}
	m.parked, m.woken = false, true
	g.ask()
}

// offered gives a message to a member, or back.
func (g *groupActor) offered(message *mq9.Message) {
	if g.flow != halted {
		g.count--
		g.bytes -= message.Size() + offerCost
	}
	if g.flow == halting || !g.place(message) {
		if g.flow == flowing {
			g.recall()
		}
		g.at.send(&release{g.name, []mq9.MsgID{message.ID}})
		return
	}
	g.ask()
}

// place gives the message to the member that holds the fewest, round robin between equals; a member whose outlet is
// full is passed over. It reports false when there is none.
func (g *groupActor) place(message *mq9.Message) bool {
	for {
		m := g.fewest(message.Priority)
		if m == nil {
			return false
		}
		m.sub.holds.Store(true) // before it can be asked whether it does
		g.one[0] = message
		_, verdict := m.sub.out.Offer(g.one[:])
		g.one[0] = nil
		if verdict != Granted {
			m.sub.holds.Store(len(m.holds) > 0)
			if verdict == Ended {
				m.ended = true
			} else {
				m.parked, m.wish, m.woken = true, message.Priority, false
			}
			continue
		}
		g.turn++
		m.turn = g.turn
		m.parked = false
		m.holds[message.ID] = struct{}{}
		g.holders[message.ID] = m
		if _, again := g.again[message.ID]; again {
			delete(g.again, message.ID)
			g.broker.tallyOf(g.at).redelivered[message.Priority].Add(1)
		}
		return true
	}
}

// fewest chooses among the members that can be asked to take a message of this priority.
func (g *groupActor) fewest(p mq9.Priority) *member {
	var best *member
	for _, m := range g.members {
		if !g.able(m) || !m.sub.set.Has(p) || m.parked && p >= m.wish {
			continue
		}
		if best == nil || len(m.holds) < len(best.holds) || len(m.holds) == len(best.holds) && m.turn < best.turn {
			best = m
		}
	}
	return best
}

// able reports whether the member may hold one more message.
func (g *groupActor) able(m *member) bool {
	most := g.at.box.MaxInflight
	return !m.draining && !m.ended && (most == 0 || len(m.holds) < most)
}

// deleted frees the one who held the message.
func (g *groupActor) deleted(id mq9.MsgID) {
	m := g.holders[id]
	if m == nil {
		delete(g.again, id)
		return
	}
	delete(g.holders, id)
	delete(m.holds, id)
	if len(m.holds) == 0 {
		m.sub.holds.Store(false)
		if m.draining {
			g.dismiss(m)
		}
	}
	g.ask()
}

// stopTimers ends the timers of draining members.
func (g *groupActor) stopTimers() {
	for _, m := range g.members {
		if m.grace != nil {
			m.grace.Stop()
		}
	}
}
