package crash

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"time"
)

// Kind says what an Event tells.
type Kind string

// The kinds of events. Those that end in "ed" are outcomes: they carry the Op of the call that they answer.
const (
	Starting Kind = "starting" // the process is launched: a life begins
	Killing  Kind = "killing"  // SIGKILL is about to be sent
	Stopping Kind = "stopping" // the last life ends in good order; nothing is in flight

	Create     Kind = "create"     // Box is the name, or the mail_id to confirm, or empty; Info what is asked for
	Created    Kind = "created"    // Info
	Send       Kind = "send"       // a message as a request: Box, Token, Priority, Sum
	Sent       Kind = "sent"       // Msg
	Publish    Kind = "publish"    // a message without a reply; a Flushed acknowledges it
	Delete     Kind = "delete"     // Box, Msg
	Deleted    Kind = "deleted"    // Existed
	Drop       Kind = "drop"       // a deletion without a reply; a Flushed acknowledges it
	Flush      Kind = "flush"      // a barrier for what this connection did before
	Flushed    Kind = "flushed"    //
	List       Kind = "list"       // Box
	Listed     Kind = "listed"     // IDs and Tiers in the order of the reply; More when these are not all
	Discover   Kind = "discover"   //
	Discovered Kind = "discovered" // Infos
	Refused    Kind = "refused"    // the outcome of any call: Code
	Unanswered Kind = "unanswered" // no outcome, because the connection ended or nothing came in time

	Subscribe Kind = "subscribe" // Box, Group; its Op names the subscription
	Delivered Kind = "delivered" // on the subscription Op: Box, Msg, Token, Priority, Sum, Stamp; Wrong when its frame is malformed
	Replayed  Kind = "replayed"  // the reader waited on the subscription Op for everything that is stored
	Left      Kind = "left"      // the subscription Op is about to end
	Complaint Kind = "complaint" // an asynchronous error about Box on this connection: Code
)

// Info is a mailbox as its creator asks for it and as the broker describes it. Times are Unix nanoseconds.
type Info struct {
	Box     string `json:"box,omitempty"`
	New     bool   `json:"new,omitempty"`
	Public  bool   `json:"public,omitempty"`
	TTL     int64  `json:"ttl,omitempty"` // seconds
	Desc    string `json:"desc,omitempty"`
	Created int64  `json:"created,omitempty"`
	Expires int64  `json:"expires,omitempty"`
}

// Event is one line of a History. Which fields matter depends on the Kind.
type Event struct {
	Kind     Kind     `json:"kind"`
	At       int64    `json:"at"`             // when it was recorded, Unix nanoseconds
	Conn     int      `json:"conn,omitempty"` // which connection; none has the number of another in the whole run
	Op       int      `json:"op,omitempty"`   // which call
	Box      string   `json:"box,omitempty"`
	Group    string   `json:"group,omitempty"` // queue name; empty = an independent subscription
	Token    string   `json:"token,omitempty"` // who the message is: unique, and part of its payload
	Msg      string   `json:"msg,omitempty"`   // msg_id
	Priority int      `json:"priority"`        // 0 critical, 1 urgent, 2 normal
	Sum      uint64   `json:"sum,omitempty"`   // checksum of payload and headers
	Stamp    int64    `json:"stamp,omitempty"` // Mq9-Timestamp
	Existed  bool     `json:"existed,omitempty"`
	More     bool     `json:"more,omitempty"`
	Code     int      `json:"code,omitempty"`
	Wrong    string   `json:"wrong,omitempty"`
	IDs      []string `json:"ids,omitempty"`
	Tiers    []int    `json:"tiers,omitempty"` // the priorities of IDs
	Info     *Info    `json:"info,omitempty"`
	Infos    []Info   `json:"infos,omitempty"`
}

// History records events in the order in which they happened, as one observer sees them: a call before its bytes leave, an
// outcome after they came. It is safe for use by many goroutines, but for Cut.
type History struct {
	file *os.File
	out  *bufio.Writer

	mu     sync.Mutex
	events []Event // since the last Cut; guarded by mu
	ops    int     // guarded by mu
	conns  int     // guarded by mu
}

// NewHistory makes a history that is written to a new file in the directory for temporary files.
func NewHistory() (*History, error) {
	file, err := os.CreateTemp("", "mq9-crash-*.jsonl")
	if err != nil {
		return nil, err
	}
	return &History{file: file, out: bufio.NewWriter(file)}, nil
}

// Path is where the history is written.
func (h *History) Path() string { return h.file.Name() }

// Add records an event and stamps it.
func (h *History) Add(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.add(e)
}

// Call records a call and returns its number.
func (h *History) Call(e Event) (op int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops++
	e.Op = h.ops
	h.add(e)
	return e.Op
}

// add REQUIRES: mu.
func (h *History) add(e Event) {
	e.At = time.Now().UnixNano()
	h.events = append(h.events, e)
}

// Connection returns a number for a new connection.
func (h *History) Connection() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conns++
	return h.conns
}

// Cut writes to the file what was recorded since the last Cut, and returns it.
func (h *History) Cut() ([]Event, error) {
	h.mu.Lock()
	events := h.events
	h.events = nil
	h.mu.Unlock()
	encoder := json.NewEncoder(h.out)
	for i := range events {
		if err := encoder.Encode(&events[i]); err != nil {
			return events, err
		}
	}
	return events, nil
}

// Close ends the writing. The file stays if keep is set.
func (h *History) Close(keep bool) error {
	err := errors.Join(h.out.Flush(), h.file.Close())
	if !keep {
		err = errors.Join(err, os.Remove(h.Path()))
	}
	return err
}
