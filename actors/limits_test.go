package actors

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

func TestAtALimitNewThingsAreRefusedAndNothingStoredIsLost(t *testing.T) {
	const cost = messageCost + 1 // of a message of one byte
	for name, c := range map[string]struct {
		limits Limits
		sends  string // n: normal, u: urgent; lower case is taken, upper case refused; d: delete the first
	}{
		"memory":           {Limits{Memory: 2 * cost}, "nnNuNdnN"},
		"mailbox-memory":   {Limits{MailboxMemory: 2 * cost}, "nnNuNdnN"},
		"mailbox-messages": {Limits{MailboxMessages: 3}, "nunUNdnN"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, Config{Limits: c.limits})
			id := w.private()
			var kept []mq9.MsgID
			for _, step := range c.sends {
				switch step {
				case 'd':
					w.Expect(w.delete(id, kept[0])).To(gomega.BeTrue())
					kept = kept[1:]
				case 'n':
					kept = append(kept, w.send(id, mq9.Normal, "x"))
				case 'u':
					kept = append(kept, w.send(id, mq9.Urgent, "x"))
				default:
					p := mq9.Normal
					if step == 'U' {
						p = mq9.Urgent
					}
					_, err := w.trySend(id, p, "x")
					w.Expect(err.Code).To(gomega.Equal(mq9.CodeLimit))
					w.Expect(err.Text).To(gomega.ContainSubstring("max-" + name))
				}
			}
			w.Expect(w.subscribe(id, mq9.AllPriorities, "", -1).texts()).To(gomega.HaveLen(len(kept)))
		})
	}
}

func TestLimitsChangeWhileTheBrokerRuns(t *testing.T) {
	w := newWorld(t, Config{Limits: Limits{Mailboxes: 1, MailboxMessages: 1}})
	id := w.private()
	w.send(id, mq9.Normal, "x")
	_, refused := w.trySend(id, mq9.Normal, "x")
	w.Expect(refused.Code).To(gomega.Equal(mq9.CodeLimit))

	w.broker.SetLimits(Limits{Mailboxes: 2})
	w.private()
	_, refused = w.create(mq9.CreateRequest{})
	w.Expect(refused.Code).To(gomega.Equal(mq9.CodeLimit))
	w.send(id, mq9.Normal, "y")

	w.broker.SetLimits(Limits{MailboxMessages: 1})
	_, refused = w.trySend(id, mq9.Normal, "z")
	w.Expect(refused.Code).To(gomega.Equal(mq9.CodeLimit))
	w.Expect(w.subscribe(id, mq9.AllPriorities, "", -1).texts()).To(gomega.Equal([]string{"x", "y"}), "what is stored stays, even beyond the limit")
}

func TestExpiryAndCrashesGiveMemoryAndMailboxesBack(t *testing.T) {
	w := newWorld(t, Config{Limits: Limits{Mailboxes: 2}})
	short := must[mq9.CreateReply](w)(w.create(mq9.CreateRequest{TTL: 1})).MailID
	crashing := w.private()
	_, err := w.create(mq9.CreateRequest{})
	w.Expect(err.Code).To(gomega.Equal(mq9.CodeLimit))
	w.Expect(err.Text).To(gomega.ContainSubstring("max-mailboxes"))
	w.send(short, mq9.Normal, "x")
	w.send(crashing, mq9.Normal, "x")
	w.Expect(w.broker.Usage()).To(gomega.Equal(Usage{2, 2 * (messageCost + 1), 1, messageCost + 1}))
	w.client.known[crashing].send(bomb(crashing))
	w.Eventually(w.broker.Usage).Should(gomega.Equal(Usage{Mailboxes: 1, MailboxMessages: 2, MailboxMemory: 2*messageCost + 1}))
	w.private()
}
