package actors

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

func message(number uint64, p mq9.Priority) *mq9.Message {
	return &mq9.Message{ID: mq9.NewMsgID(number, p), Priority: p, Payload: []byte("x")}
}

func (qs *queues) put(number uint64, p mq9.Priority, s state) mq9.MsgID {
	m := message(number, p)
	qs[p].add(newEntry(m.Entry(), m, s))
	return m.ID
}

func TestAQueueAgreesWithASortedList(t *testing.T) {
	g := gomega.NewWithT(t)
	random := rand.New(rand.NewPCG(1, 2))
	var q queue
	var model []mq9.MsgID
	for number := uint64(1); number < 20_000; number++ {
		m := message(number, mq9.Normal)
		q.add(newEntry(m.Entry(), m, stored))
		model = append(model, m.ID)
		for range random.IntN(3) { // shrinks as often as it grows
			if len(model) == 0 {
				break
			}
			i := random.IntN(len(model))
			if random.IntN(2) == 0 {
				i = 0
			}
			g.Expect(q.remove(model[i])).To(gomega.BeTrue())
			g.Expect(q.remove(model[i])).To(gomega.BeFalse())
			model = slices.Delete(model, i, i+1)
		}
		if number%500 == 0 {
			var got []mq9.MsgID
			for e := q.after(0); e != nil; e = q.after(e.id) {
				got = append(got, e.id)
			}
			g.Expect(got).To(gomega.HaveLen(len(model)))
			g.Expect(slices.Equal(got, model)).To(gomega.BeTrue())
			g.Expect(q.live).To(gomega.Equal(len(model)))
			places, bytes := 0, 0
			for _, b := range q.blocks {
				places += len(b.entries)
				bytes += b.live
			}
			g.Expect(bytes).To(gomega.Equal(len(model)))
			g.Expect(q.held()).To(gomega.Equal(Depth{int64(len(model)), int64(len(model))}))
			g.Expect(places).To(gomega.BeNumerically("<=", 2*len(model)+32*len(q.blocks)), "deleted places are given back")
		}
	}
}

func TestNothingOvertakesWhatIsStillBeingStored(t *testing.T) {
	type want = []uint64 // the numbers that a reader of everything gets
	for name, c := range map[string]struct {
		put  func(*queues)
		want want
	}{
		"a normal accepted after a critical that is being stored waits": {
			func(qs *queues) { qs.put(1, mq9.Critical, storing); qs.put(2, mq9.Normal, stored) }, nil,
		},
		"a normal accepted before it does not": {
			func(qs *queues) { qs.put(1, mq9.Normal, stored); qs.put(2, mq9.Critical, storing) }, want{1},
		},
		"a critical does not wait for an urgent": {
			func(qs *queues) { qs.put(1, mq9.Urgent, storing); qs.put(2, mq9.Critical, stored) }, want{2},
		},
		"within a priority the order is kept": {
			func(qs *queues) {
				qs.put(1, mq9.Critical, storing)
				qs.put(2, mq9.Critical, storing)
				qs[0].settle(message(1, 0).Entry(), false)
			}, want{1},
		},
		"a failed one holds nobody back": {
			func(qs *queues) {
				qs.put(1, mq9.Critical, storing)
				qs.put(2, mq9.Normal, stored)
				qs[0].settle(message(1, 0).Entry(), true)
			}, want{2},
		},
		"one that is being deleted is hidden, and not overtaken": {
			func(qs *queues) {
				id := qs.put(1, mq9.Urgent, stored)
				qs[1].find(id).state = deleting
				qs.put(2, mq9.Urgent, stored)
				qs.put(3, mq9.Normal, stored)
				qs.put(4, mq9.Critical, stored)
			}, want{4},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var (
				qs  queues
				v   view
				got want
			)
			c.put(&qs)
			for p, e := qs.next(&v, mq9.AllPriorities); e != nil; p, e = qs.next(&v, mq9.AllPriorities) {
				got = append(got, uint64(e.id>>2))
				v.advance(p, e.id)
			}
			gomega.NewWithT(t).Expect(got).To(gomega.Equal(c.want))
		})
	}
}

func TestWhatWasGivenBackComesAtItsOldPlace(t *testing.T) {
	g := gomega.NewWithT(t)
	var (
		qs  queues
		v   view
		ids []mq9.MsgID
	)
	for number := uint64(1); number <= 6; number++ {
		ids = append(ids, qs.put(number, mq9.Normal, stored))
	}
	for range 4 {
		p, e := qs.next(&v, mq9.AllPriorities)
		v.advance(p, e.id)
	}
	v.giveBack([]mq9.MsgID{ids[3], ids[1], ids[2]})
	v.giveBack([]mq9.MsgID{ids[1], ids[5]}) // once more; and one that was not sent yet
	qs[mq9.Normal].remove(ids[2])
	var got []mq9.MsgID
	for p, e := qs.next(&v, mq9.AllPriorities); e != nil; p, e = qs.next(&v, mq9.AllPriorities) {
		got = append(got, e.id)
		v.advance(p, e.id)
	}
	g.Expect(got).To(gomega.Equal([]mq9.MsgID{ids[1], ids[3], ids[4], ids[5]}))
}

