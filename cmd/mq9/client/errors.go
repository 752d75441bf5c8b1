package client

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/mq9-broker/broker/mq9"
)

// The exit codes of the client commands, as `mq9 help exit-codes` explains them.
const (
	ExitFailed      = 1   // something went wrong that no other code names
	ExitUsage       = 2   // the command line is wrong
	ExitRefused     = 3   // the broker refused the operation
	ExitUnreachable = 4   // no broker could be reached, or it did not answer
	ExitCommand     = 5   // a command of watch --exec failed
	ExitInterrupted = 130 // ended by Ctrl-C before it was done
)

// coded is an error that knows its exit code.
type coded struct {
	error
	code int
}

// Unwrap returns the error itself.
func (e coded) Unwrap() error { return e.error }

// ExitCode is the exit code that the error asks for.
func (e coded) ExitCode() int { return e.code }

// ExitCode is the exit code for an error of a command: 0 for nil, what the error asks for, else [ExitFailed].
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	if e, ok := errors.AsType[coded](err); ok {
		return e.code
	}
	if _, refused := errors.AsType[*mq9.Error](err); refused {
		return ExitRefused
	}
	return ExitFailed
}

// usagef is an error of the command line.
func usagef(format string, args ...any) error {
	return coded{fmt.Errorf(format, args...), ExitUsage}
}

// refusal finds the broker's refusal in what nats.go reports of an -ERR:
//
//	nats: permissions violation: Permissions Violation for Subscription to "…": 404 no such mailbox: …
//
// It reports false for a denial that is not of mq9, such as one of the user's permissions.
func refusal(err error) (*mq9.Error, bool) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return nil, false
	}
	text := err.Error()
	quote := strings.LastIndex(text, `": `) // no refusal holds a quote, see protocol section 2
	if quote < 0 {
		return nil, false
	}
	number, why, _ := strings.Cut(text[quote+len(`": `):], " ")
	code, bad := strconv.Atoi(number)
	if bad != nil || code < 100 || why == "" {
		return nil, false
	}
	return &mq9.Error{Code: code, Text: why}, true
}

// explain turns what nats.go reports of a request or a publish into what a person can act on.
func explain(err error, c *connection) error {
	if r, ok := refusal(err); ok {
		return r
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, nats.ErrNoResponders):
		return coded{fmt.Errorf("what answers at %s is a NATS server without mq9: name a broker with -s or NATS_URL", c.where()), ExitUnreachable}
	case errors.Is(err, nats.ErrTimeout):
		return coded{fmt.Errorf("the broker at %s did not answer within %v: whether it did what was asked is unknown; see mq9 ls, or allow more with --timeout", c.where(), c.timeout.value), ExitUnreachable}
	case errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrDisconnected):
		return coded{fmt.Errorf("the connection to %s was lost: whether the broker did what was asked is unknown (%w)", c.where(), err), ExitUnreachable}
	case errors.Is(err, nats.ErrPermissionViolation):
		return coded{fmt.Errorf("the user has no permission for this: %w", err), ExitRefused}
	}
	return err
}
