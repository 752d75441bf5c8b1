package frontend

import (
	"sync"
	"time"

	"github.com/mq9-broker/broker/mq9"
)

// keepAnswers bounds how many deliveries of a connection are remembered for allow_responses. Beyond it the oldest are forgotten.
const keepAnswers = 64 << 10

// answers remembers what was delivered to a connection whose user may answer (allow_responses) what he may not
// publish to otherwise. It is safe for concurrent use.
type answers struct {
	most  int           // immutable; answers to one delivery, negative = no limit
	lasts time.Duration // immutable; how long after the delivery, negative = no limit

	mu    sync.Mutex
	open  map[answerable]answer
	order []answerable // the keys of open, and of what has been answered since, oldest first
}

// answerable names a message that was sent to the client.
type answerable struct {
	mailbox mq9.MailID
	message mq9.MsgID
}

// answer is what is known of a delivery.
type answer struct {
	at   time.Time
	used int
}

func newAnswers(most int, lasts time.Duration) *answers {
	return &answers{most: most, lasts: lasts, open: map[answerable]answer{}}
}

// like reports whether both follow the same rule.
func (a *answers) like(b *answers) bool {
	return a != nil && b != nil && a.most == b.most && a.lasts == b.lasts
}

// deliver notes a delivery: its reply subject, which deletes it, may be published to.
func (a *answers) deliver(id mq9.MailID, message mq9.MsgID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key, now := answerable{id, message}, time.Now()
	if _, again := a.open[key]; !again {
		a.order = append(a.order, key)
	}
	a.open[key] = answer{at: now}
	drop := 0
	for _, oldest := range a.order {
		known, there := a.open[oldest]
		if there && len(a.order)-drop <= keepAnswers && !a.over(known, now) {
			break
		}
		delete(a.open, oldest)
		drop++
	}
	a.order = a.order[drop:]
}

// use takes one answer to what was delivered, and reports whether there was one to take.
func (a *answers) use(subject string) bool {
	op, err := mq9.ParsePublish(subject)
	if err != nil || op.Verb != mq9.Delete {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	key := answerable{op.MailID, op.MsgID}
	known, there := a.open[key]
	if !there {
		return false
	}
	known.used++
	if a.over(known, time.Now()) {
		delete(a.open, key)
		return false
	}
	a.open[key] = known
	return true
}

// over reports whether an answer is no longer one that may be given.
func (a *answers) over(known answer, now time.Time) bool {
	return a.most >= 0 && known.used > a.most || a.lasts >= 0 && now.Sub(known.at) > a.lasts
}
