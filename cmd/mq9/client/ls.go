package client

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/mq9-broker/broker/mq9"
)

func newLs() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ls MAIL_ID",
		Short: "List what a mailbox stores, without taking anything",
		Long: "List everything that a mailbox stores, in the order in which it is delivered: msg_id, priority, when it was accepted, size.\n" +
			"Nothing is taken and no payload is sent; `mq9 watch` shows those.",
		Example: `  mq9 ls task.queue
  mq9 ls task.queue --json | jq -r 'select(.priority == "normal") | .msg_id' | xargs mq9 rm task.queue`,
		SuggestFor:        []string{"list", "dir", "show", "stored", "peek"},
		Args:              exactly("MAIL_ID"),
		ValidArgsFunction: completeMailbox,
	}
	return finish(cmd, func(s *session, args []string) error {
		id, err := mailbox(args[0])
		if err != nil {
			return err
		}
		nc, err := s.connect("ls")
		if err != nil {
			return err
		}
		defer nc.Close()
		messages, bytes := 0, 0
		for after, more := "", true; more; {
			var page mq9.ListReply
			if err := s.query(nc, mq9.ListSubject(id), mq9.PageRequest{After: after}.Encode(), &page); err != nil {
				return s.help(nc, id, err)
			}
			for _, e := range page.Messages {
				if err := s.entry(&e); err != nil {
					return err
				}
				messages, bytes, after = messages+1, bytes+e.Size, e.MsgID
			}
			more = page.More && len(page.Messages) > 0
		}
		if s.terminal && !s.json {
			return s.total(messages, bytes)
		}
		return nil
	})
}

// entry prints one stored message.
func (s *session) entry(e *mq9.ListEntry) error {
	if s.json {
		return s.object(e)
	}
	p, ok := mq9.ParsePriority(e.Priority)
	if !ok {
		return fmt.Errorf("the broker lists the unknown priority %q: is this mq9 older than the broker?", e.Priority)
	}
	_, err := fmt.Fprintf(s, "%s  %s  %s  %8d\n", e.MsgID, s.priority(p), time.Unix(e.TS, 0).Format(time.DateTime), e.Size)
	return err
}

// total ends the list for a person.
func (s *session) total(messages, bytes int) error {
	noun := "messages"
	if messages == 1 {
		noun = "message"
	}
	_, err := fmt.Fprintln(s, s.paint(dim, fmt.Sprintf("%s %s, %s", humanize.Comma(int64(messages)), noun, humanize.IBytes(uint64(bytes)))))
	return err
}
