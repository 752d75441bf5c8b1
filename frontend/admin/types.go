package admin

import "time"

// The objects of the API. Times are RFC 3339 in UTC, sizes bytes, counters begin at zero with the process: a rate is the
// difference of two looks. Each is described in openapi.json, which a test compares with what is answered.

// States of the store.
const (
	StoreOK      = "ok"
	StoreFailing = "failing"
)

// Status is what a broker does now.
type Status struct {
	Version   string    `json:"version"`
	Now       time.Time `json:"now"`
	StartedAt time.Time `json:"started_at"`
	Uptime    float64   `json:"uptime_seconds"`
	Ready     bool      `json:"ready"`
	Reason    string    `json:"reason,omitempty"` // why it is not ready

	Process       Process              `json:"process"`
	Connections   ConnectionCounts     `json:"connections"`
	Subscriptions Subscriptions        `json:"subscriptions"`
	Mailboxes     MailboxCounts        `json:"mailboxes"`
	Groups        int64                `json:"groups"`
	Tiers         map[string]Tier      `json:"tiers"`   // by priority
	Traffic       map[string]Traffic   `json:"traffic"` // by priority
	Refusals      map[string]uint64    `json:"refusals"`
	Restarts      uint64               `json:"actor_restarts"`
	Store         StoreState           `json:"store"`
	Latencies     map[string]Histogram `json:"latencies"` // store, sync, delivery; seconds
	Limits        map[string]Limit     `json:"limits"`
}

// Process is what the process takes.
type Process struct {
	Goroutines int     `json:"goroutines"`
	Heap       uint64  `json:"heap_bytes"`     // live and not yet collected objects
	Resident   uint64  `json:"resident_bytes"` // all of the process, RocksDB included; 0 where the system does not tell
	CPU        float64 `json:"cpu_seconds"`
}

// ConnectionCounts counts clients.
type ConnectionCounts struct {
	Now   int    `json:"now"`
	Total uint64 `json:"total"`
	Slow  int    `json:"slow"` // their sockets took nothing for a second while deliveries wait
}

// Subscriptions counts those of all connections.
type Subscriptions struct {
	Mailbox   int `json:"mailbox"`
	Discovery int `json:"discovery"`
	Plain     int `json:"plain"` // served by the embedded nats-server
}

// MailboxCounts counts mailboxes.
type MailboxCounts struct {
	Public  int64  `json:"public"`
	Private int64  `json:"private"`
	Created uint64 `json:"created"`
	Expired uint64 `json:"expired"`
}

// Tier is what is stored of one priority.
type Tier struct {
	Messages int64 `json:"messages"`
	Bytes    int64 `json:"bytes"`
	Durable  bool  `json:"durable"`
	Counted  bool  `json:"counted"` // false while what was on disk at the start is still being counted
}

// Traffic is what happened to messages of one priority.
type Traffic struct {
	Published      uint64 `json:"published"`
	PublishedBytes uint64 `json:"published_bytes"`
	Delivered      uint64 `json:"delivered"`
	DeliveredBytes uint64 `json:"delivered_bytes"`
	Redelivered    uint64 `json:"redelivered"`
	Deleted        uint64 `json:"deleted"`
	Expired        uint64 `json:"expired"`
}

// StoreState is how the durable tiers do.
type StoreState struct {
	State    string `json:"state"` // ok or failing
	Error    string `json:"error,omitempty"`
	Sync     string `json:"sync"`       // always, interval or never
	Queued   int    `json:"queued"`     // changes that wait for the batch being written
	Disk     int64  `json:"disk_bytes"` // files of the data directory
	DiskFree int64  `json:"disk_free_bytes"`
	Batches  uint64 `json:"batches"`
	Changes  uint64 `json:"changes"`
	Failed   uint64 `json:"failed_batches"`
}

// Histogram counts observations: Buckets[i] of them were at most Bounds[i], and Count in all.
type Histogram struct {
	Count   uint64    `json:"count"`
	Sum     float64   `json:"sum"`
	Bounds  []float64 `json:"bounds"`
	Buckets []uint64  `json:"buckets"`
}

// Limit is one limit of the broker. Used is what counts against it now; of a limit for each mailbox, the most that one mailbox had since the
// start, and of one for each connection, the most that one has now.
type Limit struct {
	Value int64 `json:"value"` // 0 = none
	Used  int64 `json:"used"`
	Fixed bool  `json:"fixed"` // it cannot be changed while the broker runs
}

