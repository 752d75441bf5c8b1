package client

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/mq9-broker/broker/mq9"
)

// GroupID is the group of the root command's help that the commands belong to.
const GroupID = "client"

// Commands returns the client commands and the help topics. The root command must have a group [GroupID].
func Commands() []*cobra.Command {
	commands := []*cobra.Command{newCreate(), newSend(), newWatch(), newLs(), newRm(), newDiscover(), newBench()}
	for _, c := range commands {
		c.GroupID = GroupID
	}
	return append(commands, topics()...)
}

// exactly wants n arguments, which are called as in names.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return usagef("%s is missing: see %s --help", names[len(args)], cmd.CommandPath())
		}
		if len(args) > len(names) {
			return usagef("unexpected argument %q: see %s --help", args[len(names)], cmd.CommandPath())
		}
		return nil
	}
}

// completeMailbox offers the public mailboxes for the first argument. Private ones nobody can list, which is their point.
func completeMailbox(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, err := publicNames(cmd)
	if err != nil {
		cobra.CompDebugln(err.Error(), false)
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// publicNames asks the broker that the command line names, and gives up soon: somebody has pressed Tab.
func publicNames(cmd *cobra.Command) ([]cobra.Completion, error) {
	const patience = time.Second
	c := &connection{}
	for name, into := range map[string]*string{"server": &c.server, "context": &c.context, "creds": &c.creds, "nkey": &c.nkey, "tlsca": &c.tlsCA} {
		*into = cmd.Flag(name).Value.String()
	}
	c.timeout.value = patience
	if err := c.resolve(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), patience)
	defer cancel()
	s := &session{connection: c, ctx: ctx}
	nc, err := s.connect("completion")
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	var names []cobra.Completion
	err = s.mailboxes(nc, func(l mq9.Listing) error {
		names = append(names, cobra.CompletionWithDesc(string(l.MailID), visible(l.Desc)))
		return nil
	})
	return names, err
}

// completePriorities and completeContexts offer the values of their flags.
func completePriorities(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return priorityNames(), cobra.ShellCompDirectiveNoFileComp
}

func completeContexts(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return knownContexts(), cobra.ShellCompDirectiveDefault
}

// completes sets what a flag's values are completed with.
func completes(cmd *cobra.Command, flag string, with cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, with); err != nil {
		panic("client: " + err.Error()) // the flag does not exist: a slip in this package
	}
}

// mailboxes calls visit for every public mailbox, page by page.
func (s *session) mailboxes(nc *nats.Conn, visit func(mq9.Listing) error) error {
	for after := ""; ; {
		var page mq9.DiscoverReply
		if err := s.query(nc, mq9.SubjectDiscover, mq9.PageRequest{After: after}.Encode(), &page); err != nil {
			return err
		}
		for _, l := range page.Mailboxes {
			if err := visit(l); err != nil {
				return err
			}
			after = string(l.MailID)
		}
		if !page.More || len(page.Mailboxes) == 0 {
			return nil
		}
	}
}
