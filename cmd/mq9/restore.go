package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/mq9-broker/broker/persistence"
)

func newRestore() *cobra.Command {
	var from, to string
	cmd := &cobra.Command{
		Use:   "restore --from SNAPSHOT --data-dir DIR",
		Short: "Make a data directory from a snapshot",
		Long: "Copy a snapshot to a new data directory, from which `mq9 serve` goes on: with the mailboxes and the critical and urgent\n" +
			"messages of the moment of the snapshot, and with message ids that were never used. The snapshot stays as it is.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if from == "" || to == "" {
				return usageError{errors.New("name --from and --data-dir: see mq9 restore --help")}
			}
			quiet := slog.New(slog.NewTextHandler(io.Discard, nil)) // what goes wrong is in the error
			if err := persistence.Restore(from, to, persistence.Options{Logger: quiet}); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "restored to %s\n", to)
			return err
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "the snapshot's `directory`")
	cmd.Flags().StringVar(&to, "data-dir", "", "`directory` to make; empty if it exists")
	return cmd
}