func TestAGivenBackMessageThatIsBeingDeletedHoldsNoOtherBack(t *testing.T) {
	g := gomega.NewWithT(t)
	var (
		qs queues
		v  view
	)
	first, second := qs.put(1, mq9.Urgent, stored), qs.put(2, mq9.Urgent, stored)
	v.cursor[mq9.Urgent] = second
	v.giveBack([]mq9.MsgID{first, second})
	qs[mq9.Urgent].find(first).state = deleting
	p, e := qs.next(&v, mq9.AllPriorities)
	g.Expect(e.id).To(gomega.Equal(second))
	v.advance(p, e.id)
	_, e = qs.next(&v, mq9.AllPriorities)
	g.Expect(e).To(gomega.BeNil())
	qs[mq9.Urgent].find(first).state = stored // its deletion failed
	_, e = qs.next(&v, mq9.AllPriorities)
	g.Expect(e.id).To(gomega.Equal(first))
}

func TestASettledMessageThatARestartedActorDoesNotKnow(t *testing.T) {
	g := gomega.NewWithT(t)
	var qs queues
	qs.put(9, mq9.Critical, storing) // accepted by the new incarnation
	qs[mq9.Critical].settle(message(5, mq9.Critical).Entry(), false)
	first := qs[mq9.Critical].after(0)
	g.Expect(first.id).To(gomega.Equal(mq9.NewMsgID(5, mq9.Critical)))
	id, waiting := qs[mq9.Critical].firstStoring()
	g.Expect(waiting).To(gomega.BeTrue())
	g.Expect(id).To(gomega.Equal(mq9.NewMsgID(9, mq9.Critical)))
}

// TestAheadIsWhatComesNext compares, over queues in every state, what is offered at once with what would be sent one by one.
func TestAheadIsWhatComesNext(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	states := []state{stored, stored, stored, stored, stored, storing, deleting, gone}
	longest := 0
	for range 2000 {
		var (
			qs   queues
			v    view
			sent []mq9.MsgID
		)
		for number := range uint64(random.IntN(300)) {
			p := mq9.Priority(random.IntN(mq9.Priorities))
			s := states[random.IntN(len(states))]
			if s == storing && number < 100 { // only the end can be
				s = stored
			}
			id := qs.put(number+1, p, s)
			if e := qs[p].find(id); e != nil && random.IntN(50) == 0 {
				e.message = nil
			}
		}
		for range random.IntN(20) {
			if p, e := qs.next(&v, mq9.AllPriorities); e != nil {
				sent = append(sent, e.id)
				v.advance(p, e.id)
			}
		}
		if len(sent) > 0 && random.IntN(2) == 0 {
			v.giveBack(sent[random.IntN(len(sent)):])
		}
		set := []mq9.PrioritySet{mq9.AllPriorities, mq9.Only(mq9.Urgent), mq9.Only(mq9.Normal)}[random.IntN(3)]
		ahead := qs.ahead(&v, set, new(batch))
		longest = max(longest, len(ahead))
		for i, m := range ahead {
			p, e := qs.next(&v, set)
			if e == nil || e.message != m {
				t.Fatalf("place %d of %d is not what comes next", i, len(ahead))
			}
			v.advance(p, e.id)
		}
		if p, e := qs.next(&v, set); len(ahead) == 0 && e != nil && e.message != nil {
			t.Fatalf("a message of priority %d that is in memory was not offered", p)
		}
	}
	if longest < 32 {
		t.Fatalf("at most %d were offered at once", longest)
	}
}

// TestWhatIsKeptWarmIsThere reads overlapping pages: each message that was kept last is in memory, and the books agree.
func TestWhatIsKeptWarmIsThere(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	m := &mailbox{contents: &contents{}}
	var all []*mq9.Message
	for number := range uint64(50) {
		one := message(number+1, mq9.Urgent)
		one.Payload = make([]byte, warmLimit/8)
		all = append(all, one)
		m.queues[mq9.Urgent].add(newEntry(one.Entry(), nil, stored))
	}
	for range 2000 {
		from := random.IntN(len(all) - 3)
		if m.queues[mq9.Urgent].find(all[from].ID).message != nil {
			continue // nobody would read
		}
		for _, one := range all[from : from+3] {
			m.keepWarm(one)
		}
		if m.queues[mq9.Urgent].find(all[from].ID).message == nil {
			t.Fatalf("message %d was read and is not in memory", from)
		}
		inMemory := 0
		for e := range m.queues[mq9.Urgent].behind(0) {
			if e.message != nil {
				inMemory += int(e.size)
			}
		}
		if inMemory != m.warmth || m.warmth > warmLimit {
			t.Fatalf("%d bytes are in memory, %d are known of", inMemory, m.warmth)
		}
	}
}
