package client

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mq9-broker/broker/mq9"
)

// removed is what rm prints as JSON.
type removed struct {
	MsgID   string `json:"msg_id"`
	Deleted bool   `json:"deleted"`
}

func newRm() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rm MAIL_ID MSG_ID...",
		Short: "Delete messages from a mailbox",
		Long: "Delete messages by their msg_id, which send, ls and watch print. A message that is not there (any more) is no error:\n" +
			"whoever wants it gone has what they want.",
		Example: `  mq9 rm task.queue 000000000000g
  mq9 ls task.queue --json | jq -r .msg_id | xargs mq9 rm task.queue`,
		SuggestFor: []string{"del", "delete", "remove", "ack", "purge", "erase"},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return exactly("MAIL_ID", "MSG_ID")(cmd, args)
			}
			return nil
		},
		ValidArgsFunction: completeMailbox,
	}
	return finish(cmd, func(s *session, args []string) error {
		id, err := mailbox(args[0])
		if err != nil {
			return err
		}
		ids, err := messageIDs(args[1:])
		if err != nil {
			return err
		}
		nc, err := s.connect("rm")
		if err != nil {
			return err
		}
		defer nc.Close()
		for _, msg := range ids {
			var reply mq9.DeleteReply
			if err := s.query(nc, mq9.DeleteSubject(id, msg), nil, &reply); err != nil {
				return s.help(nc, id, err)
			}
			if err := s.removed(msg, reply.Deleted); err != nil {
				return err
			}
		}
		return nil
	})
}

// messageIDs reads all ids before anything is deleted.
func messageIDs(args []string) ([]mq9.MsgID, error) {
	ids := make([]mq9.MsgID, len(args))
	for i, text := range args {
		id, ok := mq9.ParseMsgID(text)
		if !ok {
			return nil, usagef("%q is no msg_id: take one that send, ls or watch has printed, such as %s", text, mq9.NewMsgID(4, mq9.Normal))
		}
		ids[i] = id
	}
	return ids, nil
}

func (s *session) removed(id mq9.MsgID, deleted bool) error {
	if s.json {
		return s.object(removed{id.String(), deleted})
	}
	what := "deleted"
	if !deleted {
		what = s.paint(dim, "was not there")
	}
	_, err := fmt.Fprintf(s, "%s  %s\n", id, what)
	return err
}
