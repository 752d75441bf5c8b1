package pressure_test

import (
	"fmt"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

var _ = Describe("Subscriptions that are alike", func() {
	var (
		agent *harness.Client
		id    string
	)

	BeforeEach(func() {
		agent = broker.Connect()
		id = agent.Private()
	})

	It("get each its own, on one connection with overlapping subjects", func() { // fault kind 13
		names := mixture(3000)
		half := len(names) / 2
		send := func(some []string) {
			publish(agent, len(some), func(i int) (string, string) { return id + suffix(some[i]), some[i] })
		}
		send(names[:half])
		s := open(broker.Addr, false)
		patterns := map[string]string{"1": ".*", "2": "", "3": ".normal", "4": ".critical", "5": ".urgent", "6": ".* workers", "7": ".* others", "8": ".*"}
		for sid, pattern := range patterns {
			Expect(s.say("SUB %s%s%s %s\r\n", harness.Send, id, pattern, sid)).To(Succeed())
		}
		send(names[half:])
		l := newLedger(names)
		want, readings := 0, map[string]*reading{}
		for sid, pattern := range patterns {
			readings[sid] = l.reader()
			for _, name := range names {
				if wants(pattern, name) {
					want++
				}
			}
		}
		for range want {
			f, err := s.next()
			Expect(err).NotTo(HaveOccurred())
			pattern, name := patterns[string(f.sid)], f.name()
			Expect(wants(pattern, name)).To(BeTrue(), "%s on %s", name, pattern)
			Expect(readings[string(f.sid)].got(name)).To(Succeed())
		}
		Expect(s.sync("")).To(Succeed(), "nothing more comes")
	})

	It("do not disturb each other on connections that use the same sids and the same inbox", func() { // fault kind 32
		const connections, rounds = 10, 200
		var group sync.WaitGroup
		failures := make([]error, connections)
		for c := range connections {
			own := agent.Private()
			group.Go(func() { failures[c] = converse(own, c, rounds) })
		}
		group.Wait()
		for _, err := range failures {
			Expect(err).NotTo(HaveOccurred())
		}
	})

	It("leave no ghosts after storms of reconnects", func() { // fault kind 17
		publish(agent, 100, func(i int) (string, string) { return id, fmt.Sprint(i) })
		before := broker.Memory()
		for range size(3, 10) {
			var group sync.WaitGroup
			failures := make([]error, size(100, 500))
			for c := range failures {
				group.Go(func() {
					s, err := dial(broker.Addr, false)
					if err != nil {
						failures[c] = err
						return
					}
					failures[c] = s.say("SUB %[1]s%[2]s.* workers 1\r\nSUB %[1]s%[2]s.* 2\r\nPING\r\n", harness.Send, id)
					_, err = s.next()
					if err == nil && c%2 == 0 {
						err = s.conn.SetLinger(0)
					}
					if closed := s.conn.Close(); err == nil {
						err = closed
					}
					if failures[c] == nil {
						failures[c] = err
					}
				})
			}
			group.Wait()
			for _, err := range failures {
				Expect(err).NotTo(HaveOccurred())
			}
		}
		heir := broker.Connect().Work(harness.Send+id+".*", "workers")
		Eventually(heir.Count).Should(Equal(100))
		agent.Publish(id, "new")
		Eventually(heir.Count).Should(Equal(101), "nobody else is served")
		AddReportEntry(fmt.Sprintf("resident memory grew by %d KiB", (broker.Memory()-before)>>10))
	})
})

// wants reports whether a pattern, perhaps with a queue group behind it, asks for a message of that name.
func wants(pattern, name string) bool {
	pattern, _, _ = strings.Cut(pattern, " ")
	switch pattern {
	case ".*":
		return true
	case ".normal":
		pattern = ""
	}
	return suffix(name) == pattern
}

// converse sends to a mailbox of its own as requests, all with the inbox and the sids that others use too.
func converse(id string, c, rounds int) error {
	s, err := dial(broker.Addr, false)
	if err != nil {
		return err
	}
	defer s.conn.Close()
	if err := s.say("SUB _INBOX.shared 1\r\nSUB %s%s.* 2\r\n", harness.Send, id); err != nil {
		return err
	}
	for i := range rounds {
		name := fmt.Sprintf("%d-%d", c, i)
		if err := s.say("PUB %s%s _INBOX.shared %d\r\n%s\r\n", harness.Send, id, len(name), name); err != nil {
			return err
		}
		for seen := map[string]bool{}; len(seen) < 2; {
			f, err := s.next()
			if err != nil {
				return err
			}
			sid := string(f.sid)
			ours := sid == "1" && strings.Contains(string(f.payload), "msg_id") || sid == "2" && f.name() == name
			if !ours || seen[sid] {
				return fmt.Errorf("connection %d got %q on sid %s while it sent %s", c, f.payload, sid, name)
			}
			seen[sid] = true
		}
	}
	return nil
}
