package client

import (
	"fmt"
	"io"
	"os"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/mq9-broker/broker/mq9"
)

// sendFlags is what `mq9 send` is told.
type sendFlags struct {
	priority priority
	headers  headers
	file     string
	noWait   bool
}

// sent is what send prints as JSON.
type sent struct {
	MailID   mq9.MailID `json:"mail_id"`
	Priority string     `json:"priority"`
	MsgID    string     `json:"msg_id,omitempty"` // not with --no-wait
	Size     int        `json:"size"`
}

func newSend() *cobra.Command {
	f := sendFlags{priority: priority{mq9.Normal, true}}
	cmd := &cobra.Command{
		Use:   "send MAIL_ID [TEXT | - | --file FILE]",
		Short: "Send a message to a mailbox",
		Long: "Send a message and print its msg_id once it is stored; a critical or urgent one is on the broker's disk by then. The message is\n" +
			"TEXT, or what FILE holds, or standard input when TEXT is - or left out. Nobody needs to be there to receive it.",
		Example: `  mq9 send task.queue 'water the plants'
  mq9 send task.queue --priority critical 'put out the fire'
  date | mq9 send task.queue
  mq9 send task.queue -H 'Content-Type: image/png' --file cat.png`,
		SuggestFor: []string{"pub", "publish", "put", "post", "push", "write", "mail", "enqueue"},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("MAIL_ID is missing: see %s --help", cmd.CommandPath())
			}
			if len(args) > 2 {
				return usagef("unexpected argument %q: put a text of several words into quotes", args[2])
			}
			return nil
		},
		ValidArgsFunction: completeMailbox,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.VarP(&f.priority, "priority", "p", "critical, urgent or normal")
	flags.VarP(&f.headers, "header", "H", "a 'Key: value' that goes with the message; may be given many times")
	flags.StringVarP(&f.file, "file", "f", "", "send what this `file` holds")
	flags.BoolVar(&f.noWait, "no-wait", false, "do not ask for the msg_id; the message is stored all the same when the command ends")
	finish(cmd, func(s *session, args []string) error { return f.run(s, args) })
	completes(cmd, "priority", completePriorities)
	return cmd
}

func (f *sendFlags) run(s *session, args []string) error {
	id, err := mailbox(args[0])
	if err != nil {
		return err
	}
	body, err := f.body(s.in, args[1:])
	if err != nil {
		return err
	}
	nc, err := s.connect("send")
	if err != nil {
		return err
	}
	defer nc.Close()
	if largest := nc.MaxPayload(); int64(len(body)) > largest {
		return mq9.Errorf(mq9.CodeTooLarge, "the message has %d bytes and the broker takes %d at most: send less, or where it is kept", len(body), largest)
	}
	m := &nats.Msg{Subject: mq9.SendSubject(id, f.priority.value), Header: f.headers.value, Data: body}
	result := sent{MailID: id, Priority: f.priority.String(), Size: len(body)}
	if f.noWait {
		err = s.publish(nc, m)
	} else {
		var reply mq9.SendReply
		err = s.ask(nc, m, &reply)
		result.MsgID = reply.MsgID
	}
	if err != nil {
		return s.help(nc, id, err)
	}
	if s.json {
		return s.object(result)
	}
	if result.MsgID == "" {
		return nil
	}
	_, err = fmt.Fprintln(s, result.MsgID)
	return err
}

// publish sends without a reply. The broker answers the flush when the message is stored, and tells of a refusal before that.
func (s *session) publish(nc *nats.Conn, m *nats.Msg) error {
	if err := nc.PublishMsg(m); err != nil {
		return explain(err, s.connection)
	}
	if err := nc.FlushTimeout(s.timeout.value); err != nil {
		return explain(err, s.connection)
	}
	return explain(nc.LastError(), s.connection)
}

// body reads the message from where the command line says it is.
func (f *sendFlags) body(in io.Reader, text []string) ([]byte, error) {
	switch {
	case f.file != "" && len(text) > 0:
		return nil, usagef("there are two messages, %q and the file %s: send one of them", text[0], f.file)
	case f.file != "":
		return os.ReadFile(f.file)
	case len(text) > 0 && text[0] != "-":
		return []byte(text[0]), nil
	case len(text) == 0 && isTerminal(in):
		return nil, usagef("there is no message: give TEXT, - for what you type up to Ctrl-D, or --file")
	}
	return io.ReadAll(in)
}
