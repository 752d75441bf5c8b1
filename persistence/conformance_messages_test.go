package persistence

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

func keepsMessages(t *testing.T, s store) {
	g := gomega.NewWithT(t)
	commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(1)})
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	want := []*mq9.Message{
		{ID: 1, Priority: mq9.Urgent, At: 1},
		{ID: 2, Priority: mq9.Urgent, At: 2, Header: []byte("A: b\r\n")},
		{ID: 3, Priority: mq9.Urgent, At: 2, Payload: []byte("\r\nMSG x 1 1\r\n")},
		{ID: 4, Priority: mq9.Urgent, At: math.MaxInt64, Header: []byte("A: b\r\nA: c\r\n"), Payload: all},
		{ID: 5, Priority: mq9.Urgent, At: -1, Payload: make([]byte, 1<<20)},
		{ID: math.MaxUint64, Priority: mq9.Urgent, Payload: []byte{0}},
	}
	commit(g, s, mq9.AppendMessages{Number: 1, Messages: want[:1]})
	commit(g, s, mq9.AppendMessages{Number: 1, Messages: want[1:]})
	got, err := s.Read(1, mq9.Urgent, 0, math.MaxInt)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(got).To(gomega.Equal(want))
}

func readsWithinBytes(t *testing.T, s store) {
	g := gomega.NewWithT(t)
	for _, number := range []uint64{1, 2, 3} { // neighbours on both sides
		commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(number)})
		for _, p := range []mq9.Priority{mq9.Critical, mq9.Urgent} {
			for _, id := range []mq9.MsgID{10, 20, 30, 40} {
				commit(g, s, mq9.AppendMessages{Number: number, Messages: []*mq9.Message{{
					ID: id, Priority: p, Header: []byte("h"), Payload: []byte("23456789a"),
				}}})
			}
		}
	}
	for _, c := range []struct {
		from  mq9.MsgID
		bytes int
		want  []mq9.MsgID
	}{
		{0, 1000, []mq9.MsgID{10, 20, 30, 40}},
		{10, 1000, []mq9.MsgID{10, 20, 30, 40}},
		{11, 1000, []mq9.MsgID{20, 30, 40}},
		{40, 1000, []mq9.MsgID{40}},
		{41, 1000, nil},
		{math.MaxUint64, 1000, nil},
		{0, 40, []mq9.MsgID{10, 20, 30, 40}},
		{0, 39, []mq9.MsgID{10, 20, 30}},
		{0, 20, []mq9.MsgID{10, 20}},
		{0, 19, []mq9.MsgID{10}},
		{0, 1, []mq9.MsgID{10}},
		{15, 0, []mq9.MsgID{20}},
		{15, -1, []mq9.MsgID{20}},
	} {
		for _, p := range []mq9.Priority{mq9.Critical, mq9.Urgent} {
			got, err := s.Read(2, p, c.from, c.bytes)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(idsOf(got)).To(gomega.Equal(c.want), "from %d, %d bytes, %v", c.from, c.bytes, p)
		}
	}
	got, err := s.Read(2, mq9.Normal, 0, 1000)
	g.Expect(got, err).To(gomega.BeEmpty(), "there is no durable normal tier")
	got, err = s.Read(4, mq9.Critical, 0, 1000)
	g.Expect(got, err).To(gomega.BeEmpty(), "there is no such mailbox")
}

func indexesInOrder(t *testing.T, s store) {
	g := gomega.NewWithT(t)
	for _, number := range []uint64{255, 256, 257} {
		commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(number)})
	}
	messages := map[mq9.MsgID]*mq9.Message{}
	for _, id := range []mq9.MsgID{1, 2, 255, 256, 257, 65536} {
		p := mq9.Urgent
		if id%2 == 0 {
			p = mq9.Critical
		}
		messages[id] = &mq9.Message{ID: id, Priority: p, At: int64(id) * 10, Header: []byte("K: v\r\n"), Payload: make([]byte, id)}
		for _, number := range []uint64{255, 256, 257} {
			commit(g, s, mq9.AppendMessages{Number: number, Messages: []*mq9.Message{messages[id]}})
		}
	}
	var want []mq9.Entry
	for _, id := range []mq9.MsgID{2, 256, 65536, 1, 255, 257} {
		want = append(want, messages[id].Entry())
	}
	g.Expect(index(g, s, 256)).To(gomega.Equal(want))
	g.Expect(index(g, s, 258)).To(gomega.BeEmpty())
}

