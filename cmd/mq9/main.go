package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mq9-broker/broker/cmd/mq9/client"
	"github.com/mq9-broker/broker/cmd/mq9/guides"
	"github.com/mq9-broker/broker/cmd/mq9/top"
)

// Exit codes; the client commands have more.
const (
	exitFailed = client.ExitFailed
	exitUsage  = client.ExitUsage
)

// usageError marks what is wrong with the command line itself.
type usageError struct{ error }

// Unwrap returns the problem.
func (e usageError) Unwrap() error { return e.error }

// asUsage marks an error for the packages that commands come from.
func asUsage(err error) error { return usageError{err} }

// brokerGroup is the group of the root command's help for what runs a broker and looks after it.
const brokerGroup = "broker"

func main() {
	os.Exit(run(os.Args[1:]))
}

// run executes a command line and returns the exit code.
func run(args []string) int {
	root := newRoot()
	root.SetArgs(args)
	err := root.Execute()
	if err == nil {
		return 0
	}
	fmt.Fprintf(os.Stderr, "mq9: %s\n", oneLine(err))
	if _, usage := errors.AsType[usageError](err); usage {
		return exitUsage
	}
	return client.ExitCode(err)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "mq9",
		Short:         "A message broker with mailboxes for agents, spoken to with any NATS client",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return client.UnknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(client.FlagError)
	root.AddGroup(
		&cobra.Group{ID: client.GroupID, Title: "Mailboxes:"},
		&cobra.Group{ID: brokerGroup, Title: "The broker:"},
	)
	for _, cmd := range []*cobra.Command{newServe(), newSnapshot(), newRestore(), newInspect(), newConfig(), top.New(noArgs, asUsage)} {
		cmd.GroupID = brokerGroup
		root.AddCommand(cmd)
	}
	root.AddCommand(newVersion())
	root.AddCommand(client.Commands()...)
	root.AddCommand(guides.Topics()...)
	root.SetHelpCommand(client.NewHelp())
	return root
}

// noArgs refuses arguments behind a command.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("unexpected argument %q: see %s --help", args[0], cmd.CommandPath())}
	}
	return nil
}

// oneLine renders joined errors in one line.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
