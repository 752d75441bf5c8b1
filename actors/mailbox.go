package actors

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/mq9-broker/broker/mq9"
)

// mailbox is one mailbox: it owns the three priority queues, the TTL timer, the subscriptions and the
// links to its queue groups. It decides what is stored, who gets it next and when all of it ends.
//
// Spawned by the router, supervised at the root. It sends to its queue groups, the router, the directory and itself, and
// calls outlets and the store, none of which block but for reading bodies from disk. Everything durable and [legacy] survives
// a crash; normal messages do not.
type mailbox struct {
	// immutable
	broker *Broker
	at     *ref

	// owned
	*legacy               // what the next incarnation needs
	*contents             // nil until first needed, so that an idle mailbox is small; see load
	lastAt    int64       // acceptance of the latest message, Unix nanoseconds; times never go back
	lastID    mq9.MsgID   // the latest accepted message
	atRest    *depths     // while contents is nil: what is on disk; nil = not counted yet
	timer     *time.Timer // sends expire at the end of the mailbox's life
}

// contents is what a mailbox that is in use keeps in memory.
type contents struct {
	queues  queues   // the index, and the bytes of normal messages
	memory  int64    // bytes of its normal messages, as Limits counts them
	waiting []waiter // LISTs that wait for what was sent before them to be stored
	warm    []warm   // durable messages whose bytes are in memory, oldest first
	warmth  int      // their bytes
	stirred bool     // a turn is on its way
	due     int      // how many readers have to be looked at, from place on
	place   int      // of the reader that was looked at last
}

// phase is where a mailbox is in its life.
type phase uint8

const (
	unborn phase = iota // its creation is not yet handed to the store
	coming              // its creation is being stored: operations wait
	living
	ending // its time is over: every operation is answered 404
)

// legacy is what an incarnation of a mailbox actor leaves to the next after a crash. It belongs to the actor.
type legacy struct {
	phase   phase
	crashed bool      // an incarnation did
	birth   *birth    // nil once the mailbox lives
	readers []*reader // independent subscriptions
	groups  map[string]*group
}

// birth is what waits for a mailbox's creation to be on disk.
type birth struct {
	creators []*create // CREATEs to answer; the first one made the mailbox
	deferred []any     // operations to do
}

// waiter is a LIST and the last message accepted before it.
type waiter struct {
	op     *list
	behind mq9.MsgID
}

type (
	// created says that the creation is on disk, or why not.
	created struct{ err error }

	// expire ends the mailbox if its time is over.
	expire struct{}

	// farewell is the last message of a mailbox that ended.
	farewell struct{}
)

func newMailbox(b *Broker, at *ref) *mailbox {
	return &mailbox{broker: b, at: at, legacy: &at.left}
}

// Receive handles one message; see the message types.
func (m *mailbox) Receive(ctx actor.Context) {
	defer answerCrash(ctx.Message())
	switch message := ctx.Message().(type) {
	case *actor.Started:
		m.start()
		m.collect() // what a crash has interrupted
		m.watch()
	case *actor.Restarting:
		m.abandon()
	case *actor.Stopping:
		m.stop()
	case *actor.Stopped:
		m.broker.alive.Done()
	case *landed:
		m.collect()
		m.watch()
	default:
		// Of others it hears by a landed: a crash there shall not cost the message at hand.
		if m.at.landing.answered.Load() {
			m.collect()
		}
		m.handle(ctx, message)
		m.watch()
	}
}

// handle does what is not about the actor's own life.
func (m *mailbox) handle(ctx actor.Context, message any) {
	switch message := message.(type) {
	case *created:
		m.created(message.err)
	case *removed:
		m.removed(message)
	case *deliver:
		m.deliver()
	case *proceed:
		m.proceed(message.reader)
	case *expire:
		m.expireIfDue()
	case *look:
		m.look(message)
	case *lookGroup:
		m.lookGroup(message)
	case *farewell:
		ctx.Stop(ctx.Self())
	default:
		m.operate(message)
	}
}

// operate handles what clients and queue groups ask, in the phase that the mailbox is in.
func (m *mailbox) operate(message any) {
	m.expireIfDue()
	switch m.phase {
	case ending:
		m.decline(message)
		return
	case coming:
		if op, ok := message.(*create); ok {
			m.birth.creators = append(m.birth.creators, op)
		} else {
			m.birth.deferred = append(m.birth.deferred, message)
		}
		return
	}
	switch op := message.(type) {
	case *create:
		op.answer(mq9.NewCreateReply(m.at.box, false), nil)
	case *run:
		m.store(op)
	case *remove:
		m.remove(op)
	case *list:
		m.list(op)
	case *subscribe:
		m.subscribe(op)
	case *leave:
		m.leave(op)
	case *resume:
		m.resume(op.sub)
	case *want:
		m.wanted(op)
	case *pause:
		m.pause(op)
	case *rest:
		m.rested(op)
	case *release:
		m.release(op)
	case *empty:
		m.groupEmpty(op)
	case *groupRestarted:
		m.groupRestarted(op)
	}
}

// decline answers what comes after the mailbox's end.
func (m *mailbox) decline(message any) {
	switch op := message.(type) {
	case *leave:
		m.broker.root.Send(m.broker.router, op) // it is among the orphans
	case *create:
		m.broker.root.Send(m.broker.router, op) // to be made afresh
	case *resume:
		op.sub.out.Idle()
	case operation:
		op.refuse(mq9.ErrNoMailbox)
	}
}

// start begins an incarnation: the first arms the timer and hands the creation to the store, a later one carries on.
func (m *mailbox) start() {
	at := m.at
	m.lastAt = at.box.Created
	m.timer = time.AfterFunc(time.Until(at.deadline), func() { at.send(&expire{}) })
	switch m.phase {
	case unborn:
		m.phase = coming
		m.broker.store.Commit(mq9.CreateMailbox{Mailbox: at.box}, func(err error) { at.send(&created{err}) })
	case living: // after a crash
		for _, g := range m.groups {
			m.broker.root.Send(g.pid, &normalsLost{})
		}
		m.catchUp()
		if len(m.readers)+len(m.groups) > 0 && m.load() == nil {
			m.stir()
		}
	}
}

// created ends the wait for the creation: its creators are answered and what was deferred is done.
func (m *mailbox) created(err error) {
	creators := take(&m.birth.creators)
	if err != nil {
		m.phase = ending
		for _, op := range creators {
			op.refuse(mq9.AsError(err))
		}
		for _, message := range m.birth.deferred {
			if op, ok := message.(operation); ok {
				op.refuse(mq9.AsError(err))
			}
		}
		m.birth = nil
		m.leaveTheStage()
		return
	}
	m.phase = living
	m.atRest = &noDepths
	m.broker.usage.created.Add(1)
	if m.at.box.Public {
		m.broker.root.Send(m.broker.directory, &listed{m.at.box})
	}
	for i, op := range creators {
		op.answer(mq9.NewCreateReply(m.at.box, i == 0), nil)
	}
	m.expireIfDue() // its timer may have fired meanwhile
	m.catchUp()
}

// catchUp does what was deferred, one by one, so that a crash costs the one at hand alone.
func (m *mailbox) catchUp() {
	if m.birth == nil {
		return
	}
	for len(m.birth.deferred) > 0 {
		message := m.birth.deferred[0]
		m.birth.deferred = m.birth.deferred[1:]
		func() {
			defer answerCrash(message)
			m.operate(message)
		}()
	}
	m.birth = nil
}
