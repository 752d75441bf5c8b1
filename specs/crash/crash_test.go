package crash_test

import (
	"flag"
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/crash"
	"github.com/mq9-broker/broker/specs/harness"
)

var (
	kills = flag.Int("kills", 15, "how often the broker is killed")
	mode  = flag.String("sync", "always", "the broker's sync mode; the end of the process costs nothing in any of them")
	seed  = flag.Uint64("seed", 0, "the seed of a run to be repeated; 0 draws one")
)

func TestCrash(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "A broker that is killed")
}

var _ = Describe("Killed again and again at random instants", func() { // kinds 1 to 4, 6, 16, 19 and 31 of faults
	It("loses nothing that it acknowledged, doubles nothing, brings nothing back", func() {
		if *seed == 0 {
			*seed = uint64(time.Now().UnixNano())>>8&0xffffff + 1
		}
		run := crash.NewRun(harness.BuildBroker(), *seed, "--sync", *mode)
		run.Kills(*kills)
		fmt.Println("\n" + run.Summary())
	})
})
