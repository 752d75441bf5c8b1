package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/mq9-broker/broker/cmd/mq9/config"
	"github.com/mq9-broker/broker/frontend/admin"
	"github.com/mq9-broker/broker/frontend/tracing"
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

// newTracer makes the tracer if somebody named where traces go; nil otherwise.
func newTracer(c *config.Loaded, log *slog.Logger) (*tracing.Tracer, error) {
	if !tracing.Wanted(c.OTLPEndpoint) {
		return nil, nil
	}
	return tracing.New(tracing.Options{Endpoint: c.OTLPEndpoint, Version: version, Log: log})
}

// traceWait bounds how long a stopping broker tries to send the last spans.
const traceWait = 500 * time.Millisecond

// stopTracer ends the tracer. Spans that are lost with it are no reason to fail.
func stopTracer(t *tracing.Tracer, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), traceWait)
	defer cancel()
	if err := t.Stop(ctx); err != nil {
		log.Warn("the last spans were not sent", "error", err)
	}
}
