package frontend

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mq9-broker/broker/mq9"
)

// Frames that are always the same.
var (
	frameOK    = []byte("+OK\r\n")
	framePing  = []byte("PING\r\n")
	framePong  = []byte("PONG\r\n")
	frameStale = []byte("-ERR 'Stale Connection'\r\n")
)

// Refusals that only the front gives.
var (
	errTooLarge = mq9.Errorf(mq9.CodeTooLarge, "the message is over max_payload: send less, or send a reference")
	errNoReply  = mq9.Errorf(mq9.CodeBadRequest, "this subject is a request: give a reply subject")
	errEvent    = mq9.Errorf(mq9.CodeForbidden, "events cannot be published here: subscribe to it, or send a request")
	errQueue    = mq9.Errorf(mq9.CodeBadRequest, "discovery has no queue groups: subscribe without a queue name")
	errConnect  = mq9.Errorf(mq9.CodeBadRequest, "send CONNECT first")
)

// maxWhy is the length of the reason in an asynchronous refusal, bytes (protocol section 2: some clients keep 254 of the whole).
const maxWhy = 120

// refuseSub renders the refusal of a SUB.
func refuseSub(subject, queue string, err *mq9.Error) []byte {
	what := `Subscription to ` + showSubject(subject)
	if queue != "" {
		what += ` using queue ` + showSubject(queue)
	}
	return refuse(what, err)
}

// refusePub renders the refusal of a publish without reply.
func refusePub(subject string, err *mq9.Error) []byte {
	return refuse(`Publish to `+showSubject(subject), err)
}

// refuse is the one place where a refusal becomes an -ERR. Every client library surfaces this form as an asynchronous
// error and stays connected; on most other texts some of them close.
func refuse(what string, err *mq9.Error) []byte {
	return fmt.Appendf(nil, "-ERR 'Permissions Violation for %s: %s'\r\n", what, why(err))
}

// why renders a refusal's code and text as ASCII that breaks no client's -ERR parser.
func why(err *mq9.Error) string {
	text := strings.Map(func(r rune) rune {
		switch {
		case r == '\'' || r == '"':
			return -1
		case r < ' ' || r > '~':
			return '?'
		}
		return r
	}, err.Error())
	// Two phrases make clients hang up. Our texts hold neither, but some quote what a client wrote.
	if low := strings.ToLower(text); strings.Contains(low, "stale connection") || strings.Contains(low, "authorization violation") {
		text = strconv.Itoa(err.Code) + " refused"
	}
	return text[:min(len(text), maxWhy)]
}

// showSubject quotes a subject for an -ERR. What is no valid UTF-8 or not printable is shown as '?': invalid UTF-8 ends
// the read loop of some clients.
func showSubject(subject string) string {
	clean := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, subject)
	return strconv.Quote(clean)
}
