package client

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mq9-broker/broker/mq9"
)

// watchFlags is what `mq9 watch` is told.
type watchFlags struct {
	priority priority
	queue    string
	delete   bool
	exec     string
	parallel int
	count    int
	raw      bool
}

func newWatch() *cobra.Command {
	var f watchFlags
	cmd := &cobra.Command{
		Use:   "watch MAIL_ID",
		Short: "Receive what a mailbox stores and what comes, or run a command for each message",
		Long: "Receive everything that a mailbox stores, the most pressing first, and then what comes, until Ctrl-C. Nothing is taken away unless --delete\n" +
			"or --exec says so. A restart of the broker does not end it, and no message is shown twice.\n\n" +
			"With --exec it is a worker: the command runs for each message, with the payload on its standard input and MQ9_MSG_ID, MQ9_MAIL_ID,\n" +
			"MQ9_PRIORITY, MQ9_SIZE, MQ9_TIMESTAMP and MQ9_HEADER_<KEY> in its environment. When it exits with 0 the message is deleted, else it is kept.\n" +
			"With --queue, workers share: each message goes to one of them. See mq9 help workers.",
		Example: `  mq9 watch task.queue
  mq9 watch task.queue --priority critical --json
  mq9 watch task.queue --queue cooks --exec './cook.sh'
  mq9 watch results --delete --raw --count 10 >>results.txt`,
		SuggestFor:        []string{"sub", "subscribe", "tail", "follow", "read", "recv", "receive", "get", "listen", "worker", "consume"},
		Args:              exactly("MAIL_ID"),
		ValidArgsFunction: completeMailbox,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.VarP(&f.priority, "priority", "p", "only this: critical, urgent or normal (default all)")
	flags.StringVarP(&f.queue, "queue", "q", "", "join the queue `group`: each message goes to one member, and to another when that one leaves")
	flags.BoolVarP(&f.delete, "delete", "d", false, "delete each message when it has been shown; with --exec that is the default, for commands that succeed")
	flags.StringVarP(&f.exec, "exec", "e", "", "run this shell `command` for each message")
	flags.IntVar(&f.parallel, "parallel", 1, "how many commands run at a time")
	flags.IntVarP(&f.count, "count", "n", 0, "end after this many messages; 0 = never")
	flags.BoolVar(&f.raw, "raw", false, "print payloads alone, byte for byte, each with a line feed behind it")
	finish(cmd, func(s *session, args []string) error {
		if !cmd.Flags().Changed("delete") {
			f.delete = f.exec != ""
		}
		id, err := mailbox(args[0])
		if err != nil {
			return err
		}
		if err := f.check(s.json); err != nil {
			return err
		}
		return watch(s, &f, id)
	})
	completes(cmd, "priority", completePriorities)
	return cmd
}

// check finds what does not go together.
func (f *watchFlags) check(json bool) error {
	switch {
	case f.count < 0:
		return usagef("--count: %d is negative: give a number of messages, or 0 to go on", f.count)
	case f.parallel < 1:
		return usagef("--parallel: at least one command must run at a time")
	case f.parallel > 1 && f.exec == "":
		return usagef("--parallel is for the commands of --exec")
	case f.raw && json:
		return usagef("--raw and --json are two forms of output: choose one")
	case f.raw && f.exec != "":
		return usagef("--raw is for watching; with --exec, the command prints what it likes")
	case strings.ContainsAny(f.queue, " \t\r\n"):
		return usagef("--queue: the name of a group holds no blanks")
	}
	return nil
}

// pattern is what is subscribed to.
func (f *watchFlags) pattern(id mq9.MailID) string {
	if f.priority.given {
		return mq9.SendSubject(id, f.priority.value)
	}
	return mq9.SubscribeSubject(id)
}

// print shows a message in the form that was asked for.
func (f *watchFlags) print(s *session, m *message) error {
	if !f.raw {
		return s.show(m)
	}
	_, err := s.Write(m.payload)
	return errors.Join(err, s.WriteByte('\n'))
}
