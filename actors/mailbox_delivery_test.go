package actors

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

// Nothing here waits, so turns, joins and leaves fall between each other in every way.
func TestTurnsForgetNoReader(t *testing.T) {
	w := newWorld(t, Config{})
	ignore := func(*mq9.Error) {}
	for seed := range uint64(40) {
		dice := rand.New(rand.NewPCG(seed, 0))
		id := w.private()
		var (
			readers []*reading
			texts   []string
		)
		for range 200 {
			switch n := dice.IntN(10); {
			case n < 3:
				r := &reading{room: -1}
				r.sub = w.client.Subscribe(id, mq9.AllPriorities, "", r, ignore)
				readers = append(readers, r)
			case n < 4 && len(readers) > 0:
				i := dice.IntN(len(readers))
				readers[i].sub.Leave(false, nil)
				readers = append(readers[:i], readers[i+1:]...)
			default:
				texts = append(texts, fmt.Sprint(len(texts)))
				w.client.Send(id, Draft{Priority: mq9.Normal, Payload: []byte(texts[len(texts)-1])}, receipt(func(mq9.MsgID, *mq9.Error) {}))
				if dice.IntN(2) == 0 {
					w.client.Flush()
				}
			}
		}
		w.client.Flush()
		for _, r := range readers {
			w.Eventually(r.texts).Should(gomega.Equal(texts), "seed %d", seed)
		}
	}
}

func TestALongReplayTakesManyTurns(t *testing.T) {
	w := newWorld(t, Config{})
	id := w.private()
	const n = 3*turn + 1
	for i := range n - 1 {
		w.client.Send(id, Draft{Priority: mq9.Normal, Payload: fmt.Append(nil, i)}, receipt(func(mq9.MsgID, *mq9.Error) {}))
	}
	readers := make([]*reading, 5)
	for i := range readers {
		readers[i] = w.subscribe(id, mq9.AllPriorities, "", -1)
	}
	w.send(id, mq9.Normal, fmt.Sprint(n-1))
	for _, r := range readers {
		w.Eventually(r.texts).Should(gomega.HaveLen(n))
		for i, text := range r.texts() {
			if text != fmt.Sprint(i) {
				t.Fatalf("%q came as number %d", text, i)
			}
		}
	}
}
