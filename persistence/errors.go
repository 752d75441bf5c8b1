package persistence

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mq9-broker/broker/mq9"
)

// Why a store does not open. Errors of Open, Restore and Inspect wrap one of these, name the directory and say in one line how to mend it.
var (
	ErrPath    = errors.New("cannot be used as data directory")
	ErrInUse   = errors.New("is in use by another broker")
	ErrForeign = errors.New("is not empty and holds no mq9 store")
	ErrFormat  = errors.New("holds a store of another format")
	ErrDamaged = errors.New("holds a damaged store")

	// Of Restore and Inspect alone.
	ErrNotEmpty   = errors.New("is not empty")
	ErrNoSnapshot = errors.New("holds no complete snapshot")
	ErrNoStore    = errors.New("holds no store")
)

var (
	// ErrClosed answers every use of a closed store; for a client it reads as 503.
	ErrClosed = fmt.Errorf("the store is closed: %w", mq9.ErrShuttingDown)

	// ErrCorrupt marks a record that no encoder of this package wrote.
	ErrCorrupt = errors.New("corrupt record")

	// ErrInvalid marks a change that cannot be stored whatever the state of the disk: a fault of the caller.
	ErrInvalid = errors.New("invalid change")
)

// unavailable is what callers are told when the engine fails: 503 for a client, with the cause for the log.
func unavailable(cause error) error { return fmt.Errorf("%w (%s)", mq9.ErrUnavailable, oneLine(cause)) }

// oneLine renders an error of the engine, which may hold line breaks, for a log or a terminal.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// invalid makes an ErrInvalid that says what is wrong.
func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
}

// corrupt makes an ErrCorrupt that says what is wrong, without any of the record's text: it may be a secret.
func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}
