package persistence

import (
	"errors"
	"math"
	"testing"

	"github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/mq9-broker/broker/mq9"
)

// store is what both implementations have in common; the broker's own interface asks for no more.
type store interface {
	Mailboxes(fn func(mq9.Mailbox) error) error
	Index(number uint64, fn func(mq9.Entry)) error
	Read(number uint64, p mq9.Priority, from mq9.MsgID, maxBytes int) ([]*mq9.Message, error)
	Commit(c mq9.Change, done func(error))
	ReserveIDs(n uint64) (first uint64, err error)
	Outstanding() int
	Err() error
	Close() error
}

var (
	_ store = (*Store)(nil)
	_ store = (*Memory)(nil)
)

func TestConformanceOfMemory(t *testing.T) {
	conformance(t, func(*testing.T) store { return NewMemory() })
}

func TestConformanceOfStore(t *testing.T) {
	for _, mode := range []Sync{SyncAlways, SyncInterval, SyncNever} {
		t.Run(mode.String(), func(t *testing.T) {
			conformance(t, func(t *testing.T) store { return open(t, t.TempDir(), Options{Sync: mode}) })
		})
	}
}

func TestConformanceWithTinyBatches(t *testing.T) {
	conformance(t, func(t *testing.T) store {
		return open(t, t.TempDir(), Options{Sync: SyncNever, MaxBatchChanges: 1, MaxBatchBytes: 1, MemtableBytes: 64 << 10})
	})
}

// conformance runs every rule that holds for any store. fresh gives an empty one.
func conformance(t *testing.T, fresh func(*testing.T) store) {
	for name, rule := range map[string]func(*testing.T, store){
		"keeps mailboxes as they were created":             keepsMailboxes,
		"keeps accounts apart":                             keepsAccountsApart,
		"stops Mailboxes at the first error":               stopsAtFirstError,
		"keeps messages as they were accepted":             keepsMessages,
		"reads from an id, within bytes":                   readsWithinBytes,
		"indexes in delivery order":                        indexesInOrder,
		"deletes one message":                              deletesOne,
		"begins behind what was deleted":                   beginsBehindWhatWasDeleted,
		"knows what is outstanding":                        knowsWhatIsOutstanding,
		"reads long and short messages":                    readsLongAndShort,
		"forgets an expired mailbox and what is in it":     forgetsExpired,
		"refuses messages for mailboxes that do not live":  refusesOrphans,
		"leaves a namesake alone when expired twice":       leavesNamesakeAlone,
		"does a change twice as once":                      doesTwiceAsOnce,
		"refuses what cannot be stored, and that alone":    refusesInvalid,
		"tells each waiter once and in order":              tellsInOrder,
		"never hands out an id twice":                      neverReusesIDs,
		"is safe for concurrent use":                       isSafeForConcurrentUse,
		"finishes what was handed over and then says no":   closesOrderly,
		"answers everything although it is being closed":   closesUnderLoad,
		"agrees with a simple model over random histories": agreesWithModel,
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			before := gleak.Goroutines()
			s := fresh(t)
			rule(t, s)
			g.Expect(s.Close()).To(gomega.Succeed())
			g.Expect(s.Close()).To(gomega.Succeed(), "closing again")
			g.Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before))
		})
	}
}

func keepsMailboxes(t *testing.T, s store) {
	g := gomega.NewWithT(t)
	want := []mq9.Mailbox{
		{Number: 1, Account: "$G", ID: mq9.NewMailID(), TTL: 1, Created: 1},
		{Number: 7, Account: "$G", ID: "任务.队列", Public: true, Desc: "多 lines\nand \x00", TTL: mq9.MaxTTL, MaxInflight: mq9.MaxMaxInflight, Created: math.MaxInt64},
		{Number: math.MaxUint64, Account: "", ID: "x", Public: true, TTL: 60, MaxInflight: 1, Created: -1},
	}
	for i := range want {
		commit(g, s, mq9.CreateMailbox{Mailbox: &want[i]})
	}
	g.Expect(mailboxes(g, s)).To(gomega.ConsistOf(want))
}

func keepsAccountsApart(t *testing.T, s store) {
	g := gomega.NewWithT(t)
	for i, m := range []mq9.Mailbox{{Account: "a", ID: "bc"}, {Account: "ab", ID: "c"}, {Account: "", ID: "abc"}} {
		m.Number, m.TTL = uint64(i+1), 60
		commit(g, s, mq9.CreateMailbox{Mailbox: &m})
	}
	g.Expect(mailboxes(g, s)).To(gomega.HaveLen(3))
	commit(g, s, mq9.ExpireMailbox{Mailbox: &mq9.Mailbox{Number: 1, Account: "a", ID: "bc", TTL: 60}})
	g.Expect(mailboxes(g, s)).To(gomega.HaveLen(2))
}

func stopsAtFirstError(t *testing.T, s store) {
	g := gomega.NewWithT(t)
	for n := range uint64(3) {
		commit(g, s, mq9.CreateMailbox{Mailbox: mailbox(n + 1)})
	}
	enough, calls := errors.New("enough"), 0
	err := s.Mailboxes(func(mq9.Mailbox) error { calls++; return enough })
	g.Expect(err).To(gomega.Equal(enough))
	g.Expect(calls).To(gomega.Equal(1))
}

func leavesNamesakeAlone(t *testing.T, s store) {
	g := gomega.NewWithT(t)
	first, second := mailbox(1), mailbox(2)
	second.ID = first.ID
	commit(g, s, mq9.CreateMailbox{Mailbox: first})
	commit(g, s, mq9.ExpireMailbox{Mailbox: first})
	commit(g, s, mq9.CreateMailbox{Mailbox: second})
	commit(g, s, mq9.AppendMessages{Number: 2, Messages: []*mq9.Message{message(1, mq9.Urgent)}})
	commit(g, s, mq9.ExpireMailbox{Mailbox: first})
	g.Expect(mailboxes(g, s)).To(gomega.ConsistOf(*second))
	g.Expect(index(g, s, 2)).To(gomega.HaveLen(1))
}
