package actors

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// supervisor is the guardian of every actor of the broker: one for one, with back-off, without end. The mailboxes are no
// actor's children, since protoactor-go keeps stopped children in their parent's memory; they share this guardian instead.
//
// It owns nothing but counters; its method is called on the crashed actor's guardian and is safe for concurrent use.
type supervisor struct {
	log      *slog.Logger             // immutable
	hash     func(message any) string // immutable; hashed address of the mailbox a message is about, or ""
	restarts atomic.Uint64
}

var _ actor.SupervisorStrategy = (*supervisor)(nil)

const (
	firstBackOff  = 5 * time.Millisecond
	longestDelay  = 5 * time.Second
	backOffMemory = 30 * time.Second // failures older than this no longer lengthen the delay
)

// HandleFailure restarts the actor that crashed, later with every failure of the last half minute. Until then its
// messages wait; nobody else notices.
func (s *supervisor) HandleFailure(_ *actor.ActorSystem, all actor.Supervisor, crashed *actor.PID, stats *actor.RestartStatistics, reason, message any) {
	stats.Fail()
	delay := backOff(stats.NumberOfFailures(backOffMemory))
	s.restarts.Add(1)
	s.log.Error("an actor crashed and is restarted", "mailbox", s.hash(message), "reason", reason, "on", fmt.Sprintf("%T", message), "delay", delay)
	time.AfterFunc(delay, func() { all.RestartChildren(crashed) })
}

// backOff is the delay before the restart after the nth failure: doubling from firstBackOff to longestDelay.
func backOff(failures int) time.Duration {
	delay := firstBackOff
	for range failures - 1 {
		if delay *= 2; delay >= longestDelay {
			return longestDelay
		}
	}
	return delay
}

// crash carries a panic to the supervisor with the place where it happened, which is lost otherwise.
type crash struct {
	reason any
	stack  []byte
}

// String shows the reason and the stack for the log. Neither holds message bytes or addresses.
func (c crash) String() string { return fmt.Sprintf("%v\n%s", c.reason, c.stack) }

// answerCrash is deferred by every actor around one message: if handling it panics, whoever waits for an answer gets
// code 500, and the panic goes on to the supervisor. (protoactor-go does not hand the message over again.)
func answerCrash(message any) {
	reason := recover()
	if reason == nil {
		return
	}
	if op, ok := message.(operation); ok {
		op.refuse(errCrashed)
	}
	panic(crash{reason, debug.Stack()})
}
