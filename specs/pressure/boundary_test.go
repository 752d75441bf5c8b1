package pressure_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// Where replay ends and live delivery begins, nothing is lost and nothing comes twice.
var _ = Describe("Subscribing while messages are published", func() { // fault kind 9
	var (
		agent *harness.Client
		id    string
	)

	BeforeEach(func() {
		agent = broker.Connect()
		id = agent.Private()
	})

	const end = "end"

	// follow subscribes and reads until the end, looks whether all came, and then whether more comes.
	follow := func(l *ledger) error {
		s, err := dial(broker.Addr, false)
		if err != nil {
			return err
		}
		defer s.conn.Close()
		if err := s.say("SUB %s%s.* 1\r\n", harness.Send, id); err != nil {
			return err
		}
		r := l.reader()
		for {
			f, err := s.next()
			switch {
			case err != nil:
				return fmt.Errorf("after %v: %w", r.next, err)
			case f.name() == end:
				return errors.Join(r.complete(), s.sync("")) // a delivery before the PONG is an error
			}
			if err := r.got(f.name()); err != nil {
				return err
			}
		}
	}

	// finish sends the message that stands behind all others.
	finish := func() {
		GinkgoHelper()
		agent.Sync()
		agent.Send(id, end)
	}

	// crowd starts n followers, one after another at random whenever another part of the messages is out, and returns how to wait for them.
	crowd := func(n int, l *ledger) (join func(), wait func()) {
		results := make(chan error, n)
		started := 0
		join = func() {
			if started < n {
				started++
				go func() { results <- follow(l) }()
			}
		}
		wait = func() {
			GinkgoHelper()
			for started < n {
				join()
			}
			var failures []error
			for range n {
				var err error
				Eventually(results).WithTimeout(4 * patience).Should(Receive(&err))
				failures = append(failures, err)
			}
			Expect(errors.Join(failures...)).To(Succeed())
		}
		return join, wait
	}

	It("gives everyone each message exactly once and in order", func() {
		n, readers := size(10_000, 100_000), size(40, 200)
		names := mixture(n)
		l := newLedger(names)
		join, wait := crowd(readers, l)
		dice := rand.New(rand.NewPCG(uint64(GinkgoRandomSeed()), 4))
		for i, name := range names {
			if dice.IntN(n) < readers {
				join()
			}
			Expect(agent.Conn.Publish(harness.Send+id+suffix(name), []byte(name))).To(Succeed())
			if i%1000 == 999 {
				agent.Sync()
			}
		}
		finish()
		wait()
	})

	It("does so while messages are deleted", func() {
		n, readers := size(4000, 40_000), size(20, 100)
		names := mixture(n)
		l := newLedger(names)
		join, wait := crowd(readers, l)
		dice := rand.New(rand.NewPCG(uint64(GinkgoRandomSeed()), 5))
		const batch = 200
		for from := 0; from < n; from += batch {
			join()
			for _, name := range names[from : from+batch] {
				Expect(agent.Conn.Publish(harness.Send+id+suffix(name), []byte(name))).To(Succeed())
			}
			agent.Sync()
			stored := agent.Stored(id)
			Expect(stored).NotTo(BeEmpty())
			// What is stored is in delivery order; what is deleted is told by name before, so that a reader may miss it.
			left := inDeliveryOrder(without(names[:from+batch], l.deleted))
			Expect(stored).To(HaveLen(len(left)))
			for range batch / 2 {
				i := dice.IntN(len(left))
				l.remove(left[i])
				Expect(agent.Conn.Publish(harness.Delete+id+"."+stored[i], nil)).To(Succeed())
			}
		}
		finish()
		wait()
	})

	It("does so across the end of a mailbox and its creation anew", func() {
		name := harness.UniqueName()
		const lives, each = 3, 500
		create := func(life int) bool {
			ttl := 1
			if life == lives {
				ttl = 600
			}
			return agent.Create(fmt.Sprintf(`{"public":true,"name":%q,"ttl":%d}`, name, ttl)).IsNew
		}
		Expect(create(1)).To(BeTrue())
		var now atomic.Int64 // the life that began last
		const readers = 20
		results := make(chan error, readers)
		for range readers {
			go func() {
				results <- func() error {
					s, err := dial(broker.Addr, false)
					if err != nil {
						return err
					}
					defer s.conn.Close()
					if err := s.say("SUB %s%s 1\r\n", harness.Send, name); err != nil {
						return err
					}
					for life, next := 1, 0; ; {
						f, err := s.next()
						if err != nil {
							return err
						}
						var l, n int
						if _, err := fmt.Sscanf(f.name(), "%d.%d", &l, &n); err != nil {
							return err
						}
						if l != life {
							life, next = l, 0
						}
						if n != next {
							return fmt.Errorf("number %d of life %d came instead of %d", n, life, next)
						}
						next++
						if int64(life) > now.Load() {
							return fmt.Errorf("a message of life %d came before it began", life)
						}
						if life == lives && n == each-1 {
							return nil
						}
					}
				}()
			}()
		}
		for life := 1; life <= lives; life++ {
			now.Store(int64(life))
			if life > 1 {
				Eventually(create).WithArguments(life).WithPolling(time.Millisecond).Should(BeTrue())
			}
			for n := range each {
				message := fmt.Sprintf("%d.%d", life, n)
				if life == lives {
					agent.Send(name, message)
				} else if agent.Refused(harness.Send+name, message).Code != 0 {
					break // its life is over
				}
			}
		}
		for range readers {
			var err error
			Eventually(results).Should(Receive(&err))
			Expect(err).NotTo(HaveOccurred())
		}
	})

	It("answers PING within a second to a connection with 64 subscriptions and a big backlog", func() {
		backlog, subscriptions := size(10_000, 1_000_000), 64
		publish(agent, backlog, func(i int) (string, string) { return id, padded(fmt.Sprint(i), 128) })
		s := open(broker.Addr, false)
		for sid := range subscriptions {
			Expect(s.say("SUB %s%s.* %d\r\n", harness.Send, id, sid)).To(Succeed())
		}
		Expect(s.say("PING\r\n")).To(Succeed())
		asked, worst, pings := time.Now(), time.Duration(0), 0
		next := make([]int, subscriptions)
		for left := backlog * subscriptions; left > 0; {
			f, err := s.next()
			Expect(err).NotTo(HaveOccurred())
			if f.op == "PONG" {
				worst, pings = max(worst, time.Since(asked)), pings+1
				Expect(s.say("PING\r\n")).To(Succeed())
				asked = time.Now()
				continue
			}
			sid := number(f.sid)
			if n := number([]byte(f.name())); n != next[sid] {
				Expect(n).To(Equal(next[sid]), "on subscription %d", sid)
			}
			next[sid]++
			left--
		}
		AddReportEntry(fmt.Sprintf("%d PINGs, the slowest answered in %v", pings, worst))
		Expect(worst).To(BeNumerically("<", time.Second))
		Expect(pings).To(BeNumerically(">", 10))
	})
})

// without returns the names that are not in the set.
func without(names []string, set map[string]bool) []string {
	var left []string
	for _, name := range names {
		if !set[name] {
			left = append(left, name)
		}
	}
	return left
}