// Mailbox is one mailbox. Name is there for a public one, Hash for a private one.
type Mailbox struct {
	Public        bool             `json:"public"`
	Name          string           `json:"name,omitempty"`
	Hash          string           `json:"hash,omitempty"`
	Account       string           `json:"account"`
	Desc          string           `json:"desc,omitempty"`
	CreatedAt     time.Time        `json:"created_at"`
	ExpiresAt     time.Time        `json:"expires_at"`
	MaxInflight   int              `json:"max_inflight"`
	Counted       bool             `json:"counted"` // false while depth is not known: it is on disk, not yet counted, or the mailbox is busy
	Depth         map[string]Depth `json:"depth"`   // by priority
	Subscriptions int              `json:"subscriptions"`
	Waiting       int              `json:"waiting"` // of the subscriptions, those whose connection has no room
	Groups        int              `json:"groups"`
	Members       int              `json:"members"` // of the groups
}

// Depth is what a mailbox holds of one priority.
type Depth struct {
	Messages int64 `json:"messages"`
	Bytes    int64 `json:"bytes"`
}

// Connection is one client.
type Connection struct {
	ID            uint64    `json:"id"`
	Name          string    `json:"name,omitempty"`
	Address       string    `json:"address"`
	Account       string    `json:"account"`
	Language      string    `json:"language,omitempty"` // of the client library
	Library       string    `json:"library,omitempty"`  // its version
	Since         time.Time `json:"since"`
	Subscriptions int       `json:"subscriptions"` // to mailboxes and discovery
	Plain         int       `json:"plain_subscriptions"`
	Inflight      int       `json:"inflight_bytes"` // deliveries on their way to its socket
	Delivered     uint64    `json:"delivered"`
	Waiting       int       `json:"waiting"` // subscriptions that wait for room
	Slow          bool      `json:"slow"`    // its socket took nothing for a second while deliveries wait
}

// Group is one queue group of a mailbox.
type Group struct {
	Mailbox string   `json:"mailbox"` // its name, or its hash if it is private
	Public  bool     `json:"public"`
	Account string   `json:"account"`
	Group   string   `json:"group"`
	Held    int      `json:"held"`    // messages handed out and not deleted
	Size    int      `json:"size"`    // members; only the first of many are listed
	Members []Member `json:"members"` // in the order of joining
}

// Member is one member of a queue group.
type Member struct {
	Connection uint64 `json:"connection"` // see Connection.ID
	Held       int    `json:"held"`
	Waiting    bool   `json:"waiting"`  // its connection has no room
	Draining   bool   `json:"draining"` // it left, and keeps for a while what it holds
}

// Pages of lists. Next is what to give as after for the page that follows; it is absent at the end.
type (
	// MailboxPage is one page of mailboxes: public ones by account and name, then private ones by age.
	MailboxPage struct {
		Mailboxes []Mailbox `json:"mailboxes"`
		Next      string    `json:"next,omitempty"`
	}
	// ConnectionPage is one page of connections, by age.
	ConnectionPage struct {
		Connections []Connection `json:"connections"`
		Next        string       `json:"next,omitempty"`
	}
	// GroupPage is one page of queue groups, by mailbox and name.
	GroupPage struct {
		Groups []Group `json:"groups"`
		Next   string  `json:"next,omitempty"`
	}
)

// LimitSet is the limits in force, by name.
type LimitSet struct {
	Limits map[string]Limit `json:"limits"`
}

// LogLevel is the least severe level that is logged: debug, info, warn or error.
type LogLevel struct {
	Level string `json:"level"`
}

// Snapshot names the directory of a snapshot: an absolute path on the broker's machine.
type Snapshot struct {
	Dir string `json:"dir"`
}

// Letter is a message that is sent by hand.
type Letter struct {
	MailID   string `json:"mail_id"`
	Account  string `json:"account,omitempty"`  // of the mailbox; absent = the one where clients are that name none
	Priority string `json:"priority,omitempty"` // absent = normal
	Text     string `json:"text"`
}

// Sent names a message that is stored.
type Sent struct {
	MsgID string `json:"msg_id"`
}

// Wish says which mailbox is to be watched.
type Wish struct {
	MailID   string `json:"mail_id"`
	Account  string `json:"account,omitempty"`  // as in Letter
	Priority string `json:"priority,omitempty"` // absent = all of them
}

// Delivery is one message for a person to look at. What is not text, or longer than a person reads, is told by its size.
type Delivery struct {
	MsgID    string    `json:"msg_id"`
	Priority string    `json:"priority"`
	At       time.Time `json:"at"`               // acceptance
	Header   string    `json:"header,omitempty"` // lines of the publisher's own
	Text     string    `json:"text"`             // the beginning, if it is UTF-8
	Size     int       `json:"size"`             // of the payload, bytes
	Whole    bool      `json:"whole"`            // Text is all of it
}
