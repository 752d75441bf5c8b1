package actors

import (
	"sync"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

func TestALoneSenderIsAnsweredAtOnceAndTheMailboxSleeps(t *testing.T) {
	w := newWorld(t, Config{})
	id := w.private()
	for n := range 3 {
		lone := newNote(nil)
		w.hand(id, "1234567", lone)
		w.Eventually(lone.answers).Should(gomega.Receive(gomega.HaveField("AtOnce", true)))
		w.Expect(w.asleep(id)).To(gomega.BeTrue())
		published, stored := w.stored()
		w.Expect(published).To(gomega.Equal(Depth{int64(n + 1), 7 * int64(n+1)}))
		w.Expect(stored).To(gomega.Equal(published))
	}
	views, _, err := w.broker.Mailboxes(t.Context(), "", 10)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	w.Expect(views[0].Depth[mq9.Critical]).To(gomega.Equal(Depth{3, 21}))
	w.Expect(w.asleep(id)).To(gomega.BeFalse())
}

func TestWhoIsNotAloneIsAnsweredByTheMailbox(t *testing.T) {
	w, g := newGatedWorld(t)
	id := w.private()
	open := g.shut()
	first, second, third := newNote(nil), newNote(nil), newNote(nil)
	w.hand(id, "of one", first)
	w.client.Send(id, Draft{Priority: mq9.Critical}, second)
	w.hand(id, "of two", third)
	w.Eventually(w.store.Outstanding).Should(gomega.Equal(1), "the second parcel is handed over")
	open()
	for _, n := range []*note{first, second, third} {
		w.Eventually(n.answers).Should(gomega.Receive(gomega.And(gomega.HaveField("AtOnce", false), gomega.HaveField("Err", gomega.BeNil()))))
	}
}

func TestWhatIsAskedAtTheReplyFindsTheMessage(t *testing.T) {
	for _, watched := range []bool{false, true} {
		t.Run(map[bool]string{false: "unwatched", true: "watched"}[watched], func(t *testing.T) {
			w := newWorld(t, Config{})
			id := w.private()
			if watched {
				w.subscribe(id, mq9.AllPriorities, "", -1)
			}
			listed := make(chan mq9.ListReply, 1)
			w.hand(id, "listed", newNote(func(mq9.MsgID) { // the mailbox was not told yet
				w.client.List(id, mq9.PageRequest{Limit: 9}, 1<<20, func(r mq9.ListReply, _ *mq9.Error) { listed <- r })
			}))
			var list mq9.ListReply
			w.Eventually(listed).Should(gomega.Receive(&list))
			w.Expect(list.Messages).To(gomega.HaveLen(1))

			deleted := make(chan bool, 1)
			w.hand(id, "deleted", newNote(func(msg mq9.MsgID) {
				w.client.Delete(id, msg, func(existed bool, _ *mq9.Error) { deleted <- existed })
			}))
			w.Eventually(deleted).Should(gomega.Receive(gomega.BeTrue()))

			late, attached := &reading{room: -1}, make(chan struct{})
			w.hand(id, "replayed", newNote(func(mq9.MsgID) {
				late.sub = w.client.Subscribe(id, mq9.AllPriorities, "", late, func(*mq9.Error) { close(attached) })
			}))
			w.Eventually(attached).Should(gomega.BeClosed())
			w.Expect(late.texts()).To(gomega.Equal([]string{"listed", "replayed"}))
		})
	}
}

func TestASubscriberGetsWhatLandsWhileItIsBeingAttached(t *testing.T) {
	for _, queue := range []string{"", "workers"} {
		w, g := newGatedWorld(t)
		id := w.private()
		open := g.shut()
		lone, reader := newNote(nil), &reading{room: -1}
		w.hand(id, "x", lone)
		w.Eventually(g.held).Should(gomega.Receive())
		var once sync.Once
		reader.sub = w.client.Subscribe(id, mq9.AllPriorities, queue, reader, func(*mq9.Error) {
			once.Do(func() { open(); <-g.told })
		})
		w.Eventually(lone.answers).Should(gomega.Receive(gomega.HaveField("AtOnce", true)))
		w.Eventually(reader.texts).Should(gomega.Equal([]string{"x"}))
	}
}

func TestAListThatWaitsIsAnsweredWhenTheMessageLands(t *testing.T) {
	w, g := newGatedWorld(t)
	id := w.private()
	open := g.shut()
	lone, listed := newNote(nil), make(chan mq9.ListReply, 1)
	w.hand(id, "x", lone)
	w.client.List(id, mq9.PageRequest{Limit: 9}, 1<<20, func(r mq9.ListReply, _ *mq9.Error) { listed <- r })
	landing := &w.client.known[id].landing
	w.Eventually(func() bool { landing.Lock(); defer landing.Unlock(); return landing.watched }).Should(gomega.BeTrue())
	open()
	var list mq9.ListReply
	w.Eventually(listed).Should(gomega.Receive(&list))
	w.Expect(list.Messages).To(gomega.HaveLen(1))
	w.Eventually(func() bool { landing.Lock(); defer landing.Unlock(); return landing.watched }).Should(gomega.BeFalse())
}

func TestNobodyIsAnsweredBeforeWhoSentBefore(t *testing.T) {
	for _, taken := range []bool{true, false} { // whether the mailbox has begun with what landed first when the second lands
		w, g := newGatedWorld(t)
		id := w.private()
		var (
			order       = make(chan string, 2)
			began, goOn = make(chan struct{}), make(chan struct{})
			stand       = func(mq9.MsgID) { close(began); <-goOn } // holds up the mailbox
			first       = newNote(func(mq9.MsgID) { order <- "first" })
			second      = newNote(func(mq9.MsgID) { order <- "second" })
			openFirst   = g.shut()
		)
		if taken {
			first.then = func(m mq9.MsgID) { stand(m); order <- "first" }
		}
		w.hand(id, "first", first)
		w.Eventually(g.held).Should(gomega.Receive())
		openSecond := g.shut()
		w.hand(id, "second", second)
		if !taken {
			w.client.Send(id, Draft{Priority: mq9.Normal}, newNote(stand))
			w.client.Flush()
			w.Eventually(began).Should(gomega.BeClosed())
		}
		w.Eventually(w.store.Outstanding).Should(gomega.Equal(1), "so that the mailbox answers the first")
		openFirst()
		w.Eventually(g.told).Should(gomega.Receive())
		w.Eventually(began).Should(gomega.BeClosed())
		openSecond()
		w.Eventually(g.told).Should(gomega.Receive())
		close(goOn)
		w.Eventually(order).Should(gomega.Receive(gomega.Equal("first")))
		w.Eventually(order).Should(gomega.Receive(gomega.Equal("second")))
	}
}

func TestWhatLandedIsThereAfterACrash(t *testing.T) {
	w := newWorld(t, Config{})
	id := w.private()
	w.send(id, mq9.Critical, "seen")
	w.send(id, mq9.Critical, "told")
	w.Expect(w.asleep(id)).To(gomega.BeTrue())
	w.blow(id)
	w.Expect(w.subscribe(id, mq9.AllPriorities, "", -1).texts()).To(gomega.Equal([]string{"seen", "told"}))
	published, stored := w.stored()
	w.Expect(published).To(gomega.Equal(Depth{2, 8}))
	w.Expect(stored).To(gomega.Equal(published), "read from disk, but counted before")
	w.send(id, mq9.Critical, "more")
	w.Expect(must[mq9.ListReply](w)(w.list(id, mq9.PageRequest{})).Messages).To(gomega.HaveLen(3))
}

func TestReadersThatOutliveACrashGetWhatLandedMeanwhile(t *testing.T) {
	w, g := newGatedWorld(t)
	id := w.private()
	reader, worker := w.subscribe(id, mq9.AllPriorities, "", -1), w.subscribe(id, mq9.AllPriorities, "q", -1)
	open := g.shut()
	lone := newNote(nil)
	w.hand(id, "x", lone)
	w.Eventually(g.held).Should(gomega.Receive())
	w.blow(id)
	open()
	w.Eventually(lone.answers).Should(gomega.Receive(gomega.HaveField("Err", gomega.BeNil())))
	w.Eventually(reader.texts).Should(gomega.Equal([]string{"x"}))
	w.Eventually(worker.texts).Should(gomega.Equal([]string{"x"}))
}

func TestWhatIsReadFromDiskBeforeItLandsIsCountedOnce(t *testing.T) {
	w, g := newGatedWorld(t)
	id := w.private()
	open := g.shut()
	lone := newNote(nil)
	w.hand(id, "1234", lone)
	w.Eventually(g.held).Should(gomega.Receive())
	w.blow(id)
	w.Expect(must[mq9.ListReply](w)(w.list(id, mq9.PageRequest{})).Messages).To(gomega.HaveLen(1), "it is on disk")
	open()
	w.Eventually(lone.answers).Should(gomega.Receive(gomega.HaveField("Err", gomega.BeNil())))
	w.Eventually(func() Depth { _, stored := w.stored(); return stored }).Should(gomega.Equal(Depth{1, 4}), "though nobody asks anything of the mailbox")
	published, _ := w.stored()
	w.Expect(published).To(gomega.Equal(Depth{1, 4}))
}

func TestWhatLandedWhileTheIndexCannotBeReadIsFoundLater(t *testing.T) {
	w, g := newGatedWorld(t)
	id := w.private()
	w.send(id, mq9.Critical, "told")
	g.blind.Store(true)
	w.blow(id)
	w.Eventually(func() int {
		at := w.client.known[id]
		at.landing.Lock()
		defer at.landing.Unlock()
		return len(at.landing.settled)
	}).Should(gomega.BeZero())
	g.blind.Store(false)
	w.Expect(must[mq9.ListReply](w)(w.list(id, mq9.PageRequest{})).Messages).To(gomega.HaveLen(1))
	published, stored := w.stored()
	w.Expect(published).To(gomega.Equal(Depth{1, 4}))
	w.Expect(stored).To(gomega.Equal(published))
}

func TestACrashInAnAnswerCostsNobodyElseHis(t *testing.T) {
	w, g := newGatedWorld(t)
	id := w.private()
	normal := w.send(id, mq9.Normal, "n")
	open := g.shut()
	bombed, other := newNote(func(mq9.MsgID) { panic("a bomb went off") }), newNote(nil)
	w.client.Send(id, Draft{Priority: mq9.Critical}, bombed)
	w.hand(id, "x", other)
	w.Eventually(g.held).Should(gomega.Receive())
	began, goOn := make(chan struct{}), make(chan struct{})
	w.client.Send(id, Draft{Priority: mq9.Normal}, newNote(func(mq9.MsgID) { close(began); <-goOn })) // holds up the mailbox
	deleted := make(chan bool, 1)
	w.client.Delete(id, normal, func(existed bool, _ *mq9.Error) { deleted <- existed }) // it reads this before it hears of the two
	w.Eventually(began).Should(gomega.BeClosed())
	open()
	w.Eventually(g.told).Should(gomega.Receive())
	close(goOn)
	w.Eventually(deleted).Should(gomega.Receive(gomega.BeTrue()))
	w.Eventually(other.answers).Should(gomega.Receive(gomega.HaveField("Err", errCrashed)))
	w.Eventually(w.broker.Restarts).Should(gomega.BeEquivalentTo(1))
	w.send(id, mq9.Critical, "y")
	w.Expect(must[mq9.ListReply](w)(w.list(id, mq9.PageRequest{})).Messages).To(gomega.HaveLen(3))
}

func TestALoneSenderHearsOfAFailure(t *testing.T) {
	w := newWorld(t, Config{})
	id := w.private()
	w.send(id, mq9.Critical, "x")
	w.Expect(w.store.Close()).To(gomega.Succeed())
	_, err := w.trySend(id, mq9.Critical, "y")
	w.Expect(err.Code).To(gomega.Equal(mq9.CodeUnavailable))
	published, stored := w.stored()
	w.Expect(published).To(gomega.Equal(Depth{1, 1}))
	w.Expect(stored).To(gomega.Equal(published))
}
