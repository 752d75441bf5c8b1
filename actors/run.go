package actors

import (
	"sync"

	"github.com/mq9-broker/broker/mq9"
)

// Bounds of a run. Together with what is under way they bound what a connection has open, so they are small against that.
const (
	maxRun      = 256
	maxRunBytes = 64 << 10
)

// run is messages of one connection to one mailbox, one after the other, that travel together. It belongs to the client that gathers
// it, then to the mailbox.
type run struct {
	id    mq9.MailID
	sends []send
	bytes int // of headers and payloads
}

// send stores one message.
type send struct {
	draft   Draft
	receipt Receipt // nil once answered or handed on
}

func (o *send) refuse(err *mq9.Error) {
	if receipt := take(&o.receipt); receipt != nil {
		receipt.Sent(0, err, false)
	}
}

var runs = sync.Pool{New: func() any { return &run{} }}

// takeRun returns an empty run for a mailbox.
func takeRun(id mq9.MailID) *run {
	r := runs.Get().(*run)
	r.id = id
	return r
}

// put gives a run back whose messages were all answered or handed on.
func (r *run) put() {
	clear(r.sends)
	*r = run{sends: r.sends[:0]}
	runs.Put(r)
}

// add gathers one more, and reports whether that is enough.
func (r *run) add(d Draft, receipt Receipt) (full bool) {
	r.sends = append(r.sends, send{d, receipt})
	r.bytes += len(d.Header) + len(d.Payload)
	return len(r.sends) >= maxRun || r.bytes >= maxRunBytes
}

func (r *run) about() mq9.MailID { return r.id }

// refuse answers those that are not answered yet.
func (r *run) refuse(err *mq9.Error) {
	for i := range r.sends {
		r.sends[i].refuse(err)
	}
}
