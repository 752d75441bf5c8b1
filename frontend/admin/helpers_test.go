package admin

import (
	"context"

	"github.com/mq9-broker/broker/mq9"
)

// quiet is a broker without anything in it. (What a running one answers is tested with package frontend and in the specs.)
type quiet struct{ err error }

var _ Broker = quiet{}

func (q quiet) Ready() error { return q.err }

func (quiet) Activity(s *Status) {
	s.Tiers, s.Traffic, s.Refusals = map[string]Tier{}, map[string]Traffic{}, map[string]uint64{}
}

func (quiet) Mailboxes(context.Context, Page) (MailboxPage, error) { return MailboxPage{}, nil }

func (quiet) Connections(context.Context, Page) (ConnectionPage, error) { return ConnectionPage{}, nil }

func (quiet) Groups(context.Context, Page) (GroupPage, error) { return GroupPage{}, nil }

func (quiet) Limits() map[string]Limit { return map[string]Limit{"max-mailboxes": {Value: 3}} }

func (quiet) SetLimits(map[string]int64) error { return mq9.Errorf(mq9.CodeConflict, "it is fixed") }

// shelf is a store of which only snapshots are asked.
type shelf struct{ take func(dir string) error }

var _ Store = (*shelf)(nil)

func (*shelf) State() StoreState { return StoreState{State: StoreOK, Sync: "always"} }

func (*shelf) Properties() map[string]float64 { return nil }

func (s *shelf) Snapshot(dir string) error { return s.take(dir) }

// bareDesk takes everything and shows nothing.
type bareDesk struct{}

var _ Desk = bareDesk{}

func (bareDesk) Send(context.Context, Letter) (Sent, error) { return Sent{"m"}, nil }

func (bareDesk) Watch(_ context.Context, _ Wish, ready func() error, _ func(Delivery) error) error {
	return ready()
}
