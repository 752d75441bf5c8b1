package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/mq9-broker/broker/cmd/mq9/config"
	"github.com/mq9-broker/broker/frontend"
	"github.com/mq9-broker/broker/frontend/admin"
)

// snapshotWait bounds a snapshot: links are made and what is in memory is written out, tens of megabytes.
const snapshotWait = 2 * time.Minute

func newSnapshot() *cobra.Command {
	var address, tokenFile string
	cmd := &cobra.Command{
		Use:   "snapshot DIR",
		Short: "Have the running broker make a snapshot of its durable tiers",
		Long: "Have the running broker make a snapshot of its mailboxes and their critical and urgent messages in DIR, which\n" +
			"must not exist and must be on the file system of the broker's data. Nothing stops meanwhile. The snapshot shares its files\n" +
			"with the data, so it takes little space at first: copy it elsewhere to be safe from a broken disk.",
		Args: oneDirectory,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := config.CheckAddress(address); err != nil {
				return usageError{fmt.Errorf("--http: %w", err)}
			}
			dir, err := filepath.Abs(args[0]) // the broker's working directory may be another
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), snapshotWait)
			defer cancel()
			if err := askSnapshot(ctx, reachable(address), tokenFile, dir); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "snapshot made in %s\n", dir)
			return err
		},
	}
	cmd.Flags().StringVar(&address, "http", cmp.Or(os.Getenv("MQ9_HTTP"), frontend.DefaultHTTP), "the broker's --http address, `host:port`; MQ9_HTTP says it too")
	cmd.Flags().StringVar(&tokenFile, "http-token-file", os.Getenv("MQ9_HTTP_TOKEN_FILE"), "`file` that holds the token of that address, if it has one; or MQ9_HTTP_TOKEN_FILE")
	return cmd
}

// oneDirectory wants exactly one argument.
func oneDirectory(cmd *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] == "" {
		return usageError{fmt.Errorf("name one directory: see %s --help", cmd.CommandPath())}
	}
	return nil
}

// askSnapshot sends the admin request.
func askSnapshot(ctx context.Context, address, tokenFile, dir string) (err error) {
	body, err := json.Marshal(admin.Snapshot{Dir: dir})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+admin.SnapshotPath, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if tokenFile != "" {
		token, err := admin.ReadToken(tokenFile)
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("no broker answers at %s: see that it runs and that --http is its address (%w)", address, err)
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	if answer.StatusCode == http.StatusCreated {
		return nil
	}
	const longest = 64 << 10
	text, err := io.ReadAll(io.LimitReader(answer.Body, longest))
	if err != nil {
		return err
	}
	var refusal struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(text, &refusal) != nil || refusal.Error == "" {
		return fmt.Errorf("what answers at %s makes no snapshots (%s): name the broker's --http address", address, answer.Status)
	}
	return errors.New(refusal.Error)
}
