package crash

import (
	"math"
	"math/rand/v2"
	"time"
)

// plan is what a life is to be: drawn from the seed alone, so that the same seed plans the same lives.
type plan struct {
	// starting is how long after its launch the process is killed when that is before it is ready; zero = it may get ready.
	starting time.Duration
	// operations is how many calls the life may make before it is killed.
	operations int
	workers    []*rand.Rand // one source of draws for each connection
}

// connections is how many work at once.
const connections = 8

// newPlan draws the life with the given number.
func newPlan(seed uint64, life int) plan {
	draw := func(stream int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(life)<<16|uint64(stream))) }
	r := draw(0)
	const least, most = 5, 4000
	// Short lives matter as much as long ones: the logarithm is uniform.
	p := plan{operations: int(least * math.Exp(r.Float64()*math.Log(most/least)))}
	if life > 1 && r.IntN(12) == 0 {
		p.starting = time.Duration(1+r.IntN(150)) * time.Millisecond
	}
	for i := range connections {
		p.workers = append(p.workers, draw(i+1))
	}
	return p
}

// step is one thing that a connection does, with the draws that decide how. It depends on nothing but the seed; what it hits depends also on
// what the broker said before.
type step struct {
	do      func(*worker, step)
	which   uint64 // which mailbox
	message uint64 // which message, or which bytes
	how     uint64
	some    int // how many, 1 to 16
}

// weights says how often each kind of step is drawn.
var weights = []struct {
	weight int
	do     func(*worker, step)
}{
	{26, (*worker).send},
	{16, (*worker).publish},
	{12, (*worker).delete},
	{6, (*worker).drop},
	{4, (*worker).createPrivate},
	{6, (*worker).createPublic},
	{2, (*worker).confirm},
	{5, (*worker).list},
	{5, (*worker).subscribe},
	{3, (*worker).unsubscribe},
	{3, (*worker).join},
	{9, (*worker).work},
	{1, (*worker).discover},
	{1, (*worker).reconnect},
	{1, (*worker).flush},
}

// next draws a step.
func next(r *rand.Rand) step {
	total := 0
	for _, w := range weights {
		total += w.weight
	}
	at := r.IntN(total)
	s := step{which: r.Uint64(), message: r.Uint64(), how: r.Uint64(), some: 1 + r.IntN(16)}
	for _, w := range weights {
		if at -= w.weight; at < 0 {
			s.do = w.do
			break
		}
	}
	return s
}
