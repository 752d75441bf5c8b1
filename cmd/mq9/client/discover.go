package client

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/mq9-broker/broker/mq9"
)

// announcement is an event of discovery (protocol section 7).
type announcement struct {
	Event string `json:"event"`
	mq9.Listing
}

func newDiscover() *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use:   "discover",
		Short: "List the public mailboxes",
		Long: "List the public mailboxes: name, when it ends, description. With --follow go on with those that are made and those that end,\n" +
			"until Ctrl-C. Private mailboxes appear in no list.",
		Example: `  mq9 discover
  mq9 discover --follow --json`,
		SuggestFor: []string{"find", "public", "mailboxes", "search", "scan"},
		Args:       exactly(),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what changes")
	return finish(cmd, func(s *session, _ []string) error {
		if follow {
			return s.follow()
		}
		nc, err := s.connect("discover")
		if err != nil {
			return err
		}
		defer nc.Close()
		return s.mailboxes(nc, s.listing)
	})
}

// listing prints one public mailbox.
func (s *session) listing(l mq9.Listing) error {
	if s.json {
		return s.object(l)
	}
	_, err := fmt.Fprintf(s, "%s  %s  %s\n", s.paint(bold, fmt.Sprintf("%-30s", visible(string(l.MailID)))), s.paint(dim, "until "+localTime(l.ExpiresAt)), visible(l.Desc))
	return err
}

// follow prints events until a signal. After a reconnect the broker tells of every mailbox again: those that were shown are skipped.
func (s *session) follow() error {
	// Both channels have one reader, this goroutine; nats.go's handlers wait for it, which is the back-pressure.
	ctx, over := context.WithCancel(s.ctx)
	defer over()
	events, failures := make(chan *nats.Msg), make(chan error, 1)
	fail := func(err error) {
		select {
		case failures <- err:
		default: // the first is enough
		}
	}
	nc, err := s.dial("mq9 discover", nats.MaxReconnects(-1), nats.ReconnectWait(500*time.Millisecond),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { fail(explain(err, s.connection)) }),
		nats.ClosedHandler(func(*nats.Conn) { fail(explain(nats.ErrConnectionClosed, s.connection)) }))
	if err != nil {
		return err
	}
	defer nc.Close()
	sub, err := nc.Subscribe(mq9.SubjectDiscover, func(m *nats.Msg) {
		select {
		case events <- m:
		case <-ctx.Done():
		}
	})
	if err != nil {
		return explain(err, s.connection)
	}
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return err
	}
	alive := map[mq9.MailID]string{} // when each was created
	for {
		select {
		case <-ctx.Done():
			return nil // Ctrl-C is how it ends
		case err := <-failures:
			return err
		case m := <-events:
			if err := s.event(m.Data, alive); err != nil {
				return err
			}
		}
	}
}

// event prints one event, unless it has been.
func (s *session) event(body []byte, alive map[mq9.MailID]string) error {
	var e announcement
	if err := json.Unmarshal(body, &e); err != nil {
		return fmt.Errorf("an event of discovery cannot be read: %w", err)
	}
	if e.Event == "created" {
		if alive[e.MailID] == e.CreatedAt {
			return nil
		}
		alive[e.MailID] = e.CreatedAt
	} else {
		delete(alive, e.MailID)
	}
	var err error
	switch {
	case s.json:
		err = s.object(json.RawMessage(body))
	case e.Event == "created":
		_, err = fmt.Fprint(s, s.paint(boldGreen, "+ "))
		if err == nil {
			err = s.listing(e.Listing)
		}
	default:
		_, err = fmt.Fprintf(s, "%s%s  %s\n", s.paint(boldRed, "- "), visible(string(e.MailID)), s.paint(dim, visible(e.Event)))
	}
	if err != nil {
		return err
	}
	return s.Flush()
}
