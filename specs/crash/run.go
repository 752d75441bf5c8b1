package crash

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// Run is a chain of lives of one broker. It belongs to the goroutine of a Ginkgo spec, which it fails when the broker breaks a promise.
type Run struct {
	Seed uint64

	broker  *harness.Broker
	history *History
	world   world
	checker *Checker

	kills    int
	early    int           // kills before the broker was ready
	began    time.Time     // of the run
	slowest  time.Duration // longest start
	violated bool
}

// NewRun prepares a run of the given binary and flags. Its files go when the spec ends, but for the history of a failed one.
func NewRun(binary string, seed uint64, flags ...string) *Run {
	GinkgoHelper()
	history, err := NewHistory()
	Expect(err).NotTo(HaveOccurred())
	r := &Run{Seed: seed, history: history, checker: NewChecker(), began: time.Now()}
	r.broker = harness.NewBroker(binary, GinkgoT().TempDir(), flags...)
	// An address of this process alone, so that nobody takes the ports between two lives.
	host := fmt.Sprintf("127.70.%d.%d", os.Getpid()>>8&255, 1+os.Getpid()&127)
	r.broker.Addr, r.broker.HTTP = harness.FreeAddr(host), harness.FreeAddr(host)
	DeferCleanup(func() {
		r.broker.Kill()
		Expect(r.history.Close(r.violated)).To(Succeed())
	})
	return r
}

// Kills lives and dies so many times, and then lives once more to be read and stopped in good order.
func (r *Run) Kills(n int) {
	GinkgoHelper()
	for r.kills < n {
		r.live(newPlan(r.Seed, r.kills+1))
		r.kills++
		r.check()
	}
	r.start()
	reader := r.read()
	r.history.Add(Event{Kind: Stopping})
	reader.close()
	r.broker.Stop()
	r.check()
	r.judge(r.checker.Finish())
}

// live is one life up to its SIGKILL.
func (r *Run) live(p plan) {
	GinkgoHelper()
	if p.starting > 0 {
		r.early++
		r.history.Add(Event{Kind: Starting})
		r.broker.Launch()
		<-time.After(p.starting)
		r.kill()
		return
	}
	r.start()
	reader := r.read()

	var (
		working sync.WaitGroup
		left    atomic.Int64
		enough  = make(chan struct{})
	)
	left.Store(int64(p.operations))
	for _, draws := range p.workers {
		w := &worker{addr: r.broker.Addr, history: r.history, world: &r.world}
		working.Go(func() {
			defer w.close()
			for w.connect(); !w.gone; {
				next := next(draws)
				next.do(w, next)
				if left.Add(-1) == 0 {
					close(enough)
				}
			}
		})
	}
	select {
	case <-enough:
	case <-time.After(2 * requestTimeout): // something hangs: the Checker will say what
	}
	r.kill()
	working.Wait()
	reader.close()
}

// start launches the broker and waits until it is ready.
func (r *Run) start() {
	GinkgoHelper()
	began := time.Now()
	r.history.Add(Event{Kind: Starting})
	r.broker.Start()
	r.slowest = max(r.slowest, time.Since(began))
}

// read looks at everything that outlived the last kill, through a connection that stays.
func (r *Run) read() *worker {
	w := &worker{addr: r.broker.Addr, history: r.history, world: &r.world}
	if w.connect() {
		w.readAll()
	}
	return w
}

func (r *Run) kill() {
	GinkgoHelper()
	r.history.Add(Event{Kind: Killing})
	r.broker.Kill()
}

// check goes over what happened since the last check, and over the log.
func (r *Run) check() {
	GinkgoHelper()
	events, err := r.history.Cut()
	Expect(err).NotTo(HaveOccurred())
	for _, e := range events {
		r.checker.Feed(e)
	}
	r.judge(r.checker.Violations())
	r.broker.CheckLog()
}

func (r *Run) judge(violations []string) {
	GinkgoHelper()
	if len(violations) == 0 {
		return
	}
	r.violated = true
	shown := violations[:min(len(violations), 20)]
	text := ""
	for _, v := range shown {
		text += "\n  " + v
	}
	Fail(fmt.Sprintf("%s\n%d of the violations:%s\nthe history is in %s; replay with -seed %d",
		r.Summary(), len(shown), text, r.history.Path(), r.Seed))
}

// Summary is the run in one line.
func (r *Run) Summary() string {
	t := r.checker.Totals()
	return fmt.Sprintf("crash: seed %d: %d operations, %d messages acknowledged, %d deleted, %d mailboxes created, %d calls in flight at %d kills (%d while starting), %d violations; slowest start %v, %v in all",
		r.Seed, t.Operations, t.Acknowledged, t.Deleted, t.Mailboxes, t.Open, r.kills, r.early, t.Violations,
		r.slowest.Round(time.Millisecond), time.Since(r.began).Round(time.Second))
}
