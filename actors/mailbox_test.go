package actors

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

func TestReplayIsInPriorityOrderThenLive(t *testing.T) {
	w := newWorld(t, Config{})
	id := w.private()
	for _, p := range []mq9.Priority{mq9.Normal, mq9.Urgent, mq9.Critical} {
		for n := range 2 {
			w.send(id, p, fmt.Sprintf("%v%d", p, n))
		}
	}
	all := w.subscribe(id, mq9.AllPriorities, "", -1)
	urgent := w.subscribe(id, mq9.Only(mq9.Urgent), "", -1)
	w.Expect(all.texts()).To(gomega.Equal([]string{"critical0", "critical1", "urgent0", "urgent1", "normal0", "normal1"}))
	w.send(id, mq9.Normal, "live")
	w.Eventually(all.texts).Should(gomega.HaveLen(7))
	w.Expect(urgent.texts()).To(gomega.Equal([]string{"urgent0", "urgent1"}))
}

func TestLateCriticalOvertakesTheBacklogOfASlowReader(t *testing.T) {
	w := newWorld(t, Config{})
	id := w.private()
	for n := range 100 {
		w.send(id, mq9.Normal, fmt.Sprint("n", n))
	}
	slow := w.subscribe(id, mq9.AllPriorities, "", 3)
	w.send(id, mq9.Critical, "stop")
	w.Eventually(func() mq9.Priority { _, p := slow.wished(); return p }).Should(gomega.Equal(mq9.Critical))
	slow.allow(1)
	w.Eventually(slow.texts).Should(gomega.Equal([]string{"n0", "n1", "n2", "stop"}))
	slow.allow(97)
	w.Eventually(slow.texts).Should(gomega.HaveLen(101))
}

func TestWhatWasDeletedBeforeItsTurnIsNotSent(t *testing.T) {
	w := newWorld(t, Config{})
	id := w.private()
	var ids []mq9.MsgID
	for n := range 6 {
		ids = append(ids, w.send(id, mq9.Priority(n%mq9.Priorities), fmt.Sprint(n)))
	}
	slow := w.subscribe(id, mq9.AllPriorities, "", 1)
	for _, n := range []int{1, 2, 3} {
		w.Expect(w.delete(id, ids[n])).To(gomega.BeTrue())
	}
	w.Expect(w.delete(id, ids[1])).To(gomega.BeFalse(), "twice")
	slow.allow(10)
	w.Eventually(slow.texts).Should(gomega.Equal([]string{"0", "4", "5"}))
}

func TestRacingCreatesMakeOneMailbox(t *testing.T) {
	w := newWorld(t, Config{})
	const racers = 300
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		fresh int
		ends  = map[string]bool{}
	)
	for n := range racers {
		group.Add(1)
		go w.broker.NewClient("A").Create(mq9.CreateRequest{Public: true, Name: "race", TTL: int64(60 + n)}, func(r mq9.CreateReply, err *mq9.Error) {
			mu.Lock()
			defer mu.Unlock()
			defer group.Done()
			if err == nil {
				ends[r.ExpiresAt] = true
			}
			if r.IsNew {
				fresh++
			}
		})
	}
	group.Wait()
	w.Expect(fresh).To(gomega.Equal(1))
	w.Expect(ends).To(gomega.HaveLen(1))
}

func TestExpiryEndsEverythingAndTheNameLivesAgain(t *testing.T) {
	w := newWorld(t, Config{})
	watcher := &reading{room: -1}
	watcher.sub = w.client.Watch(watcher, func(*mq9.Error) {})
	request := mq9.CreateRequest{Public: true, Name: "short", TTL: 1}
	first := must[mq9.CreateReply](w)(w.create(request))
	w.send("short", mq9.Critical, "old")
	reader := w.subscribe("short", mq9.AllPriorities, "", -1)
	worker := w.subscribe("short", mq9.AllPriorities, "q", -1)
	w.Eventually(worker.texts).Should(gomega.Equal([]string{"old"}))

	w.Eventually(func() *mq9.Error { _, err := w.trySend("short", mq9.Normal, "late"); return err }).Should(gomega.Equal(mq9.ErrNoMailbox))
	again := must[mq9.CreateReply](w)(w.create(request))
	w.Expect(again.IsNew).To(gomega.BeTrue())
	w.Expect(again.CreatedAt > first.ExpiresAt).To(gomega.BeTrue(), "never early: %v, %v", first, again)
	w.Expect(must[mq9.ListReply](w)(w.list("short", mq9.PageRequest{})).Messages).To(gomega.BeEmpty())

	w.send("short", mq9.Urgent, "new")
	for _, r := range []*reading{reader, worker} {
		w.Eventually(func() string { texts := r.texts(); return texts[len(texts)-1] }).Should(gomega.Equal("new"))
	}
	w.Eventually(func() int { watcher.mu.Lock(); defer watcher.mu.Unlock(); return len(watcher.events) }).Should(gomega.Equal(3), "created, expired, created")
	for _, r := range []*reading{reader, worker, watcher} {
		w.leave(r, true)
	}
}

