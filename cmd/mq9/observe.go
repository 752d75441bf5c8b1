package main

import (
	"github.com/mq9-broker/broker/frontend/admin"
	"github.com/mq9-broker/broker/persistence"
)

// shownStore is the store as package admin sees it.
type shownStore struct {
	*persistence.Store
	sync persistence.Sync // its mode
}

var _ admin.Store = shownStore{}

// State implements admin.Store.
func (s shownStore) State() admin.StoreState {
	state := admin.StoreState{State: admin.StoreOK, Sync: s.sync.String(), Queued: s.Queued()}
	if err := s.Err(); err != nil {
		state.State, state.Error = admin.StoreFailing, oneLine(err)
	}
	state.Disk, state.DiskFree = s.DiskUsage()
	return state
}

// Snapshot implements admin.Store.
func (s shownStore) Snapshot(dir string) error { return s.Checkpoint(dir) }

// observer feeds what the store measures of its batches into instruments.
func observer(to *admin.Instruments) func(persistence.Batch) {
	return func(b persistence.Batch) {
		to.Batch(admin.Batch{Changes: b.Changes, Bytes: b.Bytes, Took: b.Took, Waited: b.Waited, Failed: b.Err != nil})
	}
}
