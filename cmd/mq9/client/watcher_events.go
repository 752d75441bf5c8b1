package client

import (
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/mq9-broker/broker/mq9"
)

// This file has what nats.go tells a watcher about its connection, in nats.go's goroutine for such news.

// refused hears of a refused subscription or deletion. The first subscription is looked after by subscribe.
func (w *watcher) refused(nc *nats.Conn, _ *nats.Subscription, err error) {
	w.mu.Lock()
	served := w.served
	w.mu.Unlock()
	if !served {
		return
	}
	r, ok := refusal(err)
	switch {
	case ok && r.Code == mq9.CodeUnavailable:
		// A broker that is going down or whose disk is in trouble: the subscription has to be made again.
		w.say("the broker refuses for the time being: %v", r)
		if err := nc.ForceReconnect(); err != nil {
			w.fail(explain(err, w.connection))
		}
	case ok && r.Code == mq9.CodeNotFound:
		w.fail(fmt.Errorf("the mailbox has come to its end: %w", r))
	default:
		w.fail(explain(err, w.connection))
	}
}

// disconnected hears that the connection is lost, or closed by this side (then without an error).
func (w *watcher) disconnected(_ *nats.Conn, err error) {
	if w.flags.queue != "" {
		w.inbox.forget()
	}
	if w.stop.Err() != nil {
		return
	}
	if err == nil {
		err = errors.New("closed by the broker")
	}
	w.say("the connection to %s is lost, trying again (%v)", w.where(), err)
}

// reconnected hears that it is back. nats.go has subscribed again by now, and the broker replays from the oldest.
func (w *watcher) reconnected(*nats.Conn) {
	w.say("connected again")
}

// closed hears that nats.go has given up, as after a login that is no longer accepted, or that the watch has ended.
func (w *watcher) closed(nc *nats.Conn) {
	err := nc.LastError()
	if err == nil {
		err = nats.ErrConnectionClosed
	}
	w.fail(coded{w.unreachable(err), ExitUnreachable})
}

// say tells the person something from any goroutine.
func (w *watcher) say(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note(format, args...)
}
