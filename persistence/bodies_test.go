package persistence

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

// long makes a message whose body is kept apart.
func long(id mq9.MsgID, p mq9.Priority) *mq9.Message {
	return &mq9.Message{ID: id, Priority: p, At: int64(id) + 1, Header: []byte("K: v\r\n"), Payload: noise(apartFrom, uint64(id))}
}

// mixed is long for every third id, and message for the others.
func mixed(id mq9.MsgID, p mq9.Priority) *mq9.Message {
	if id%3 == 0 {
		return long(id, p)
	}
	return message(id, p)
}

func readsLongAndShort(t *testing.T, s store) {
	g := gomega.NewWithT(t)
	for number := range uint64(3) {
		commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(number + 1)})
	}
	var want [mq9.Normal][]*mq9.Message
	var entries []mq9.Entry
	for p := range mq9.Normal {
		for id := mq9.MsgID(p); id < 100; id += 2 {
			for number := range uint64(3) {
				commit(g, s, mq9.AppendMessages{Number: number + 1, Messages: []*mq9.Message{mixed(id, p)}})
			}
			if id%5 == 0 {
				commit(g, s, mq9.DeleteMessage{Number: 2, Priority: p, ID: id})
				continue
			}
			want[p] = append(want[p], mixed(id, p))
			entries = append(entries, mixed(id, p).Entry())
		}
	}
	g.Expect(index(g, s, 2)).To(gomega.Equal(entries))
	for p := range mq9.Normal {
		g.Expect(readAll(g, s, 2, p)).To(gomega.Equal(want[p]))
		for i, m := range want[p] { // from anywhere, a few at a time
			got, err := s.Read(2, p, m.ID, 3000)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(got).To(gomega.Equal(want[p][i : i+len(got)]))
			g.Expect(len(got)).To(gomega.BeNumerically(">", 0))
		}
	}
	commit(g, s, mq9.ExpireMailbox{Mailbox: mailbox(2)})
	g.Eventually(func() []mq9.Entry { return index(g, s, 2) }).Should(gomega.BeEmpty())
	g.Expect(readAll(g, s, 3, mq9.Urgent)).To(gomega.HaveLen(50))
}

// No body outlives its message, whatever the store knew of its mailbox when that went.
func TestBodiesGoWithTheirMessages(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	s := open(t, dir, Options{})
	bodies := func() int { return stored(g, s, familyBodies) }
	for number := uint64(1); number <= 4; number++ {
		commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(number)})
	}
	for id := range mq9.MsgID(4) {
		commit(g, s, mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{long(id, mq9.Urgent)}})
		commit(g, s, mq9.AppendMessages{Number: 2, Messages: []*mq9.Message{long(id, mq9.Urgent)}})
		commit(g, s, mq9.AppendMessages{Number: 3, Messages: []*mq9.Message{message(id, mq9.Urgent)}})
	}
	g.Expect(bodies()).To(gomega.Equal(8))
	commit(g, s, mq9.DeleteMessage{Number: 1, Priority: mq9.Urgent, ID: 0})
	g.Expect(bodies()).To(gomega.Equal(7))
	g.Expect(s.Close()).To(gomega.Succeed())

	s = open(t, dir, Options{})
	commit(g, s, mq9.DeleteMessage{Number: 1, Priority: mq9.Urgent, ID: 1})
	commit(g, s, mq9.DeleteMessage{Number: 3, Priority: mq9.Urgent, ID: 1})
	g.Expect(bodies()).To(gomega.Equal(6))
	g.Expect([]presence{s.live[1].bodies, s.live[3].bodies}).To(gomega.Equal([]presence{some, none}))
	commit(g, s, mq9.AppendMessages{Number: 3, Messages: []*mq9.Message{long(9, mq9.Urgent)}})
	commit(g, s, mq9.DeleteMessage{Number: 3, Priority: mq9.Urgent, ID: 9})
	g.Expect(bodies()).To(gomega.Equal(6), "a mailbox may get its first long message late")
	for number := uint64(1); number <= 4; number++ {
		commit(g, s, mq9.ExpireMailbox{Mailbox: mailbox(number)})
	}
	g.Eventually(bodies).WithTimeout(longest).Should(gomega.BeZero())
	g.Eventually(func() int { return stored(g, s, familyMessages) }).WithTimeout(longest).Should(gomega.BeZero())
}

