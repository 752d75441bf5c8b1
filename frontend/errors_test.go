package frontend

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mq9-broker/broker/mq9"
)

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ name, got, want string }{
		{
			"publish", string(refusePub("$mq9.x", mq9.Errorf(404, "no"))),
			"-ERR 'Permissions Violation for Publish to \"$mq9.x\": 404 no'\r\n",
		},
		{
			"subscription", string(refuseSub("$mq9.x", "", mq9.Errorf(403, "no"))),
			"-ERR 'Permissions Violation for Subscription to \"$mq9.x\": 403 no'\r\n",
		},
		{
			"queue", string(refuseSub("$mq9.x", "q", mq9.Errorf(403, "no"))),
			"-ERR 'Permissions Violation for Subscription to \"$mq9.x\" using queue \"q\": 403 no'\r\n",
		},
		{
			"subject that is no UTF-8", string(refusePub("$mq9.\xff\x01é任", mq9.Errorf(400, "no"))),
			"-ERR 'Permissions Violation for Publish to \"$mq9.??é任\": 400 no'\r\n",
		},
		{"quotes in the reason", why(mq9.Errorf(400, "unknown \"x\" 'y'\r\n…")), "400 unknown x y???"},
		{"what makes clients close", why(mq9.Errorf(400, "unknown key stale ConneCtion")), "400 refused"},
		{"what makes clients close, hidden by quotes", why(mq9.Errorf(400, "authorization' violation")), "400 refused"},
	} {
		if c.got != c.want {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, c.got, c.want)
		}
	}
	if got := why(mq9.Errorf(400, "%s", strings.Repeat("é", 200))); len(got) > maxWhy {
		t.Errorf("the reason has %d bytes", len(got))
	}
	for _, err := range []*mq9.Error{mq9.ErrNoMailbox, mq9.ErrUnavailable, mq9.ErrShuttingDown, mq9.ErrInternal, errTooLarge, errNoReply, errEvent, errQueue, errConnect} {
		if text := why(err); text != err.Error() {
			t.Errorf("cut or changed: %q", text)
		}
	}
	if frame := refusePub(string([]byte{0xc3, 0x28}), mq9.ErrNoMailbox); !utf8.Valid(frame) {
		t.Errorf("no UTF-8: %q", frame)
	}
}

func TestRedact(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`Listening on "x"`, `Listening on "x"`},
		{`processPub Parse Error: "$mq9.AI.MAILBOX.MSG.0f1e"`, `processPub Parse Error: "$mq9.…`},
		{`Client parser ERROR, state=0, i=0: proto='f1e2d3...'`, `Client parser ERROR, state=0, i=0: proto=…`},
		{`maximum control line exceeded (snip: "f1e2"...)`, `maximum control line exceeded (snip: …`},
	} {
		if got := redact(c.text); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
