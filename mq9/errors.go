package mq9

import (
	"errors"
	"fmt"
)

// Codes of refusals (protocol section 2).
const (
	CodeBadRequest  = 400 // malformed request, subject or name
	CodeForbidden   = 403 // a wildcard where an address is needed, or an event published to discovery
	CodeNotFound    = 404 // no such mailbox
	CodeConflict    = 409 // the name belongs to a mailbox of the other kind
	CodeTooLarge    = 413 // payload over max_payload
	CodeLimit       = 429 // a configured limit is reached
	CodeBug         = 500 // a fault of the broker
	CodeUnavailable = 503 // storage unavailable, or the broker is shutting down
)

// Error is a refusal as a client sees it: a code and one sentence that says what is wrong and how to mend it.
// Text never names a mail_id: it may be shown to somebody who did not present it.
type Error struct {
	Code int
	Text string
}

// Error renders the refusal as "404 no such mailbox: …".
func (e *Error) Error() string { return fmt.Sprintf("%d %s", e.Code, e.Text) }

// Errorf makes a refusal with the given code.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Text: fmt.Sprintf(format, args...)}
}

// Refusals that several places answer with.
var (
	ErrNoMailbox    = &Error{CodeNotFound, "no such mailbox: it never existed or has expired; CREATE it first"}
	ErrUnavailable  = &Error{CodeUnavailable, "storage unavailable: the change is not acknowledged; try again when the disk has recovered"}
	ErrShuttingDown = &Error{CodeUnavailable, "the broker is shutting down: nothing was changed; reconnect and try again"}
	ErrInternal     = &Error{CodeBug, "internal error: the outcome of this operation is unknown; check with LIST"}
)

// AsError returns err as a refusal. An error that is none becomes [ErrInternal], so that
// no inner detail reaches a client. AsError(nil) is nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return ErrInternal
}
