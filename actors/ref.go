package actors

import (
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/mq9-broker/broker/mq9"
)

// key names a mailbox: an account is a namespace of its own (protocol section 1).
type key struct {
	account string
	id      mq9.MailID
}

// ref is the way to one mailbox actor, shared by all who send to it. It outlives the actor, so that a sender can be told
// that the mailbox has ended instead of sending into the void.
type ref struct {
	// immutable after the spawn
	root     *actor.RootContext
	pid      *actor.PID
	box      *mq9.Mailbox
	deadline time.Time // the end of its life, on the monotonic clock

	mu struct {
		sync.RWMutex
		sealed bool // no message is taken any more
	}

	landing landing // what the store has reported to the mailbox

	left legacy // owned by the mailbox actor; what its next incarnation needs
}

func (r *ref) key() key { return key{r.box.Account, r.box.ID} }

// expired reports whether the mailbox's time is over, by the monotonic clock.
func (r *ref) expired() bool { return !time.Now().Before(r.deadline) }

// send hands the message to the mailbox actor, which will handle it. It reports false when the mailbox has
// ended; then nothing was sent.
func (r *ref) send(message any) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.mu.sealed {
		return false
	}
	r.root.Send(r.pid, message)
	return true
}

// ended reports whether no message is taken any more.
func (r *ref) ended() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.mu.sealed
}

// seal ends the taking of messages and sends last as the last one: every message that was taken stands before it.
// Only the mailbox actor calls it, once.
func (r *ref) seal(last any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.sealed = true
	r.root.Send(r.pid, last)
}