func TestLeavingWhileNothingLivesUnderTheName(t *testing.T) {
	w := newWorld(t, Config{})
	must[mq9.CreateReply](w)(w.create(mq9.CreateRequest{Public: true, Name: "gone", TTL: 1}))
	reader := w.subscribe("gone", mq9.AllPriorities, "", -1)
	w.Eventually(func() *mq9.Error { _, err := w.list("gone", mq9.PageRequest{}); return err }).Should(gomega.Equal(mq9.ErrNoMailbox))
	w.leave(reader, false)
	must[mq9.CreateReply](w)(w.create(mq9.CreateRequest{Public: true, Name: "gone", TTL: 60}))
	w.send("gone", mq9.Critical, "x")
	w.Expect(reader.texts()).To(gomega.BeEmpty())
}

func TestDurableTiersDeletionsAndLivesSurviveARestart(t *testing.T) {
	w := newWorld(t, Config{})
	id := w.private()
	w.send(id, mq9.Normal, "n")
	urgent := w.send(id, mq9.Urgent, "u")
	critical := w.send(id, mq9.Critical, "c")
	must[bool](w)(w.delete(id, w.send(id, mq9.Urgent, "deleted")))
	must[mq9.CreateReply](w)(w.create(mq9.CreateRequest{Public: true, Name: "dies", TTL: 1}))
	w.Eventually(func() *mq9.Error { _, err := w.list("dies", mq9.PageRequest{}); return err }).Should(gomega.Equal(mq9.ErrNoMailbox))
	w.restart()

	reader := w.subscribe(id, mq9.AllPriorities, "", -1)
	w.Expect(reader.texts()).To(gomega.Equal([]string{"c", "u"}))
	w.Expect(reader.messages()[0].ID).To(gomega.Equal(critical))
	must[bool](w)(w.delete(id, urgent))
	must[bool](w)(w.delete(id, critical))
	w.restart()
	w.Expect(uint64(w.send(id, mq9.Critical, "later"))).To(gomega.BeNumerically(">", uint64(critical)), "ids go on though nothing was left")
}

func TestListPagesThroughAllPrioritiesWhileMessagesVanish(t *testing.T) {
	w := newWorld(t, Config{})
	id := w.private()
	var want []string
	for _, p := range []mq9.Priority{mq9.Critical, mq9.Urgent, mq9.Normal} {
		for range 5 {
			want = append(want, w.send(id, p, "x").String())
		}
	}
	var got []string
	page := mq9.PageRequest{Limit: 2}
	for more := true; more; {
		reply := must[mq9.ListReply](w)(w.list(id, page))
		for _, e := range reply.Messages {
			got = append(got, e.MsgID)
		}
		page.After, more = got[len(got)-1], reply.More
		last, _ := mq9.ParseMsgID(page.After)
		w.Expect(w.delete(id, last)).To(gomega.BeTrue())
	}
	w.Expect(got).To(gomega.Equal(want))
	_, err := w.list(id, mq9.PageRequest{After: "nonsense"})
	w.Expect(err.Code).To(gomega.Equal(mq9.CodeBadRequest))
}

func TestTimesNeverGoBackWhateverTheClockDoes(t *testing.T) {
	var mu sync.Mutex
	now := time.Now()
	set := func(d time.Duration) { mu.Lock(); defer mu.Unlock(); now = now.Add(d) }
	w := newWorld(t, Config{Now: func() time.Time { mu.Lock(); defer mu.Unlock(); return now }})
	id := must[mq9.CreateReply](w)(w.create(mq9.CreateRequest{TTL: 600})).MailID
	w.send(id, mq9.Critical, "a")
	set(-time.Hour)
	w.send(id, mq9.Critical, "b")
	set(2 * time.Hour) // past the end by the wall clock: the mailbox lives on the monotonic one
	w.send(id, mq9.Critical, "c")
	reader := w.subscribe(id, mq9.AllPriorities, "", -1)
	times := []int64{}
	for _, m := range reader.messages() {
		times = append(times, m.At)
	}
	w.Expect(times).To(gomega.HaveLen(3))
	w.Expect(times[1]).To(gomega.BeNumerically(">=", times[0]))
	w.Expect(times[2]).To(gomega.BeNumerically(">=", times[1]))
}

func TestAccountsAreNamespaces(t *testing.T) {
	w := newWorld(t, Config{})
	request := mq9.CreateRequest{Public: true, Name: "same"}
	must[mq9.CreateReply](w)(w.create(request))
	w.send("same", mq9.Normal, "of A")
	secret := w.private()
	w.client = w.broker.NewClient("B")
	_, err := w.trySend(secret, mq9.Normal, "x")
	w.Expect(err).To(gomega.Equal(mq9.ErrNoMailbox))
	w.Expect(must[mq9.CreateReply](w)(w.create(request)).IsNew).To(gomega.BeTrue())
	w.Expect(w.subscribe("same", mq9.AllPriorities, "", -1).texts()).To(gomega.BeEmpty())
}
