package guides

import (
	_ "embed"
	"fmt"

	"github.com/spf13/cobra"
)

//go:embed operations.md
var operations string

//go:embed clients.md
var clients string

// Topics returns the guides as cobra knows help topics: commands that cannot be run.
func Topics() []*cobra.Command {
	return []*cobra.Command{
		topic("operations", "The guide for those who run a broker", operations),
		topic("clients", "The guide for those who write clients, in Go, JavaScript and shell", clients),
	}
}

func topic(name, short, text string) *cobra.Command {
	text = plain(text)
	cmd := &cobra.Command{Use: name, Short: short, Long: text}
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		out := cmd.OutOrStdout()
		if !page(out, text) {
			_, _ = fmt.Fprint(out, text) // a help function cannot fail
		}
	})
	return cmd
}