func deletesOne(t *testing.T, s store) {
	g := gomega.NewWithT(t)
	commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(1)})
	for id := range mq9.MsgID(5) {
		commit(g, s, mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{message(id, mq9.Critical)}})
	}
	commit(g, s, mq9.DeleteMessage{Number: 1, Priority: mq9.Critical, ID: 2})
	commit(g, s, mq9.DeleteMessage{Number: 1, Priority: mq9.Urgent, ID: 3}) // the other tier
	commit(g, s, mq9.DeleteMessage{Number: 2, Priority: mq9.Critical, ID: 3})
	commit(g, s, mq9.DeleteMessage{Number: 1, Priority: mq9.Critical, ID: 9})
	commit(g, s, mq9.DeleteMessage{Number: 1, Priority: mq9.Normal, ID: 3})
	got, err := s.Read(1, mq9.Critical, 0, 1000)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(idsOf(got)).To(gomega.Equal([]mq9.MsgID{0, 1, 3, 4}))
}

func forgetsExpired(t *testing.T, s store) {
	g := gomega.NewWithT(t)
	for number := range uint64(3) {
		commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(number + 1)})
		for id := range mq9.MsgID(10) {
			commit(g, s, mq9.AppendMessages{Number: number + 1, Messages: []*mq9.Message{message(id, mq9.Priority(id%2))}})
		}
	}
	commit(g, s, mq9.ExpireMailbox{Mailbox: mailbox(2)})
	g.Expect(mailboxes(g, s)).To(gomega.ConsistOf(*mailbox(1), *mailbox(3)))
	g.Eventually(func() []mq9.Entry { return index(g, s, 2) }).Should(gomega.BeEmpty())
	g.Expect(index(g, s, 1)).To(gomega.HaveLen(10))
	g.Expect(index(g, s, 3)).To(gomega.HaveLen(10))
}

func refusesOrphans(t *testing.T, s store) {
	g := gomega.NewWithT(t)
	appendTo := func(number uint64) error {
		return tryCommit(s, mq9.AppendMessages{Number: number, Messages: []*mq9.Message{message(1, mq9.Critical)}})
	}
	g.Expect(appendTo(1)).To(gomega.MatchError(mq9.ErrNoMailbox), "before it was created")
	commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(1)})
	g.Expect(appendTo(1)).To(gomega.Succeed())
	commit(g, s, mq9.ExpireMailbox{Mailbox: mailbox(1)})
	g.Expect(appendTo(1)).To(gomega.MatchError(mq9.ErrNoMailbox), "right after it expired")
	g.Eventually(func() []mq9.Entry { return index(g, s, 1) }).Should(gomega.BeEmpty())
	g.Expect(appendTo(1)).To(gomega.MatchError(mq9.ErrNoMailbox), "long after it expired")
	g.Expect(index(g, s, 1)).To(gomega.BeEmpty())
}

// agreesWithModel runs random histories, grouped as it happens, against maps.
func agreesWithModel(t *testing.T, s store) {
	g := gomega.NewWithT(t)
	random := rand.New(rand.NewPCG(1, 2))
	model := map[uint64]map[mq9.Entry]bool{}
	var group sync.WaitGroup
	for range 3000 {
		number := uint64(random.IntN(6)) + 1
		m := message(mq9.MsgID(random.IntN(40)), mq9.Priority(random.IntN(2)))
		alive := model[number] != nil
		var c mq9.Change
		var want error
		switch random.IntN(12) {
		case 0:
			c = mq9.CreateMailbox{Mailbox: mailbox(number)}
			if !alive {
				model[number] = map[mq9.Entry]bool{}
			}
			// A number lives once: what expired stays away, see below.
		case 1, 2, 3:
			c = mq9.DeleteMessage{Number: number, Priority: m.Priority, ID: m.ID}
			delete(model[number], m.Entry())
		default:
			c = mq9.AppendMessages{Number: number, Messages: []*mq9.Message{m}}
			if alive {
				model[number][m.Entry()] = true
			} else {
				want = mq9.ErrNoMailbox
			}
		}
		group.Add(1)
		s.Commit(c, func(err error) {
			defer group.Done()
			g.Expect(errors.Is(err, want)).To(gomega.BeTrue(), fmt.Sprintf("%T on %d: %v", c, number, err))
		})
	}
	s.Commit(mq9.ExpireMailbox{Mailbox: mailbox(3)}, nil)
	delete(model, 3)
	group.Wait()
	g.Eventually(func() []mq9.Entry { return index(g, s, 3) }).Should(gomega.BeEmpty())
	for number := range uint64(8) {
		got := index(g, s, number)
		g.Expect(got).To(gomega.HaveLen(len(model[number])))
		for _, e := range got {
			g.Expect(model[number]).To(gomega.HaveKey(e))
		}
	}
	g.Expect(mailboxes(g, s)).To(gomega.HaveLen(len(model)))
}
