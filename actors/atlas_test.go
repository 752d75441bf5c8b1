package actors

import (
	"context"
	"fmt"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

func TestOperatorsPageThroughMailboxesAndGroups(t *testing.T) {
	w := newWorld(t, Config{})
	want := map[string]bool{}
	for i := range 7 {
		name := mq9.MailID(fmt.Sprint("box.", i))
		must[mq9.CreateReply](w)(w.create(mq9.CreateRequest{Public: true, Name: name}))
		want[string(name)] = true
		w.subscribe(name, mq9.AllPriorities, "workers", -1)
	}
	for range 4 {
		want[w.broker.Hash(w.private())] = true
	}
	ctx := context.Background()
	seen, lastPublic := map[string]bool{}, true
	for after, pages := "", 0; ; pages++ {
		views, next, err := w.broker.Mailboxes(ctx, after, 3)
		w.Expect(err).NotTo(gomega.HaveOccurred())
		for _, v := range views {
			w.Expect(seen).NotTo(gomega.HaveKey(v.Name), "twice")
			w.Expect(v.Public && !lastPublic).To(gomega.BeFalse(), "public ones come first")
			seen[v.Name], lastPublic = true, v.Public
		}
		if after = next; after == "" {
			w.Expect(pages).To(gomega.Equal(3))
			break
		}
	}
	w.Expect(seen).To(gomega.Equal(want))

	groups := 0
	for after := ""; ; {
		views, next, err := w.broker.Groups(ctx, after, 2)
		w.Expect(err).NotTo(gomega.HaveOccurred())
		for _, v := range views {
			w.Expect(v.Group).To(gomega.Equal("workers"))
			w.Expect(v.Members).To(gomega.HaveLen(1))
		}
		groups += len(views)
		if after = next; after == "" {
			break
		}
	}
	w.Expect(groups).To(gomega.Equal(7))
	w.Expect(w.broker.Stats().Groups).To(gomega.BeEquivalentTo(7))
}

func TestCursorsAreReadAsTheyAreWrittenAndNothingElseIs(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, box := range []*mq9.Mailbox{
		{Public: true, Number: 7, Account: "A", ID: "some.name"},
		{Number: 9},
	} {
		place := groupPlace{&ref{box: box}, "group"}
		read, err := parseCursor(cursor(place))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(*read.at.box).To(gomega.Equal(*box))
		g.Expect(read.name).To(gomega.Equal("group"))
	}
	secret := &mq9.Mailbox{Number: 1, Account: "A", ID: mq9.NewMailID()}
	read, err := parseCursor(cursor(groupPlace{at: &ref{box: secret}}))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(read.at.box.ID).To(gomega.BeEmpty(), "a private mail_id is in no cursor")
	for _, bad := range []string{"x", "!", "cDEyMzQ1Njc4", "eHh4"} {
		_, err := parseCursor(bad)
		g.Expect(err).To(gomega.MatchError(ErrCursor), bad)
	}
}

func TestStatsFollowFromWhatIsDone(t *testing.T) {
	w := newWorld(t, Config{})
	id := w.private()
	kept, gone := w.send(id, mq9.Critical, "12345"), w.send(id, mq9.Normal, "123")
	w.Expect(w.delete(id, gone)).To(gomega.BeTrue())
	s := w.broker.Stats()
	w.Expect(s.Private).To(gomega.BeEquivalentTo(1))
	w.Expect(s.ByPriority[mq9.Critical].Stored).To(gomega.Equal(Depth{1, 5}))
	w.Expect(s.ByPriority[mq9.Normal].Deleted).To(gomega.Equal(Depth{1, 3}))
	w.Expect(s.ByPriority[mq9.Normal].Stored).To(gomega.Equal(Depth{}))

	w.restart()
	w.Eventually(func() bool { return w.broker.Stats().Counted }).Should(gomega.BeTrue(), "without a mailbox being used")
	w.Expect(w.broker.Stats().ByPriority[mq9.Critical].Stored).To(gomega.Equal(Depth{1, 5}))
	w.Expect(w.delete(id, kept)).To(gomega.BeTrue())
	w.Expect(w.broker.Stats().ByPriority[mq9.Critical].Stored).To(gomega.Equal(Depth{}))
}
