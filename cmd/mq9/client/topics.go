package client

import (
	"embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// texts holds a help topic in each file: its first line says what it is about.
//
//go:embed topics/*.txt
var texts embed.FS

// topics returns the help topics as cobra knows them: commands that cannot be run.
func topics() []*cobra.Command {
	files, err := texts.ReadDir("topics")
	if err != nil {
		panic("client: " + err.Error()) // what is embedded is there
	}
	var all []*cobra.Command
	for _, file := range files {
		text, err := texts.ReadFile("topics/" + file.Name())
		if err != nil {
			panic("client: " + err.Error())
		}
		short, long, _ := strings.Cut(string(text), "\n")
		topic := &cobra.Command{Use: strings.TrimSuffix(file.Name(), ".txt"), Short: short, Long: strings.TrimSpace(long)}
		topic.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
			_, _ = fmt.Fprintln(cmd.OutOrStdout(), cmd.Long) // a help function cannot fail
		})
		all = append(all, topic)
	}
	return all
}

// NewHelp returns the help command. Unlike cobra's own it treats an unknown topic as the mistake it is.
func NewHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND or TOPIC]",
		Short: "Explain a command or a topic",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var names []cobra.Completion
			if of, _, err := cmd.Root().Find(args); err == nil {
				for _, c := range of.Commands() {
					names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			of := cmd.Root()
			for _, word := range args {
				next := child(of, word)
				if next == nil {
					return UnknownCommand(of, word)
				}
				of = next
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	}
}

// child is the command or topic of a name below another.
func child(of *cobra.Command, name string) *cobra.Command {
	for _, c := range of.Commands() {
		if c.Name() == name {
			return c
		}
	}
	return nil
}
