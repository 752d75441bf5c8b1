package actors

import (
	"bytes"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

// bomb is an operation that panics in whichever actor handles it.
func bomb(id mq9.MailID) *run {
	armed := true
	r := takeRun(id)
	r.add(Draft{Priority: mq9.Normal}, receipt(func(_ mq9.MsgID, err *mq9.Error) {
		if err == nil && armed {
			armed = false
			panic("a bomb went off")
		}
	}))
	return r
}

// log collects log lines.
type log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func TestAPanickingMailboxRestartsFromItsDurableTiers(t *testing.T) {
	lines := &log{}
	w := newWorld(t, Config{Log: slog.New(slog.NewTextHandler(lines, nil))})
	id, neighbour := w.private(), w.private()
	w.send(neighbour, mq9.Normal, "untouched")
	w.send(id, mq9.Normal, "lost")
	w.send(id, mq9.Critical, "kept")
	reader := w.subscribe(id, mq9.AllPriorities, "", -1)
	worker := w.subscribe(id, mq9.AllPriorities, "q", -1)
	w.Eventually(count(worker)).Should(gomega.Equal(2))

	w.client.known[id].send(bomb(id))
	w.Eventually(w.broker.Restarts).Should(gomega.BeEquivalentTo(1))
	w.send(id, mq9.Urgent, "after")

	w.Eventually(reader.texts).Should(gomega.Equal([]string{"kept", "lost", "after"}), "its place was kept")
	w.Eventually(worker.texts).Should(gomega.Equal([]string{"kept", "lost", "after"}))
	w.Expect(w.subscribe(id, mq9.AllPriorities, "", -1).texts()).To(gomega.Equal([]string{"kept", "after"}))
	w.Expect(w.subscribe(neighbour, mq9.AllPriorities, "", -1).texts()).To(gomega.Equal([]string{"untouched"}))
	w.Expect(lines.String()).To(gomega.And(gomega.ContainSubstring("crashed"), gomega.ContainSubstring(w.broker.Hash(id)), gomega.Not(gomega.ContainSubstring(string(id)))))
}

// explosive is an outlet that panics when it is asked for room or offered something.
type explosive struct{ reading }

func (*explosive) Room(mq9.Priority, int) Verdict             { panic("a bomb went off") }
func (*explosive) Offer([]*mq9.Message) (sent int, _ Verdict) { panic("a bomb went off") }

func TestTheOperationAtWhichAnActorPanicsIsAnswered(t *testing.T) {
	w := newWorld(t, Config{})
	id := w.private()
	w.send(id, mq9.Critical, "x")
	reply := make(chan *mq9.Error, 1)
	w.client.Subscribe(id, mq9.AllPriorities, "", &explosive{}, func(err *mq9.Error) { reply <- err })
	w.Eventually(reply).Should(gomega.Receive(gomega.Equal(mq9.ErrInternal)))
}

func TestAPanickingGroupHandsEverythingOutAgain(t *testing.T) {
	w := newWorld(t, Config{})
	id := w.private()
	w.send(id, mq9.Critical, "c")
	a, b := w.subscribe(id, mq9.AllPriorities, "q", -1), &reading{room: -1}
	w.Eventually(a.texts).Should(gomega.Equal([]string{"c"}))
	armed := true
	b.sub = w.client.Subscribe(id, mq9.AllPriorities, "q", b, func(*mq9.Error) {
		if armed {
			armed = false
			panic("a bomb went off")
		}
	})
	w.Eventually(w.broker.Restarts).Should(gomega.BeEquivalentTo(1))
	both := func() []string { return append(a.texts(), b.texts()...) }
	w.Eventually(both).Should(gomega.Equal([]string{"c", "c"}), "who held it is forgotten: it comes again")
	w.send(id, mq9.Urgent, "u")
	w.Eventually(both).Should(gomega.ContainElement("u"))
}

func TestAPanickingRouterForgetsNobody(t *testing.T) {
	w := newWorld(t, Config{})
	request := mq9.CreateRequest{Public: true, Name: "here"}
	must[mq9.CreateReply](w)(w.create(request))
	closed := make(chan *ref)
	close(closed)
	w.broker.root.Send(w.broker.router, &resolve{found: closed}) // answering panics
	w.Expect(must[mq9.CreateReply](w)(w.create(request)).IsNew).To(gomega.BeFalse())
	w.Expect(w.broker.Restarts()).To(gomega.BeEquivalentTo(1))
}

func TestBackOff(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(backOff(1)).To(gomega.Equal(firstBackOff))
	g.Expect(backOff(2)).To(gomega.Equal(2 * firstBackOff))
	g.Expect(backOff(100)).To(gomega.Equal(longestDelay))
	for n := 1; n < 30; n++ {
		g.Expect(backOff(n)).To(gomega.BeNumerically("<=", backOff(n+1)), fmt.Sprint(n))
		g.Expect(backOff(n)).To(gomega.BeNumerically(">=", time.Millisecond))
	}
}
