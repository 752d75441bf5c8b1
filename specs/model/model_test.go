package model

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

var (
	seeds    = flag.Uint64("seeds", 300, "how many seeds to run")
	first    = flag.Uint64("first", 1, "the first of them")
	parallel = flag.Int("workers", 24, "how many plans run at the same time")
)

func TestModel(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "The broker against the model")
}

// patience is how long something that is due may take, on a loaded machine and under the race detector.
const patience = 20 * time.Second

var (
	broker *harness.Broker // shared: each plan has names of its own
	target Target
)

var _ = BeforeSuite(func() {
	dir, err := os.MkdirTemp("", "mq9-model-")
	Expect(err).NotTo(HaveOccurred())
	monitor := harness.FreeAddr("127.0.0.1")
	config := filepath.Join(dir, "nats.conf")
	Expect(os.WriteFile(config, []byte("http: \""+monitor+"\"\n"), 0o600)).To(Succeed())
	broker = harness.NewBroker(harness.BuildBroker(), dir, "--nats-config", config)
	broker.Start()
	target = Target{Addr: broker.Addr, Monitor: monitor, Run: fmt.Sprintf("model-%d", time.Now().UnixNano())}
	DeferCleanup(func() {
		broker.Stop()
		broker.CheckLog()
		Expect(os.RemoveAll(dir)).To(Succeed())
	})
})

// failure is a plan that went wrong.
type failure struct {
	plan Plan
	err  error
}

var _ = Describe("The broker", func() {
	It("does what the model says, seed by seed", func() {
		var next atomic.Uint64
		var failed atomic.Pointer[failure]
		var group sync.WaitGroup
		for range *parallel {
			group.Go(func() {
				for failed.Load() == nil {
					n := next.Add(1) - 1
					if n >= *seeds {
						return
					}
					plan := NewPlan(*first + n)
					if err := Run(target, plan, patience); err != nil {
						failed.CompareAndSwap(nil, &failure{plan, err})
					}
				}
			})
		}
		group.Wait()
		if f := failed.Load(); f != nil {
			again := func(p Plan) error { return Run(target, p, 3*time.Second) }
			plan, err := Shrink(f.plan, f.err, again, time.Minute)
			Fail(fmt.Sprintf("seed %d: %v\n\nmade smaller: %v\n%s", f.plan.Seed, f.err, err, plan))
		}
		fmt.Fprintf(GinkgoWriter, "seeds %d to %d\n", *first, *first+*seeds-1)
	})

	It("is told from one with another rule, whichever that is", func() {
		var group sync.WaitGroup
		var told [mistakes]atomic.Bool
		for wrong := none + 1; wrong < mistakes; wrong++ {
			group.Go(func() {
				for seed := *first; seed < *first+300 && !told[wrong].Load(); seed++ {
					plan := NewPlan(seed)
					if slices.ContainsFunc(plan.Boxes, func(b BoxPlan) bool { return b.Mortal }) {
						continue // it takes seconds
					}
					told[wrong].Store(run(target, plan, 300*time.Millisecond, wrong) != nil)
				}
			})
		}
		group.Wait()
		for wrong := none + 1; wrong < mistakes; wrong++ {
			Expect(told[wrong].Load()).To(BeTrue(), "no plan tells the difference that mistake %d makes", wrong)
		}
	})
})

var _ = Describe("Shrinking", func() {
	It("keeps the steps and items that the failure needs", func() {
		plan := NewPlan(7)
		plan.Steps = append(plan.Steps, Step{Kind: Burst, Items: []Item{{Size: 1}, {Size: 4711}, {Size: 2}}})
		fails := func(p Plan) error {
			if strings.Contains(p.String(), "4711") {
				return errors.New("it is there")
			}
			return nil
		}
		small, err := Shrink(plan, fails(plan), fails, time.Minute)
		Expect(err).To(MatchError("it is there"))
		Expect(small.Steps).To(Equal([]Step{{Kind: Burst, Items: []Item{{Size: 4711}}}}))
	})
})
