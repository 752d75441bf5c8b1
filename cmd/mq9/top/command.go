package top

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/mq9-broker/broker/frontend"
)

// TokenVariable names the environment variable with the token for a broker that asks for one.
const TokenVariable = "MQ9_HTTP_TOKEN" //nolint:gosec // its name

// lookWait bounds one look.
const lookWait = 5 * time.Second

// New makes the command. args checks its arguments; usage marks an error of the command line.
func New(args cobra.PositionalArgs, usage func(error) error) *cobra.Command {
	var address string
	var once, asJSON bool
	var interval time.Duration
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Watch a broker at work, live in the terminal",
		Long: "Watch a broker at work: rates, latencies, tiers, readers that do not keep up, mailboxes, queue groups and clients.\n" +
			"Into a pipe it prints one view. Private mailboxes are shown as hashes.\n\n" +
			"Keys: tab and shift+tab or 1, 2, 3 change the table, arrows and page keys move in it, / filters it, esc ends\n" +
			"filtering, p holds the picture still, q quits.",
		Example: "  mq9 top\n  mq9 top --once\n  mq9 top --json | jq '.rates.published'",
		Args:    args,
		RunE: func(cmd *cobra.Command, _ []string) error {
			host, port, err := net.SplitHostPort(address)
			if err != nil || port == "" {
				return usage(fmt.Errorf("--http: %q is no address: give host:port, such as %s", address, frontend.DefaultHTTP))
			}
			if interval < 100*time.Millisecond {
				return usage(fmt.Errorf("--interval: %v is too short: give 100ms or more", interval))
			}
			if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
				host = "127.0.0.1"
			}
			b := &broker{base: "http://" + net.JoinHostPort(host, port), token: os.Getenv(TokenVariable), http: &http.Client{Timeout: lookWait}}
			screen, terminal := cmd.OutOrStdout().(*os.File)
			if terminal = terminal && term.IsTerminal(screen.Fd()); once || asJSON || !terminal {
				return printOnce(cmd, b, interval, asJSON)
			}
			_, err = tea.NewProgram(newModel(b, interval), tea.WithAltScreen(), tea.WithContext(cmd.Context()), tea.WithOutput(screen)).Run()
			if errors.Is(err, tea.ErrInterrupted) {
				return nil
			}
			return err
		},
	}
	cmd.Flags().StringVar(&address, "http", cmp.Or(os.Getenv("MQ9_HTTP"), frontend.DefaultHTTP), "the broker's --http address, `host:port`; MQ9_HTTP says it too")
	cmd.Flags().DurationVar(&interval, "interval", time.Second, "`time` between two looks")
	cmd.Flags().BoolVar(&once, "once", false, "print one view and end, as into a pipe")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one look as JSON and end")
	return cmd
}

// printOnce looks twice, an interval apart, and prints.
func printOnce(cmd *cobra.Command, b *broker, interval time.Duration, asJSON bool) error {
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	first, err := b.look(ctx)
	if err != nil {
		return err
	}
	select {
	case <-time.After(interval):
	case <-ctx.Done():
		return ctx.Err()
	}
	second, err := b.look(ctx)
	if err != nil {
		return err
	}
	r := rates(&first.Status, &second.Status)
	if asJSON {
		e := json.NewEncoder(cmd.OutOrStdout())
		e.SetIndent("", "  ")
		return e.Encode(struct {
			*Look
			Rates Rates `json:"rates"`
		}{second, r})
	}
	_, err = fmt.Fprint(cmd.OutOrStdout(), page(second, r))
	return err
}
