package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mq9-broker/broker/cmd/mq9/config"
	"github.com/mq9-broker/broker/frontend"
)

func newConfig() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Look at the configuration, check it, or print an example of it",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConfigShow(), newConfigCheck(), newConfigExample())
	return cmd
}

func newConfigShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print every key: its value, where that comes from, default, unit and effect",
		Long: "Print what `mq9 serve` would go by if it were started here, now, with the same flags: every key with its value, where that\n" +
			"comes from, its default, unit and effect. Of secrets it is said only whether they are set.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, err := config.Load(cmd.Flags())
			if err != nil {
				return usageError{err}
			}
			if asJSON {
				return loaded.WriteJSON(cmd.OutOrStdout())
			}
			return loaded.WriteText(cmd.OutOrStdout())
		},
	}
	config.AddFlags(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newConfigCheck() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Say everything that is wrong with the configuration",
		Long: "Check what `mq9 serve` would go by: FILE, or the file that it would find, the environment, the flags, and the nats-server\n" +
			"configuration that they name. Every problem is a line on standard error. The exit code is 2 if there is one.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{fmt.Errorf("name one file: see %s --help", cmd.CommandPath())}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if err := cmd.Flags().Set(config.FileFlag, args[0]); err != nil {
					return err
				}
			}
			return check(cmd)
		},
	}
	config.AddFlags(cmd.Flags())
	return cmd
}

// check prints what is wrong and what is odd.
func check(cmd *cobra.Command) error {
	loaded, err := config.Load(cmd.Flags())
	if loaded == nil {
		return err
	}
	for _, note := range loaded.Notes {
		cmd.PrintErrf("note: %s\n", note)
	}
	if loaded.NATSConfig != "" {
		err = errors.Join(err, frontend.CheckNATSConfig(loaded.NATSConfig))
	}
	if err != nil {
		problems := strings.Split(err.Error(), "\n")
		for _, problem := range problems {
			cmd.PrintErrln(problem)
		}
		return usageError{errors.New(counted(len(problems), "problem"))}
	}
	return say(cmd.OutOrStdout(), loaded)
}

// say tells that all is well, and of what.
func say(w io.Writer, loaded *config.Loaded) error {
	of := loaded.File
	if of == "" {
		of = "no file, and what stands for it"
	}
	_, err := fmt.Fprintf(w, "the configuration is good (%s)\n", of)
	return err
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func newConfigExample() *cobra.Command {
	return &cobra.Command{
		Use:   "example",
		Short: "Print a configuration file with every key, its default and its effect",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return config.WriteExample(cmd.OutOrStdout()) },
	}
}