func TestBodiesThatAreNotThere(t *testing.T) {
	g := gomega.NewWithT(t)
	s := open(t, t.TempDir(), Options{})
	commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(1)})
	for id := range mq9.MsgID(3) {
		commit(g, s, mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{long(id, mq9.Urgent)}})
	}
	overwrite(g, s, familyBodies, appendMessageKey(nil, 1, mq9.Urgent, 1), []byte("another's"))
	_, err := s.Read(1, mq9.Urgent, 0, 1<<20)
	g.Expect(err).To(gomega.MatchError(ErrCorrupt))
	g.Expect(s.Read(1, mq9.Urgent, 0, 1)).To(gomega.HaveLen(1))
	g.Expect(s.committer.commitWait(purge{familyBodies, [][]byte{appendMessageKey(nil, 1, mq9.Urgent, 0)}})).To(gomega.Succeed())
	_, err = s.Read(1, mq9.Urgent, 0, 1)
	g.Expect(err).To(gomega.MatchError(ErrCorrupt))
}

// A replay passes what was deleted in its middle without being held up: the caller knows the next message.
func TestReadIsNotHeldUpByDeletions(t *testing.T) {
	g := gomega.NewWithT(t)
	s := open(t, t.TempDir(), Options{Sync: SyncNever})
	commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(1)})
	const n = patienceOfRead * 3
	for id := range mq9.MsgID(n) {
		s.Commit(mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{message(id+1, mq9.Urgent)}}, nil)
	}
	for id := range mq9.MsgID(n - 2) {
		s.Commit(mq9.DeleteMessage{Number: 1, Priority: mq9.Urgent, ID: id + 2, First: 1}, nil)
	}
	commit(g, s, mq9.DeleteMessage{Number: 1, Priority: mq9.Urgent, ID: n + 1, First: 1})
	read := func(from mq9.MsgID) []mq9.MsgID {
		got, err := s.Read(1, mq9.Urgent, from, 1<<20)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		return idsOf(got)
	}
	g.Expect(read(1)).To(gomega.Equal([]mq9.MsgID{1}), "the next is far")
	g.Expect(read(2)).To(gomega.Equal([]mq9.MsgID{n}), "there is one, so it is found")
	g.Expect(read(n)).To(gomega.Equal([]mq9.MsgID{n}))
	g.Expect(read(n + 1)).To(gomega.BeEmpty())
	g.Expect(index(g, s, 1)).To(gomega.HaveLen(2))
}

// A body that went with its message while somebody read is no damage.
func TestBodyThatIsGone(t *testing.T) {
	g := gomega.NewWithT(t)
	s := open(t, t.TempDir(), Options{})
	commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(1)})
	key := func(n uint64) []byte { return appendMessageKey(nil, 1, mq9.Critical, mq9.NewMsgID(n, mq9.Critical)) }
	for n := range uint64(3) {
		m := message(mq9.NewMsgID(n+1, mq9.Critical), mq9.Critical)
		m.Payload = make([]byte, apartFrom)
		commit(g, s, mq9.AppendMessages{Number: 1, Messages: []*mq9.Message{m}})
	}
	commit(g, s, mq9.DeleteMessage{Number: 1, Priority: mq9.Critical, ID: mq9.NewMsgID(2, mq9.Critical)})
	apart := bodies{engine: s.mu.engine}
	defer apart.close()
	_, there, err := apart.get(key(2))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(there).To(gomega.BeFalse())
	_, there, err = apart.get(key(3))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(there).To(gomega.BeTrue())
}
