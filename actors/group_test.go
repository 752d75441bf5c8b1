package actors

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

// count is how many messages a reading got.
func count(r *reading) func() int { return func() int { return len(r.texts()) } }

func TestMembersShareEquallyAndIndependentsGetEverything(t *testing.T) {
	w := newWorld(t, Config{})
	id := w.private()
	a, b := w.subscribe(id, mq9.AllPriorities, "q", -1), w.subscribe(id, mq9.AllPriorities, "q", -1)
	other, alone := w.subscribe(id, mq9.AllPriorities, "other", -1), w.subscribe(id, mq9.AllPriorities, "", -1)
	for n := range 100 {
		w.send(id, mq9.Normal, fmt.Sprint(n))
	}
	w.Eventually(count(a)).Should(gomega.Equal(50))
	w.Eventually(count(b)).Should(gomega.Equal(50))
	w.Eventually(count(other)).Should(gomega.Equal(100))
	w.Eventually(count(alone)).Should(gomega.Equal(100))
	all := append(a.texts(), b.texts()...)
	slices.Sort(all)
	w.Expect(slices.Compact(all)).To(gomega.HaveLen(100))
}

func TestDeletingFreesAMemberForTheNext(t *testing.T) {
	w := newWorld(t, Config{})
	id := w.private()
	a, b := w.subscribe(id, mq9.AllPriorities, "q", -1), w.subscribe(id, mq9.AllPriorities, "q", -1)
	for n := range 4 {
		w.send(id, mq9.Normal, fmt.Sprint(n))
	}
	w.Eventually(count(a)).Should(gomega.Equal(2))
	for _, m := range a.messages() {
		w.Expect(w.delete(id, m.ID)).To(gomega.BeTrue())
	}
	for n := range 2 { // b holds two, a none
		w.send(id, mq9.Normal, fmt.Sprint("more", n))
	}
	w.Eventually(count(a)).Should(gomega.Equal(4))
	w.Expect(count(b)()).To(gomega.Equal(2))
}

func TestACrashedMembersMessagesGoToTheOthersFirstAndInOrder(t *testing.T) {
	w := newWorld(t, Config{})
	id := w.private()
	for _, text := range []string{"n0", "n1"} {
		w.send(id, mq9.Normal, text)
	}
	w.send(id, mq9.Urgent, "u0")
	doomed := w.subscribe(id, mq9.AllPriorities, "q", 3)
	w.Eventually(doomed.texts).Should(gomega.Equal([]string{"u0", "n0", "n1"}))
	w.Expect(w.delete(id, doomed.messages()[1].ID)).To(gomega.BeTrue())
	w.send(id, mq9.Normal, "n2")
	w.send(id, mq9.Critical, "c0")
	heir := w.subscribe(id, mq9.AllPriorities, "q", 1) // gets c0, then stands still
	w.Eventually(heir.texts).Should(gomega.Equal([]string{"c0"}))
	w.leave(doomed, true)
	heir.allow(10)
	w.Eventually(heir.texts).Should(gomega.Equal([]string{"c0", "u0", "n1", "n2"}))
}

func TestWithNoMemberLeftTheNextToJoinInherits(t *testing.T) {
	w := newWorld(t, Config{})
	id := w.private()
	w.send(id, mq9.Critical, "c")
	w.send(id, mq9.Normal, "n")
	first := w.subscribe(id, mq9.AllPriorities, "q", -1)
	w.Eventually(count(first)).Should(gomega.Equal(2))
	w.leave(first, true)
	w.Eventually(w.subscribe(id, mq9.AllPriorities, "q", -1).texts).Should(gomega.Equal([]string{"c", "n"}))
}

func TestADrainingMemberKeepsWhatItHolds(t *testing.T) {
	for name, end := range map[string]func(w *world, id mq9.MailID, drainer, stays *reading){
		"until its connection ends": func(w *world, _ mq9.MailID, drainer, _ *reading) {
			w.Expect(drainer.sub.Holds()).To(gomega.BeTrue())
			w.leave(drainer, true)
		},
		"until somebody joins": func(w *world, id mq9.MailID, _, _ *reading) {
			w.subscribe(id, mq9.AllPriorities, "q", 0)
		},
		"until the grace is over": func(*world, mq9.MailID, *reading, *reading) {},
	} {
		t.Run(name, func(t *testing.T) {
			grace := time.Hour
			if name == "until the grace is over" {
				grace = 500 * time.Millisecond
			}
			w := newWorld(t, Config{DrainGrace: grace})
			id := w.private()
			drainer, stays := w.subscribe(id, mq9.AllPriorities, "q", -1), w.subscribe(id, mq9.AllPriorities, "q", -1)
			for n := range 6 {
				w.send(id, mq9.Urgent, fmt.Sprint(n))
			}
			w.Eventually(count(drainer)).Should(gomega.Equal(3))
			w.leave(drainer, false)
			w.Expect(w.delete(id, drainer.messages()[0].ID)).To(gomega.BeTrue(), "it may still delete")
			w.send(id, mq9.Urgent, "new")
			w.Eventually(count(stays)).Should(gomega.Equal(4), "the new one, and nothing of the drainer's")
			end(w, id, drainer, stays)
			w.Eventually(count(stays)).Should(gomega.Equal(6), "what the drainer left undone")
			w.Expect(drainer.sub.Holds()).To(gomega.BeFalse())
			w.Expect(count(drainer)()).To(gomega.Equal(3))
		})
	}
}

