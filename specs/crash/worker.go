package crash

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// requestTimeout is how long a live broker may take for an answer; the race detector and a loaded machine are included.
const requestTimeout = 20 * time.Second

// worker is one connection that does steps one after the other, until the broker is killed. It belongs to one goroutine.
type worker struct {
	addr    string
	history *History
	world   *world

	nc    *nats.Conn
	conn  int // its number in the history
	sent  int // messages sent by this connection
	gone  bool
	subs  []*subscription // independent ones
	teams []*subscription // memberships of queue groups
}

// subscription is one SUB and what came on it.
type subscription struct {
	op    int
	box   string
	sub   *nats.Subscription
	until time.Time // readAll: when the mailbox expires
	ended atomic.Bool

	mu     sync.Mutex
	inbox  []*nats.Msg     // not yet worked on; guarded by mu
	wanted map[string]bool // ids that the reader waits for; guarded by mu
	all    chan struct{}   // closed when wanted is empty; guarded by mu
}

// reply is any JSON reply.
type reply struct {
	Error     string    `json:"error"`
	Code      int       `json:"code"`
	MailID    string    `json:"mail_id"`
	IsNew     bool      `json:"is_new"`
	Public    bool      `json:"public"`
	TTL       int64     `json:"ttl"`
	Desc      string    `json:"desc"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
	MsgID     string    `json:"msg_id"`
	Deleted   bool      `json:"deleted"`
	More      bool      `json:"more"`
	Messages  []struct {
		MsgID    string `json:"msg_id"`
		Priority string `json:"priority"`
	} `json:"messages"`
	Mailboxes []reply `json:"mailboxes"`
}

func (r *reply) info() Info {
	return Info{
		Box: r.MailID, New: r.IsNew, Public: r.Public, TTL: r.TTL, Desc: r.Desc,
		Created: r.CreatedAt.UnixNano(), Expires: r.ExpiresAt.UnixNano(),
	}
}

// connect opens a connection with a number of its own. It reports false when the broker is gone.
func (w *worker) connect() bool {
	w.conn, w.sent, w.subs, w.teams = w.history.Connection(), 0, nil, nil
	conn := w.conn
	nc, err := nats.Connect("nats://"+w.addr, nats.NoReconnect(), nats.Timeout(requestTimeout),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { w.history.Add(complaint(conn, err)) }))
	w.nc, w.gone = nc, err != nil
	return err == nil
}

// close ends the connection, and says before that its subscriptions end.
func (w *worker) close() {
	for _, s := range slices.Concat(w.subs, w.teams) {
		w.leave(s)
	}
	w.subs, w.teams = nil, nil
	if w.nc != nil {
		w.nc.Close()
	}
}

func (w *worker) leave(s *subscription) {
	s.ended.Store(true)
	w.history.Add(Event{Kind: Left, Conn: w.conn, Op: s.op, Box: s.box})
}

// refusal is the one form of a refused SUB or publish.
var refusal = regexp.MustCompile(`permissions violation for (?:subscription to|publish to) "([^"]*)".*: (\d{3}) `)

// complaint is an asynchronous error as an event. One that is no refusal has the code 0.
func complaint(conn int, err error) Event {
	e := Event{Kind: Complaint, Conn: conn, Wrong: err.Error()}
	text := strings.ToLower(err.Error())
	match := refusal.FindStringSubmatch(text)
	if match == nil {
		return e
	}
	e.Code, _ = strconv.Atoi(match[2]) // three digits
	subject := match[1]
	for _, verb := range []string{subjectSend, subjectDelete} {
		if rest, ok := strings.CutPrefix(subject, strings.ToLower(verb)); ok {
			e.Box = rest
			if verb == subjectDelete || strings.HasSuffix(rest, ".*") || strings.HasSuffix(rest, ".critical") || strings.HasSuffix(rest, ".urgent") {
				e.Box = rest[:strings.LastIndexByte(rest, '.')]
			}
		}
	}
	return e
}

// call records a call, sends it as a request and records what is common to all outcomes: refusals and silence. ok says that there is
// a success, which is the caller's to record.
func (w *worker) call(e Event, m *nats.Msg) (op int, r reply, ok bool) {
	e.Conn = w.conn
	op = w.history.Call(e)
	answer, err := w.nc.RequestMsg(m, requestTimeout)
	if err != nil {
		w.gone = true
		w.history.Add(Event{Kind: Unanswered, Conn: w.conn, Op: op, Wrong: err.Error()})
		return op, r, false
	}
	if err := json.Unmarshal(answer.Data, &r); err != nil {
		w.history.Add(Event{Kind: Refused, Conn: w.conn, Op: op, Wrong: fmt.Sprintf("%.80q is no reply", answer.Data)})
		return op, r, false
	}
	if r.Error != "" {
		w.history.Add(Event{Kind: Refused, Conn: w.conn, Op: op, Code: r.Code, Wrong: r.Error})
		return op, r, false
	}
	return op, r, true
}

// outcome records a success.
func (w *worker) outcome(op int, e Event) {
	e.Op, e.Conn = op, w.conn
	w.history.Add(e)
}

// flush waits until everything before it is done.
func (w *worker) flush(step) {
	op := w.history.Call(Event{Kind: Flush, Conn: w.conn})
	if err := w.nc.FlushTimeout(requestTimeout); err != nil {
		w.gone = true
		w.history.Add(Event{Kind: Unanswered, Conn: w.conn, Op: op, Wrong: err.Error()})
		return
	}
	w.outcome(op, Event{Kind: Flushed})
}

// reconnect is what a crash of the client looks like to the broker.
func (w *worker) reconnect(step) {
	w.close()
	w.connect()
}
