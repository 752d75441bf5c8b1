package pressure_test

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// Protocol section 8, and the reason why bodies are read from disk: a mailbox may be bigger than memory.
var _ = Describe("A mailbox bigger than the broker's memory", func() {
	const mib = 1 << 20

	It("is replayed whole and in order", func() {
		each := size(8<<10, 16<<10)
		backlog := size(1<<30, 5<<30) / each
		allowed := size(512, 1024) // MiB

		big := harness.NewBroker(program, GinkgoT().TempDir(), "--sync", "interval")
		big.Env = []string{fmt.Sprintf("GOMEMLIMIT=%dMiB", allowed/2)} // the rest is for the store's cache and memtables
		DeferCleanup(func() {
			big.Kill()
			big.CheckLog()
		})
		big.Start()
		id := big.Connect().Private()
		const together = 2000 // how many are flushed at a time
		writer := big.Connect()
		for from := 0; from < backlog; from += together {
			publish(writer, min(together, backlog-from), func(i int) (string, string) {
				return id + ".urgent", padded(fmt.Sprint(from+i), each)
			})
		}
		Expect(big.PeakMemory()).To(BeNumerically("<", allowed*mib), "while it fills")
		big.Stop()
		big.Start()

		began := time.Now()
		s := open(big.Addr, false)
		Expect(s.say("SUB %s%s.* 1\r\n", harness.Send, id)).To(Succeed())
		for i := range backlog {
			f, err := s.next()
			Expect(err).NotTo(HaveOccurred())
			if f.name() != fmt.Sprint(i) || len(f.payload) != each {
				Fail(fmt.Sprintf("%q with %d bytes came as number %d", f.name(), len(f.payload), i))
			}
		}
		took := time.Since(began)
		peak := big.PeakMemory()
		AddReportEntry(fmt.Sprintf("%d MiB were replayed in %.1f s, %.0f MiB/s; resident memory reached %d MiB",
			backlog*each/mib, took.Seconds(), float64(backlog*each/mib)/took.Seconds(), peak/mib))
		Expect(peak).To(BeNumerically("<", allowed*mib), "while it is replayed")
	})
})
