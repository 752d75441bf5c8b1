package frontend

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestItemQueueAgreesWithASlice(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var (
		q     itemQueue
		model []int
	)
	for n := range 100_000 {
		switch what := random.IntN(10); {
		case what < 4 || n%1000 < 300 && what < 8: // it grows long now and then
			q.push(item{cost: n})
			model = append(model, n)
		case what < 5:
			q.pushFront(item{cost: n})
			model = slices.Insert(model, 0, n)
		default:
			it, ok := q.pop()
			if ok != (len(model) > 0) {
				t.Fatalf("pop gave %v from %d", ok, len(model))
			}
			if ok {
				if it.cost != model[0] {
					t.Fatalf("got %d, want %d", it.cost, model[0])
				}
				model = model[1:]
			}
		}
		switch last := q.last(); {
		case len(model) == 0 && last != nil || len(model) > 0 && (last == nil || last.cost != model[len(model)-1]):
			t.Fatalf("the last one of %d is %v", len(model), last)
		}
	}
	q.drop()
	if _, ok := q.pop(); ok {
		t.Fatal("something is left")
	}
}
