package load

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/mq9-broker/broker/mq9"
)

// requestWait bounds a request of the preparations.
const requestWait = 10 * time.Second

// Mailbox is a private mailbox that was made for a run.
type Mailbox struct{ ID mq9.MailID }

// NewMailbox makes a mailbox that ends by itself after ttl, of which whole seconds count.
func NewMailbox(nc *nats.Conn, ttl time.Duration) (Mailbox, error) {
	var reply mq9.CreateReply
	err := ask(nc, mq9.SubjectCreate, mq9.CreateRequest{TTL: int64(ttl / time.Second), Desc: "load"}.Encode(), &reply)
	return Mailbox{reply.MailID}, err
}

// Subject is what sends to the mailbox.
func (m Mailbox) Subject(p mq9.Priority) string { return mq9.SendSubject(m.ID, p) }

// Pattern is what subscribes to the mailbox.
func (m Mailbox) Pattern() string { return mq9.SubscribeSubject(m.ID) }

// Check is a [Job]'s Check for messages that are sent to a mailbox.
func Check(reply []byte) error { return mq9.ReadReply(reply, &mq9.SendReply{}) }

// Clear deletes everything that the mailbox stores, so that a run leaves nothing behind but an empty mailbox at the end of its life.
func (m Mailbox) Clear(nc *nats.Conn) error {
	for oldest := ""; ; {
		var page mq9.ListReply
		if err := ask(nc, mq9.ListSubject(m.ID), nil, &page); err != nil {
			return err
		}
		if len(page.Messages) > 0 {
			if page.Messages[0].MsgID == oldest {
				return errors.Join(fmt.Errorf("the broker does not delete what the run has left: %d messages or more", len(page.Messages)), nc.LastError())
			}
			oldest = page.Messages[0].MsgID
		}
		for _, e := range page.Messages {
			id, ok := mq9.ParseMsgID(e.MsgID)
			if !ok {
				return fmt.Errorf("the broker lists a msg_id of an unknown form: %q", e.MsgID)
			}
			if err := nc.Publish(mq9.DeleteSubject(m.ID, id), nil); err != nil {
				return err
			}
		}
		if !page.More {
			return nc.FlushTimeout(flushWait)
		}
	}
}

func ask(nc *nats.Conn, subject string, body []byte, out any) error {
	m, err := nc.Request(subject, body, requestWait)
	if err != nil {
		return err
	}
	return mq9.ReadReply(m.Data, out)
}
