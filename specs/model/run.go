package model

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Target is the broker under test.
type Target struct {
	Addr    string // for clients
	Monitor string // of the embedded server: tells when it has noticed the end of a connection
	Run     string // distinguishes the names of this run from those of others
}

// errLate says that a mailbox came to its end before the plan wanted it: the machine was too slow for its life.
var errLate = errors.New("a mailbox expired too early for the plan")

// window is what the broker may have chosen for a connection and not written yet (protocol section 6).
const window = 256 << 10

// runner runs one plan.
type runner struct {
	target   Target
	plan     Plan
	world    *world
	patience time.Duration
	ttl      time.Duration // of mortal mailboxes
	wake     chan bool
	prefix   string // of everything named
	serial   int    // of names

	boxes    []*boxState
	peers    [connections]*peer
	messages map[string]*message // by name
	expected map[string]func(reply []byte) error
	refusals int // -ERR frames that must come
}

// boxState is a mailbox as the runner knows it.
type boxState struct {
	*box
	plan     BoxPlan
	id       string
	deadline time.Time // a mortal one is used only before it
	mayKnow  bool      // an id may be unknown: somebody sent without asking for a reply
}

// Run runs a plan and says where the broker broke the rules. patience is how long something due may take.
func Run(target Target, plan Plan, patience time.Duration) error {
	return run(target, plan, patience, none)
}

func run(target Target, plan Plan, patience time.Duration, wrong mistake) error {
	for ttl := time.Second; ; ttl *= 2 {
		r := &runner{
			target: target, plan: plan, world: &world{wrong: wrong}, patience: patience, ttl: ttl,
			wake: make(chan bool, 1), prefix: fmt.Sprintf("%s-%d-%d", target.Run, plan.Seed, time.Now().UnixNano()),
			messages: map[string]*message{},
		}
		err := r.run()
		if !errors.Is(err, errLate) || ttl > time.Minute {
			return err
		}
	}
}

func (r *runner) run() (err error) {
	defer func() {
		for _, p := range r.peers {
			if p != nil {
				err = errors.Join(err, p.hangUp())
			}
		}
	}()
	for _, b := range r.plan.Boxes {
		state := &boxState{plan: b, box: &box{}}
		r.boxes = append(r.boxes, state)
		r.world.boxes = append(r.world.boxes, state.box)
	}
	for i, s := range r.plan.Steps {
		if err := r.step(s); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	return r.finale()
}

// step does one step and lets the broker come to rest.
func (r *runner) step(s Step) (err error) {
	p, err := r.peer(s.Conn)
	if err != nil {
		return err
	}
	if p.stalled && s.Kind != Close && s.Kind != Resume {
		return nil // nobody would read the answers
	}
	defer func() {
		if r.late() {
			err = errLate // whatever went wrong, the plan was not what was run
		}
	}()
	b := r.boxes[s.Box]
	r.expected = map[string]func([]byte) error{}
	switch s.Kind {
	case Create:
		err = r.create(p, s.Conn, b)
	case Burst:
		err = r.burst(p, s.Conn, b, s.Items)
	case Unsub:
		err = r.unsubscribe(p, s)
	case Close:
		err = r.close(s)
	case Stall:
		if err = r.settle(); err == nil {
			p.stall(true)
			p.world.stalled, p.world.stallAt, p.world.end = true, r.world.tick(), never
		}
	case Resume:
		err = r.resume(p)
	case List:
		err = r.list(p, s.Conn, b)
	case Expire:
		err = r.expire(p, s.Conn, b)
	}
	if err == nil && b.mayKnow && b.alive {
		b.mayKnow = false
		err = r.list(p, s.Conn, b)
	}
	if err != nil {
		return err
	}
	return r.settle()
}

// late reports whether a mailbox may have expired that the plan takes to be alive.
func (r *runner) late() bool {
	return slices.ContainsFunc(r.boxes, func(b *boxState) bool {
		return b.alive && b.plan.Mortal && time.Now().After(b.deadline)
	})
}

// finale lets everybody read, and looks once more whether anything comes that must not.
func (r *runner) finale() error {
	for i, p := range r.peers {
		if p == nil {
			continue
		}
		if err := r.step(Step{Kind: Resume, Conn: i}); err != nil {
			return err
		}
		for j := range r.boxes {
			if err := r.step(Step{Kind: List, Conn: i, Box: j}); err != nil {
				return fmt.Errorf("at the end: %w", err)
			}
		}
	}
	return nil
}

// peer returns a connection, which is opened if need be.
func (r *runner) peer(i int) (*peer, error) {
	if r.peers[i] == nil {
		r.serial++
		p, err := dial(r.target.Addr, r.inbox(i), r.plan.Slow && i == 0, r.wake)
		if err != nil {
			return nil, err
		}
		r.peers[i] = p
	}
	return r.peers[i], nil
}

func (r *runner) inbox(i int) string { return fmt.Sprintf("_INBOX.%s.%d", r.prefix, i) }

// request adds a request to what is to be said; check sees its reply.
func (r *runner) request(conn int, subject, body string, check func([]byte) error) string {
	r.serial++
	inbox := fmt.Sprintf("%s.%d", r.inbox(conn), r.serial)
	r.expected[inbox] = check
	return fmt.Sprintf("PUB %s %s %d\r\n%s\r\n", subject, inbox, len(body), body)
}

// exchange says something and waits until all of it took effect and was answered as expected.
func (r *runner) exchange(p *peer, text string) error {
	if err := p.say(text + "PING\r\n"); err != nil {
		return err
	}
	frames, err := p.await("PONG", r.patience)
	r.world.flushed()
	if err == nil {
		err = r.digest(p, frames)
	}
	if err != nil {
		return err
	}
	for inbox := range r.expected {
		return fmt.Errorf("no reply on %s", inbox)
	}
	if r.refusals != 0 {
		return fmt.Errorf("refusals that did not come: %d", r.refusals)
	}
	return nil
}

// settle waits until everybody has what is due and judges all of it.
func (r *runner) settle() error {
	deadline := time.NewTimer(r.patience)
	defer deadline.Stop()
	for {
		for _, p := range r.peers {
			if p != nil && !p.stalled {
				if err := r.digest(p, p.take()); err != nil {
					return err
				}
			}
		}
		missing := r.world.rest()
		if missing == "" {
			break
		}
		select {
		case <-r.wake:
		case <-deadline.C:
			return errors.Join(errors.New(missing), r.world.judge())
		}
	}
	err := r.world.judge()
	for _, p := range r.peers {
		if p == nil {
			continue
		}
		for sid, m := range p.subs {
			if m.left != never { // it had its max
				delete(p.subs, sid)
			}
		}
	}
	return err
}
