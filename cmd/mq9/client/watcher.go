package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/mq9-broker/broker/mq9"
)

// watcher is a running watch. nats.go's goroutine for the subscription fills the inbox; one goroutine, or with --exec as many as
// --parallel says, take from it. They all end before run returns.
//
// Nothing is lost on the way: the subscription's callback does nothing but put messages into the inbox, and nats.go's own
// limits, beyond which it would drop messages, are lifted. So a backlog that commands are slow to work off stands in this process's memory; a
// queue group with max_inflight leaves it with the broker.
type watcher struct {
	*session
	flags *watchFlags
	id    mq9.MailID
	nc    *nats.Conn
	inbox *inbox

	stop context.Context         // ends when nothing more is to be taken, with the reason as its cause
	fail context.CancelCauseFunc // ends it; the first reason stays

	mu       sync.Mutex // guards what follows, and the session's output
	served   bool       // the subscription stood once, so that refusals come after a reconnect
	failed   int        // commands that failed
	executed int        // commands that ended
}

// watch runs until a signal, the count, or a refusal ends it.
func watch(s *session, f *watchFlags, id mq9.MailID) error {
	w := &watcher{session: s, flags: f, id: id, inbox: newInbox(f.queue != "", f.count)}
	kill, killed := context.WithCancel(context.Background())
	defer killed()
	w.stop, w.fail = context.WithCancelCause(kill)
	defer w.signals(killed)()
	w.ctx = kill // deletions and commands go on after the first signal

	nc, err := s.dial("mq9 watch",
		nats.MaxReconnects(-1), nats.ReconnectWait(500*time.Millisecond), nats.PingInterval(20*time.Second),
		nats.ErrorHandler(w.refused), nats.DisconnectErrHandler(w.disconnected), nats.ReconnectHandler(w.reconnected),
		nats.ClosedHandler(w.closed))
	if err != nil {
		return err
	}
	w.nc = nc
	defer func() {
		w.fail(errDone) // what the handlers hear from now on is this side's doing
		nc.Close()
	}()
	if err := w.subscribe(); err != nil {
		return s.help(nc, id, err)
	}
	var workers sync.WaitGroup
	for range f.parallel {
		workers.Go(w.work)
	}
	workers.Wait()
	return w.end()
}

// signals makes the first signal end the watch when what is in work is done, and the second at once. The returned function undoes it.
func (w *watcher) signals(kill context.CancelFunc) (undo func()) {
	// The session's own handling lets go after the first signal; this one stays.
	signals, over := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			select {
			case <-over:
				return
			case <-signals:
				if w.stop.Err() != nil {
					kill()
				}
				w.fail(errSignal)
			}
		}
	})
	return func() {
		signal.Stop(signals)
		close(over)
		wait.Wait()
	}
}

// Why a watch ends that has not failed.
var (
	errSignal = errors.New("ended by a signal")
	errDone   = errors.New("all messages that were wanted have come")
)

// subscribe subscribes, and learns of a refusal: that is written before the answer to the flush.
func (w *watcher) subscribe() error {
	sub, err := w.nc.QueueSubscribe(w.flags.pattern(w.id), w.flags.queue, w.receive)
	if err != nil {
		return explain(err, w.connection)
	}
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return err
	}
	if err := w.nc.FlushTimeout(w.timeout.value); err != nil {
		return explain(err, w.connection)
	}
	if err := w.nc.LastError(); err != nil {
		return explain(err, w.connection)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.served = true
	if w.terminal && !w.json {
		w.note("watching; Ctrl-C ends it")
	}
	return nil
}

// receive takes in a delivery. It runs in the goroutine of the subscription and never waits for the workers.
func (w *watcher) receive(raw *nats.Msg) {
	m, err := read(raw)
	if err != nil {
		w.fail(err)
		return
	}
	again := w.inbox.put(m)
	// What was shown and is here again was not deleted: its deletion was lost with the connection.
	if again == undone || again == passed && w.flags.delete && w.flags.exec == "" {
		if err := w.remove(m); err != nil {
			w.fail(err)
		}
	}
}

// remove deletes without waiting for the answer. While the connection is down nats.go keeps the deletion for later.
func (w *watcher) remove(m *message) error {
	return explain(w.nc.Publish(m.remove, nil), w.connection)
}

// work deals with messages, one after the other.
func (w *watcher) work() {
	for {
		m, ok := w.inbox.next(w.stop.Done())
		if !ok {
			return
		}
		var err error
		if w.flags.exec != "" {
			err = w.execute(m)
		} else {
			err = w.display(m)
		}
		w.inbox.finish(m.id)
		if err != nil {
			w.fail(err)
			return
		}
	}
}

// display shows a message and deletes it if that was asked for.
func (w *watcher) display(m *message) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.flags.print(w.session, m); err != nil {
		return err
	}
	if w.flags.delete {
		if err := errors.Join(w.Flush(), w.remove(m)); err != nil { // deleted only when it is out
			return err
		}
	}
	if w.inbox.empty() { // under load, many lines go out at once
		return w.Flush()
	}
	return nil
}

// execute runs the command for a message, and deletes the message if the command succeeds.
func (w *watcher) execute(m *message) error {
	stdout := io.Writer(os.Stdout)
	if w.json {
		stdout = os.Stderr // standard output holds JSON only
	}
	e, failure := execute(w.ctx, w.flags.exec, m, stdout, os.Stderr)
	if failure == nil && w.flags.delete {
		e.Deleted = w.confirmRemoval(m)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.executed++
	if failure != nil {
		w.failed++
		w.note("message %s is kept: the command failed (%v)", m.id, failure)
	}
	if !w.json {
		return nil
	}
	return errors.Join(w.object(e), w.Flush())
}

// confirmRemoval deletes a message that is done, and remembers it if nobody confirms that: it is not to be done again.
func (w *watcher) confirmRemoval(m *message) bool {
	var reply mq9.DeleteReply
	err := w.query(w.nc, m.remove, nil, &reply)
	if err == nil {
		return true // deleted now, or by another before
	}
	w.inbox.remember(m.id)
	w.say("message %s is done, but its deletion is not confirmed; it is deleted when it comes again (%v)", m.id, err)
	return false
}

// end says how the watch ended.
func (w *watcher) end() error {
	var err error
	if cause := context.Cause(w.stop); cause != nil && !errors.Is(cause, errSignal) {
		err = cause
	}
	if w.flags.delete && w.nc.IsConnected() { // deletions that nobody waited for
		err = errors.Join(err, explain(w.nc.FlushTimeout(w.timeout.value), w.connection))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed > 0 {
		err = errors.Join(err, coded{fmt.Errorf("%d of %d commands failed; their messages are kept", w.failed, w.executed), ExitCommand})
	}
	return err
}
