package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mq9-broker/broker/mq9"
)

// session is one execution of a client command.
type session struct {
	*output
	*connection
	ctx context.Context // ends at the first signal, except that watch and discover --follow see to signals themselves
	in  io.Reader
}

// finish makes cmd a client command: it gets the flags that all have, and run is called with what they say.
func finish(cmd *cobra.Command, run func(s *session, args []string) error) *cobra.Command {
	var (
		c      connection
		asJSON bool
	)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object a line")
	c.flags(cmd.Flags())
	completes(cmd, "context", completeContexts)
	cmd.SetUsageFunc(usage)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s := &session{output: newOutput(cmd.OutOrStdout(), cmd.ErrOrStderr(), asJSON), connection: &c, in: cmd.InOrStdin()}
		if err := c.resolve(); err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		s.ctx = ctx
		err := errors.Join(run(s, args), s.Flush())
		if err != nil && ctx.Err() != nil && ExitCode(err) == ExitFailed {
			return coded{errors.New("interrupted"), ExitInterrupted}
		}
		return err
	}
	return cmd
}

// connect opens the connection of a command that is soon done: when it is lost, so is the command.
func (s *session) connect(command string) (*nats.Conn, error) {
	return s.dial("mq9 "+command, nats.NoReconnect(), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {
		// What went wrong is asked for after each flush and reply; nats.go would print it besides.
	}))
}

// ask sends a request and decodes the reply into out. A refusal is returned as the *mq9.Error that it is.
func (s *session) ask(nc *nats.Conn, m *nats.Msg, out any) error {
	ctx, cancel := context.WithTimeout(s.ctx, s.timeout.value)
	defer cancel()
	reply, err := nc.RequestMsgWithContext(ctx, m)
	if errors.Is(err, context.DeadlineExceeded) {
		err = nats.ErrTimeout
	}
	if err != nil {
		return explain(err, s.connection)
	}
	return mq9.ReadReply(reply.Data, out)
}

// query asks with a body alone.
func (s *session) query(nc *nats.Conn, subject string, body []byte, out any) error {
	return s.ask(nc, &nats.Msg{Subject: subject, Data: body}, out)
}

// help adds to an error that a mailbox does not exist which public one has nearly that name.
func (s *session) help(nc *nats.Conn, id mq9.MailID, err error) error {
	refused, ok := errors.AsType[*mq9.Error](err)
	if !ok || refused.Code != mq9.CodeNotFound || id.Private() {
		return err
	}
	var names []string
	look := s.mailboxes(nc, func(l mq9.Listing) error {
		names = append(names, string(l.MailID))
		return nil
	})
	if look != nil {
		return err // the first error is the one that matters
	}
	if best := nearest(string(id), names); best != "" {
		return fmt.Errorf("%w; did you mean %q?", err, best)
	}
	return err
}

// usage prints the usage of a client command, its own flags before those of the connection.
func usage(cmd *cobra.Command) error {
	own, connect := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	own.SortFlags, connect.SortFlags = false, false
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, marked := f.Annotations[aboutConnection]; marked {
			connect.AddFlag(f)
		} else {
			own.AddFlag(f)
		}
	})
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\nCommands:\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(&b, "  %-10s %s\n", c.Name(), c.Short)
			}
		}
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	fmt.Fprintf(&b, "\nFlags:\n%s", own.FlagUsages())
	if connect.HasFlags() {
		fmt.Fprintf(&b, "\nConnection:\n%s", connect.FlagUsages())
	}
	_, err := io.WriteString(cmd.OutOrStderr(), b.String())
	return err
}
