package client

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// nearest is the one of the given words that somebody may have meant who typed word, or "".
func nearest(word string, among []string) string {
	const farthest = 2 // two slips, or one pair of letters exchanged
	best, distance := "", farthest+1
	for _, candidate := range among {
		d := levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(candidate))
		// As many slips as letters make any word of any other.
		if d < distance && d < min(len(word), len(candidate)) {
			best, distance = candidate, d
		}
	}
	if best != "" || len(word) < farthest {
		return best
	}
	// An abbreviation counts if it can mean one word only.
	for _, candidate := range among {
		if strings.HasPrefix(candidate, strings.ToLower(word)) {
			if best != "" {
				return ""
			}
			best = candidate
		}
	}
	return best
}

// didYouMean is the end of an error about an unknown word: what was probably meant, or "".
func didYouMean(word string, among []string) string {
	if best := nearest(word, among); best != "" {
		return fmt.Sprintf(": did you mean %q?", best)
	}
	return ""
}

// UnknownCommand is the error about a command that parent does not have; it names the one that was probably meant.
func UnknownCommand(parent *cobra.Command, word string) error {
	var names []string
	for _, c := range parent.Commands() {
		if slices.ContainsFunc(c.SuggestFor, func(other string) bool { return strings.EqualFold(other, word) }) {
			return usagef("unknown command %q: did you mean %q? See %s --help", word, c.Name(), parent.CommandPath())
		}
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			names = append(names, c.Name())
		}
	}
	if best := nearest(word, names); best != "" {
		return usagef("unknown command %q: did you mean %q? See %s --help", word, best, parent.CommandPath())
	}
	return usagef("unknown command %q: see %s --help", word, parent.CommandPath())
}

// FlagError is the error about a flag that cmd cannot read; it names the flag that was probably meant.
func FlagError(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return usagef("%w: see %s --help", err, cmd.CommandPath())
	}
	for _, c := range cmd.Commands() {
		if hasFlag(c, unknown) {
			return usagef("%w of %s itself: write it behind the command, as in %s %s", err, cmd.CommandPath(), c.UseLine(), flagText(unknown))
		}
	}
	if unknown.GetSpecifiedShortnames() != "" {
		return usagef("%w: see %s --help", err, cmd.CommandPath())
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if best := nearest(unknown.GetSpecifiedName(), names); best != "" {
		return usagef("%w: did you mean --%s? See %s --help", err, best, cmd.CommandPath())
	}
	return usagef("%w: see %s --help", err, cmd.CommandPath())
}

// hasFlag reports whether a command has the flag that another was given.
func hasFlag(c *cobra.Command, unknown *pflag.NotExistError) bool {
	if unknown.GetSpecifiedShortnames() != "" {
		return c.Flags().ShorthandLookup(unknown.GetSpecifiedName()) != nil
	}
	return c.Flags().Lookup(unknown.GetSpecifiedName()) != nil
}

// flagText is the flag as it was written.
func flagText(unknown *pflag.NotExistError) string {
	if unknown.GetSpecifiedShortnames() != "" {
		return "-" + unknown.GetSpecifiedName()
	}
	return "--" + unknown.GetSpecifiedName()
}
