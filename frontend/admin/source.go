package admin

import "context"

// Page says which part of a list is wanted: up to Limit items behind After, which is where another page ended, or empty.
type Page struct {
	After string
	Limit int
}

// Broker is what the server shows, and changes. Methods are safe for concurrent use and do a bounded amount of work. A cursor that is none
// of theirs fails as an *mq9.Error with code 400.
type Broker interface {
	// Ready says why the broker should get no traffic, or nil.
	Ready() error

	// Activity fills in what the broker knows of itself: counts, tiers, traffic, refusals, limits.
	Activity(s *Status)

	// Mailboxes, Connections and Groups answer pages.
	Mailboxes(ctx context.Context, page Page) (MailboxPage, error)
	Connections(ctx context.Context, page Page) (ConnectionPage, error)
	Groups(ctx context.Context, page Page) (GroupPage, error)

	// Limits returns every limit by its name, and SetLimits changes those that it is given, which are none or positive: all
	// or, after an error, none of them.
	Limits() map[string]Limit
	SetLimits(values map[string]int64) error
}

// Store is the durable side. Methods are safe for concurrent use.
type Store interface {
	// State tells how it does. The counts of batches are filled in by the server.
	State() StoreState

	// Properties returns figures of the engine by name, for metrics: lower case with underscores, bytes unless the name says otherwise.
	Properties() map[string]float64

	// Snapshot makes a snapshot in a new directory.
	Snapshot(dir string) error
}