func TestWhoJoinsAGroupThatOnlyDrainsInherits(t *testing.T) {
	w := newWorld(t, Config{DrainGrace: time.Hour})
	id := w.private()
	drainer := w.subscribe(id, mq9.AllPriorities, "q", -1)
	w.send(id, mq9.Urgent, "old")
	w.Eventually(count(drainer)).Should(gomega.Equal(1))
	w.leave(drainer, false)
	heir := w.subscribe(id, mq9.AllPriorities, "q", -1)
	w.send(id, mq9.Urgent, "new")
	w.Eventually(heir.texts).Should(gomega.Equal([]string{"old", "new"}))
}

func TestMaxInflightSpreadsABacklogOneByOne(t *testing.T) {
	w := newWorld(t, Config{})
	id := must[mq9.CreateReply](w)(w.create(mq9.CreateRequest{MaxInflight: 1})).MailID
	for n := range 30 {
		w.send(id, mq9.Priority(n%mq9.Priorities), fmt.Sprint(n))
	}
	var workers []*reading
	for range 3 {
		workers = append(workers, w.subscribe(id, mq9.AllPriorities, "q", -1))
	}
	for _, worker := range workers {
		w.Eventually(count(worker)).Should(gomega.Equal(1))
	}
	done := map[mq9.MsgID]bool{}
	for len(done) < 30 {
		for _, worker := range workers {
			for _, m := range worker.messages() {
				if !done[m.ID] {
					done[m.ID] = true
					w.Expect(w.delete(id, m.ID)).To(gomega.BeTrue())
				}
			}
		}
	}
	total := 0
	for _, worker := range workers {
		total += count(worker)()
	}
	w.Expect(total).To(gomega.Equal(30))
}

func TestAFullMemberIsPassedOverAndACriticalStillComesFirst(t *testing.T) {
	w := newWorld(t, Config{})
	id := w.private()
	slow, fast := w.subscribe(id, mq9.AllPriorities, "q", 1), w.subscribe(id, mq9.AllPriorities, "q", 5)
	for n := range 10 {
		w.send(id, mq9.Normal, fmt.Sprint("n", n))
	}
	w.Eventually(count(fast)).Should(gomega.Equal(5))
	w.Eventually(count(slow)).Should(gomega.Equal(1))
	w.send(id, mq9.Critical, "c")
	w.Eventually(func() mq9.Priority { _, p := fast.wished(); return p }).Should(gomega.Equal(mq9.Critical), "the outlets know what waits")
	fast.allow(2)
	w.Eventually(fast.texts).Should(gomega.HaveLen(7))
	w.Expect(fast.texts()[5:]).To(gomega.Equal([]string{"c", "n6"}))
	slow.allow(10)
	w.Eventually(slow.texts).Should(gomega.HaveLen(4))
}

func TestMembersWithDifferentPatterns(t *testing.T) {
	w := newWorld(t, Config{})
	id := w.private()
	critical, normal := w.subscribe(id, mq9.Only(mq9.Critical), "q", -1), w.subscribe(id, mq9.Only(mq9.Normal), "q", -1)
	for n := range 3 {
		w.send(id, mq9.Urgent, fmt.Sprint("u", n))
		w.send(id, mq9.Normal, fmt.Sprint("n", n))
		w.send(id, mq9.Critical, fmt.Sprint("c", n))
	}
	w.Eventually(critical.texts).Should(gomega.Equal([]string{"c0", "c1", "c2"}))
	w.Eventually(normal.texts).Should(gomega.Equal([]string{"n0", "n1", "n2"}))
	w.Eventually(w.subscribe(id, mq9.AllPriorities, "q", -1).texts).Should(gomega.Equal([]string{"u0", "u1", "u2"}))
}

func TestWorkersThatComeDeleteAndCrashLoseNothing(t *testing.T) {
	w := newWorld(t, Config{})
	id := w.private()
	const messages = 400
	for n := range messages {
		w.send(id, mq9.Priority(n%mq9.Priorities), fmt.Sprint(n))
	}
	deleted := map[mq9.MsgID]bool{}
	for round := 0; len(deleted) < messages; round++ {
		w.Expect(round).To(gomega.BeNumerically("<", 200), "the group stands still")
		a, b := w.subscribe(id, mq9.AllPriorities, "q", 1+round%7), w.subscribe(id, mq9.AllPriorities, "q", 1+round%5)
		w.Eventually(func() int { return count(a)() + count(b)() }).Should(gomega.BeNumerically(">=", 1))
		for _, r := range []*reading{a, b} {
			for i, m := range r.messages() {
				if i%4 != 3 { // the rest is left undone
					w.Expect(deleted[m.ID]).To(gomega.BeFalse(), "a deleted message came again")
					deleted[m.ID] = true
					w.Expect(w.delete(id, m.ID)).To(gomega.BeTrue())
				}
			}
		}
		w.leave(a, round%2 == 0)
		w.leave(b, true)
		if a.sub.Holds() {
			w.leave(a, true)
		}
	}
	w.Expect(must[mq9.ListReply](w)(w.list(id, mq9.PageRequest{})).Messages).To(gomega.BeEmpty())
}
