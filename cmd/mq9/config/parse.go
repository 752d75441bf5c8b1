package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/mq9-broker/broker/mq9"
)

// into makes a row's set of a parser and the field that takes what it read.
func into[T any](parse func(text string) (T, error), field func(*Config) *T) func(*Config, string) error {
	return func(c *Config, text string) error {
		value, err := parse(text)
		if err == nil {
			*field(c) = value
		}
		return err
	}
}

// address takes host:port.
func address(text string) (string, error) { return text, CheckAddress(text) }

// CheckAddress says what is wrong with an address, host:port, or nothing.
func CheckAddress(text string) error {
	if _, err := net.ResolveTCPAddr("tcp", text); err != nil || text == "" {
		return fmt.Errorf("%q is no address: give host:port", text)
	}
	return nil
}

// optionalAddress takes host:port, or nothing.
func optionalAddress(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	return address(text)
}

// words takes what stands between commas.
func words(text string) ([]string, error) {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }), nil
}

// anything takes any text.
func anything(text string) (string, error) { return text, nil }

// directory takes any name; it may still have to be made.
func directory(text string) (string, error) {
	if text == "" {
		return "", errors.New("name a directory")
	}
	return text, nil
}

// optionalFile takes the name of a file that is there, or nothing.
func optionalFile(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	_, err := os.Stat(text)
	return text, err
}

// endpoint takes host:port, the URL of such a one, or nothing.
func endpoint(text string) (string, error) {
	host := text
	for _, scheme := range []string{"http://", "https://"} {
		host = strings.TrimPrefix(host, scheme)
	}
	if _, _, err := net.SplitHostPort(strings.TrimSuffix(host, "/")); err != nil && text != "" {
		return "", fmt.Errorf("%q is no endpoint: give host:port, or http://host:port, or https://host:port", text)
	}
	return text, nil
}

// oneOf takes one of the words.
func oneOf(what string, words ...string) func(string) (string, error) {
	return func(text string) (string, error) {
		if !slices.Contains(words, text) {
			return "", fmt.Errorf("unknown %s %q: use %s", what, text, strings.Join(words, " or "))
		}
		return text, nil
	}
}

// level takes the four plain names only; slog would take arithmetic.
func level(text string) (slog.Level, error) {
	for _, l := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		if strings.EqualFold(text, l.String()) {
			return l, nil
		}
	}
	return 0, fmt.Errorf("unknown level %q: use debug, info, warn or error", text)
}

func truth(text string) (bool, error) {
	switch text {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither true nor false", text)
}

// countFrom takes whole numbers from least on.
func countFrom(least int) func(string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		switch {
		case err != nil:
			return 0, fmt.Errorf("%q is no whole number: give one from %d on", text, least)
		case n < 0 && least == 0:
			return 0, fmt.Errorf("%d is negative: give a number, or 0 for no limit", n)
		case n < least:
			return 0, fmt.Errorf("%d is too small: give at least %d", n, least)
		}
		return n, nil
	}
}

// sizeFrom takes bytes as people write them, 100000, 512MB, 2GiB, from least on.
func sizeFrom(least int64) func(string) (int64, error) {
	return func(text string) (int64, error) {
		n, err := humanize.ParseBytes(text)
		switch {
		case err != nil || n > 1<<62:
			return 0, fmt.Errorf("%q is no size: give bytes, or a size such as 512MB or 2GiB", text)
		case int64(n) < least:
			return 0, fmt.Errorf("%s is too small: give at least %d bytes", text, least)
		}
		return int64(n), nil
	}
}

// memory takes a size, or a share of the memory that the broker may use, such as 50%.
func memory(text string) (int64, error) {
	percent, isShare := strings.CutSuffix(text, "%")
	if !isShare {
		return sizeFrom(0)(text)
	}
	n, err := strconv.Atoi(percent)
	if err != nil || n < 1 || n > 100 {
		return 0, fmt.Errorf("%q is no share: give 1%% to 100%%, or a size such as 2GB", text)
	}
	whole, err := machineMemory()
	return whole / 100 * int64(n), err
}

// duration takes times as people write them, 100ms, 5s, 1h30m, 7d, within bounds.
func duration(least, most time.Duration) func(string) (time.Duration, error) {
	return func(text string) (time.Duration, error) {
		d, err := parseDuration(text)
		switch {
		case err != nil:
			return 0, fmt.Errorf("%q is no duration: give a number with its unit, such as 500ms, 30s, 1h30m or 7d", text)
		case d < least || d > most:
			return 0, fmt.Errorf("%s is out of bounds: give %v to %v", text, least, most)
		}
		return d, nil
	}
}

func parseDuration(text string) (time.Duration, error) {
	const day = 24 * time.Hour
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n < 0 || n > mq9.MaxTTL/(24*60*60) {
			return 0, errors.New("no number of days")
		}
		return time.Duration(n) * day, nil
	}
	return time.ParseDuration(text)
}

// lifetime takes what a mailbox's ttl may be.
func lifetime(text string) (time.Duration, error) {
	d, err := duration(time.Second, mq9.MaxTTL*time.Second)(text)
	if err == nil && d%time.Second != 0 {
		return 0, fmt.Errorf("%s is no number of whole seconds", text)
	}
	return d, err
}
