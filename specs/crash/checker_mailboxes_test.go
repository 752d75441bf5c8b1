package crash_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"

	"github.com/mq9-broker/broker/specs/crash"
)

var _ = Describe("The checker, of mailboxes,", func() {
	DescribeTable("objects to", objects,
		Entry("a mailbox that is forgotten", "is unknown", func(s *story) {
			s.dies()
			s.refused(s.call(crash.Event{Kind: crash.List, Box: "box"}), 404)
		}),
		Entry("a public mailbox that is forgotten and made again", "was forgotten", func(s *story) {
			s.dies()
			s.made("public", 600)
		}),
		Entry("a subscription to a living mailbox that is refused", "is unknown", func(s *story) {
			s.subscribed("box", "")
			s.add(crash.Event{Kind: crash.Complaint, Conn: 2, Box: "box", Code: 404})
		}),
		Entry("a mailbox that lives longer than at first", "changed", func(s *story) {
			s.confirmed("box", func(i *crash.Info) { i.Expires += 1e9; i.TTL++ })
		}),
		Entry("a mailbox that dies early", "is unknown", func(s *story) {
			s.pass(599 * time.Second)
			s.refused(s.call(crash.Event{Kind: crash.List, Box: "box"}), 404)
		}),
		Entry("an operation that succeeds on an expired mailbox", "after its expiry", func(s *story) {
			s.pass(601 * time.Second)
			s.listed("box")
		}),
		Entry("an expired mailbox that is confirmed", "after its expiry", func(s *story) {
			s.pass(601 * time.Second)
			s.confirmed("box", func(*crash.Info) {})
		}),
		Entry("a message of an expired mailbox in its successor", "should have gone with", func(s *story) {
			s.sent("public", "c", "3c")
			s.pass(601 * time.Second)
			s.made("public", 600)
			s.read("public", "c", "3c")
		}),
		Entry("a delivery long after the expiry", "after its mailbox expired", func(s *story) {
			sub := s.subscribed("box", "")
			s.pass(615 * time.Second)
			s.got(sub, "box", "a", "1c")
		}),
		Entry("two CREATEs that made the same mailbox", "2 CREATEs", func(s *story) {
			s.confirmed("public", func(i *crash.Info) { i.New, i.TTL = true, 600 })
		}),
		Entry("a private address that is given out twice", "address of an old one", func(s *story) {
			op := s.asks("", 600)
			info := s.boxes["box"]
			info.New = false
			s.told(op, info)
		}),
		Entry("a public mailbox that is not listed", "is not listed", func(s *story) {
			op := s.call(crash.Event{Kind: crash.Discover})
			s.add(crash.Event{Kind: crash.Discovered, Op: op})
		}),
		Entry("a private mailbox that is listed", "private mailbox", func(s *story) {
			op := s.call(crash.Event{Kind: crash.Discover})
			s.add(crash.Event{Kind: crash.Discovered, Op: op, Infos: []crash.Info{s.boxes["public"], s.boxes["box"]}})
		}),
		Entry("a mailbox that is listed with another description", "is listed as", func(s *story) {
			op, info := s.call(crash.Event{Kind: crash.Discover}), s.boxes["public"]
			info.Desc = "x"
			s.add(crash.Event{Kind: crash.Discovered, Op: op, Infos: []crash.Info{info}})
		}),
		Entry("an expired mailbox that is listed", "after its expiry", func(s *story) {
			s.pass(615 * time.Second)
			op := s.call(crash.Event{Kind: crash.Discover})
			s.add(crash.Event{Kind: crash.Discovered, Op: op, Infos: []crash.Info{s.boxes["public"]}})
		}),
	)
})
