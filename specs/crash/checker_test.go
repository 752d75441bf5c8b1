package crash_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/crash"
)

var _ = Describe("The checker", func() {
	DescribeTable("accepts",
		func(play func(*story)) {
			s := newStory()
			play(s)
			Expect(s.check()).To(BeEmpty())
		},
		Entry("a life and what is left of it", func(s *story) {
			s.made("box", 600)
			s.sent("box", "a", "1c")
			s.sent("box", "b", "2n")
			s.sent("box", "c", "3u")
			s.sent("box", "d", "4c")
			s.listed("box", "1c", "4c", "3u", "2n")
			s.deleted("box", "4c", true)
			s.deleted("box", "4c", false)
			s.dies()
			s.confirmed("box", func(*crash.Info) {})
			s.listed("box", "1c", "3u")
			s.read("box", "a", "1c", "c", "3u")
		}),
		Entry("messages in flight at the kill, stored or not", func(s *story) {
			s.made("box", 600)
			s.sends(crash.Publish, "box", "a", 0)
			s.sends(crash.Publish, "box", "b", 0)
			s.sends(crash.Send, "box", "c", 0)
			s.dies()
			s.listed("box", "1c", "2c")
			s.read("box", "a", "1c", "b", "2c")
			s.listed("box", "1c", "2c")
		}),
		Entry("deletions in flight at the kill, done or not", func(s *story) {
			s.made("box", 600)
			s.sent("box", "a", "1c")
			s.sent("box", "b", "2c")
			s.call(crash.Event{Kind: crash.Drop, Conn: 1, Box: "box", Msg: "1c"})
			s.call(crash.Event{Kind: crash.Delete, Box: "box", Msg: "2c"})
			s.dies()
			s.read("box", "b", "2c")
			s.deleted("box", "2c", true)
		}),
		Entry("a mailbox that expires, and another of its name", func(s *story) {
			s.made("public", 1)
			s.sent("public", "a", "1c")
			s.pass(2 * time.Second)
			s.refused(s.call(crash.Event{Kind: crash.List, Box: "public"}), 404)
			s.made("public", 600)
			s.listed("public")
			s.sent("public", "b", "2c")
			s.dies()
			s.read("public", "b", "2c")
		}),
		Entry("a creation in flight at the kill", func(s *story) {
			s.asks("public", 600)
			created := s.now
			s.dies()
			s.told(s.asks("public", 9), crash.Info{Box: "public", Public: true, TTL: 600, Created: created, Expires: created + 600*int64(time.Second)})
		}),
		Entry("a message that goes to another member when its holder has left", func(s *story) {
			s.made("box", 600)
			s.sent("box", "a", "1c")
			one, two := s.subscribed("box", "team"), s.subscribed("box", "team")
			s.got(one, "box", "a", "1c")
			s.left(one)
			s.got(two, "box", "a", "1c")
			s.deleted("box", "1c", true)
			s.left(two)
		}),
		Entry("a delivery that was on its way when the message was deleted", func(s *story) {
			s.made("box", 600)
			s.sent("box", "a", "1c")
			sub := s.subscribed("box", "")
			s.deleted("box", "1c", true)
			s.got(sub, "box", "a", "1c")
		}),
	)

	DescribeTable("objects to", objects,
		Entry("an acknowledged message that a replay lacks", "message lost", func(s *story) {
			s.dies()
			s.read("box", "a", "1c")
		}),
		Entry("an acknowledged message that a LIST lacks", "message lost", func(s *story) {
			s.dies()
			s.listed("box", "1c")
		}),
		Entry("an acknowledged message that is lost without any kill", "message lost", func(s *story) { s.listed("box", "1c") }),
		Entry("a flushed message that is lost", "message lost", func(s *story) {
			s.sends(crash.Publish, "box", "p", 0)
			s.flushed()
			s.dies()
			s.read("box", "a", "1c", "b", "2c")
		}),
		Entry("a message that a subscriber saw and that is lost", "message lost", func(s *story) {
			sub := s.subscribed("box", "")
			s.sends(crash.Publish, "box", "p", 0)
			s.got(sub, "box", "p", "3c")
			s.dies()
			s.read("box", "a", "1c", "b", "2c")
		}),
		Entry("a message that was listed and that is lost", "message lost", func(s *story) {
			s.sends(crash.Publish, "box", "p", 0)
			s.listed("box", "1c", "2c", "3c")
			s.dies()
			s.listed("box", "1c", "2c")
		}),
		Entry("a message that a deletion does not find", "message lost", func(s *story) { s.deleted("box", "1c", false) }),
		Entry("a message that is there after a restart and gone later", "message lost", func(s *story) {
			s.sends(crash.Publish, "box", "p", 0)
			s.dies()
			s.read("box", "a", "1c", "b", "2c", "p", "3c")
			s.dies()
			s.read("box", "a", "1c", "b", "2c")
		}),
		Entry("a message that is missing after a restart and there later", "not there, since", func(s *story) {
			s.sends(crash.Publish, "box", "p", 0)
			s.dies()
			s.read("box", "a", "1c", "b", "2c")
			s.read("box", "a", "1c", "b", "2c", "p", "3c")
		}),
		Entry("a deletion whose outcome is not known and that is undone later", "not there, since", func(s *story) {
			s.call(crash.Event{Kind: crash.Delete, Box: "box", Msg: "1c"})
			s.dies()
			s.read("box", "b", "2c")
			s.dies()
			s.read("box", "a", "1c", "b", "2c")
		}),
		Entry("a deleted message that a replay shows", "was deleted", func(s *story) {
			s.deleted("box", "1c", true)
			s.dies()
			s.read("box", "a", "1c", "b", "2c")
		}),
		Entry("a deleted message that a LIST shows", "was deleted", func(s *story) {
			s.deleted("box", "1c", true)
			s.listed("box", "1c", "2c")
		}),
		Entry("a message that was deleted with a flush and is shown", "was deleted", func(s *story) {
			s.call(crash.Event{Kind: crash.Drop, Conn: 1, Box: "box", Msg: "1c"})
			s.flushed()
			s.dies()
			s.listed("box", "1c", "2c")
		}),
		Entry("two deletions of one message that both found it", "deleted twice", func(s *story) {
			s.deleted("box", "1c", true)
			s.deleted("box", "1c", true)
		}),
		Entry("a message twice on one subscription", "came twice", func(s *story) { s.read("box", "a", "1c", "a", "1c", "b", "2c") }),
		Entry("a message twice in one LIST", "twice", func(s *story) { s.listed("box", "1c", "1c", "2c") }),
		Entry("a message that is stored twice", "two ids", func(s *story) { s.read("box", "a", "1c", "b", "2c", "a", "3c") }),
		Entry("an id that two messages have", "was used for", func(s *story) { s.sent("box", "c", "2c") }),
		Entry("an id that another mailbox has used", "was used for", func(s *story) { s.sent("other", "c", "2c") }),
		Entry("an id below those of an earlier life", "is not above", func(s *story) {
			s.dies()
			s.read("box", "a", "1c", "b", "2c")
			s.sent("box", "c", "0c")
		}),
		Entry("a replay that is out of order", "order:", func(s *story) { s.read("box", "b", "2c", "a", "1c") }),
		Entry("a LIST that is out of order", "behind", func(s *story) { s.listed("box", "2c", "1c") }),
		Entry("a LIST with a lower priority first", "behind", func(s *story) {
			s.sent("box", "n", "3n")
			s.listed("box", "3n", "1c", "2c")
		}),
		Entry("a replay with a lower priority first", "priority:", func(s *story) {
			s.sent("other", "n", "3n")
			s.sent("other", "c", "4c")
			s.read("other", "n", "3n", "c", "4c")
		}),
		Entry("a live message that overtakes one of a higher priority", "inversion:", func(s *story) {
			sub := s.subscribed("other", "")
			s.sent("other", "c", "3c")
			s.sent("other", "n", "4n")
			s.got(sub, "other", "n", "4n")
			s.got(sub, "other", "c", "3c")
		}),
		Entry("a live message that a subscription skips", "skipped", func(s *story) {
			sub := s.subscribed("other", "")
			s.sent("other", "c", "3c")
			s.sent("other", "d", "4c")
			s.got(sub, "other", "d", "4c")
			s.dies()
			s.read("other", "c", "3c", "d", "4c")
			s.dies()
		}),
		Entry("one connection's messages in another order than sent", "order: one connection", func(s *story) {
			s.sent("other", "c", "4c")
			s.sent("other", "d", "3c")
			s.dies()
			s.listed("other", "3c", "4c")
			s.dies()
		}),
		Entry("a message that is lost before one that was sent later", "gap:", func(s *story) {
			s.sends(crash.Publish, "other", "c", 0)
			s.sends(crash.Publish, "other", "d", 1)
			s.dies()
			s.read("other", "d", "4u")
			s.dies()
		}),
		Entry("a normal message that outlives the broker", "of an earlier life", func(s *story) {
			s.sent("other", "n", "3n")
			s.dies()
			s.listed("other", "3n")
		}),
		Entry("a message in a mailbox that it was not sent to", "shows a message of", func(s *story) { s.read("other", "a", "1c") }),
		Entry("a LIST with a message of another mailbox", "shows a message of", func(s *story) { s.listed("other", "1c") }),
		Entry("a message that nobody sent", "nobody sent", func(s *story) { s.read("box", "x", "9c") }),
		Entry("a payload or a header that changed", "bytes", func(s *story) {
			e := s.delivery(s.subscribed("box", ""), "box", "a", "1c")
			e.Sum++
			s.add(e)
		}),
		Entry("a message that changed its priority", "with priority", func(s *story) {
			e := s.delivery(s.subscribed("box", ""), "box", "a", "1c")
			e.Priority = 1
			s.add(e)
		}),
		Entry("a message that changed its time", "the time of", func(s *story) {
			s.read("box", "a", "1c", "b", "2c")
			e := s.delivery(s.subscribed("box", ""), "box", "a", "1c")
			e.Stamp++
			s.add(e)
		}),
		Entry("a malformed delivery", "malformed", func(s *story) {
			e := s.delivery(s.subscribed("box", ""), "box", "a", "1c")
			e.Wrong = "its reply subject is wrong"
			s.add(e)
		}),
		Entry("a message with two living holders in a queue group", "two living members", func(s *story) {
			one, two := s.subscribed("box", "team"), s.subscribed("box", "team")
			s.got(one, "box", "a", "1c")
			s.got(two, "box", "a", "1c")
		}),
		Entry("a message that its holder deleted and that is handed again", "handed again", func(s *story) {
			one, two := s.subscribed("box", "team"), s.subscribed("box", "team")
			s.got(one, "box", "a", "1c")
			s.deleted("box", "1c", true)
			s.left(one)
			s.got(two, "box", "a", "1c")
		}),
		Entry("a call that a living broker does not answer", "not answered", func(s *story) {
			s.add(crash.Event{Kind: crash.Unanswered, Op: s.call(crash.Event{Kind: crash.List, Box: "box"})})
		}),
		Entry("a refusal for which there is no reason", "was refused", func(s *story) {
			s.refused(s.sends(crash.Send, "box", "c", 0), 503)
		}),
		Entry("an error of the connection", "connection 1", func(s *story) {
			s.add(crash.Event{Kind: crash.Complaint, Conn: 1, Wrong: "stale connection"})
		}),
	)
})

// objects plays a story on three mailboxes, box, other and public, the first with two messages, and sees the checker object.
func objects(says string, play func(*story)) {
	s := newStory()
	s.made("box", 600)
	s.made("other", 600)
	s.made("public", 600)
	s.sent("box", "a", "1c")
	s.sent("box", "b", "2c")
	Expect(s.check()).To(BeEmpty())
	play(s)
	Expect(s.check()).To(ContainElement(ContainSubstring(says)))
}
