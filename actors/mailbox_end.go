package actors

import "github.com/mq9-broker/broker/mq9"

// How a mailbox ends: by its time, by a crash, and with the broker.

// expireIfDue ends the mailbox when its time is over: in memory, in the store and in the listing (protocol section 4).
func (m *mailbox) expireIfDue() {
	if m.phase != living || !m.at.expired() {
		return
	}
	m.phase = ending
	box := m.at.box
	// Handed over before the router hears of the end, so before a mailbox of this name can be created again.
	m.broker.store.Commit(mq9.ExpireMailbox{Mailbox: box}, m.broker.logCommit("an expired mailbox"))
	if box.Public {
		m.broker.root.Send(m.broker.directory, &unlisted{box})
	}
	m.broker.usage.expired.Add(1)
	if d := m.depths(); d != nil {
		for p := range d {
			m.tally().expired[p].add(int(d[p].Messages), d[p].Bytes)
		}
	}
	m.empty(mq9.ErrNoMailbox)
	m.leaveTheStage()
}

// leaveTheStage tells everybody that the mailbox has ended, and stops it when its last message is answered.
func (m *mailbox) leaveTheStage() {
	m.timer.Stop()
	orphans := make([]*Subscription, 0, len(m.readers))
	for _, r := range m.readers {
		r.sub.reader = nil
		r.rest(r.sub.out) // what room it has set aside is for others now
		orphans = append(orphans, r.sub)
	}
	for _, g := range m.groups {
		orphans = append(orphans, g.subs...)
		m.broker.root.Send(g.pid, &disband{})
	}
	m.readers, m.groups = nil, nil
	m.broker.root.Send(m.broker.router, &ended{m.at, orphans})
	m.at.seal(&farewell{})
}

// abandon ends an incarnation that crashed.
func (m *mailbox) abandon() {
	m.crashed = true
	m.timer.Stop()
	if d := m.depths(); d != nil { // what is on disk is found again
		for p := range d {
			m.tally().found[p].add(-int(d[p].Messages), -d[p].Bytes)
		}
	}
	m.empty(errCrashed)
}

// empty lets go of what is in memory, and answers those who wait for it.
func (m *mailbox) empty(why *mq9.Error) {
	if m.contents == nil {
		return
	}
	for _, w := range m.waiting {
		w.op.refuse(why)
	}
	m.broker.usage.memory.Add(-m.memory)
	m.contents = nil
}

// stop ends the actor with the broker, or after its farewell.
func (m *mailbox) stop() {
	m.timer.Stop()
	for _, g := range m.groups {
		m.broker.root.Stop(g.pid)
	}
}

// logCommit is the callback of a change that nobody waits for.
func (b *Broker) logCommit(what string) func(error) {
	return func(err error) {
		if err != nil {
			b.config.Log.Error("the store did not remove "+what+"; it is removed at the next start", "error", err)
		}
	}
}
