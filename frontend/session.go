package frontend

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mq9-broker/broker/actors"
	"github.com/mq9-broker/broker/mq9"
)

const (
	// hangUpWait is how long the embedded server may take to answer a protocol violation and close.
	hangUpWait = 5 * time.Second

	// flushWait is how long the last bytes for a client may take.
	flushWait = time.Second
)

// errHangUp says that the connection is over because the embedded server ends it, or should.
var errHangUp = errors.New("the embedded server ends the connection")

// session is one client's connection. Its goroutine is the reader; see the package's overview for the others.
type session struct {
	// immutable once serving
	server   *Server
	settings *settings  // those of the moment when it began: a reload is for later ones
	raw      net.Conn   // of the client, as accepted
	conn     net.Conn   // the same, inside TLS if there is any
	tls      *clientTLS // what it may use inside the protocol; nil = nothing
	up       *uplink
	box      *outbox
	barrier  *barrier
	subs     *table
	admit    *admission
	done     chan struct{} // closed when the embedded server has hung up

	owned sync.WaitGroup // every goroutine of the session but its own

	// shared
	maxPayload atomic.Int64  // as the last INFO said
	verbose    atomic.Bool   // the embedded server answers each of our frames with +OK
	swallow    atomic.Int64  // how many +OK are answers to frames of our own
	protocol   atomic.Int64  // of the client
	cid        atomic.Uint64 // the embedded server's number for the connection

	// owned by the reader
	parser   parser
	in       readBuffer
	connect  connectOptions
	connects int    // CONNECTs read
	probed   bool   // a PING went upstream since the last CONNECT
	served   int    // the CONNECT that client belongs to
	account  string // of client
	learned  struct {
		generation int64     // of the embedded server's settings
		at         time.Time // set where it matters
	} // when permissions was
	data     []byte // what is being parsed
	from, to int    // the part of data that is plain and not passed on yet

	calls sync.Mutex // held while client is called, so that one goroutine at a time does
	// client is nil until the first mq9 frame. Guarded by calls.
	client *actors.Client
	// permissions are of the user that client is; nil = everything is permitted. Written by the reader with calls held: it may read
	// them without, others with.
	permissions *permissions
	// parsed is the last SEND's subject and what it says: most senders repeat it. Guarded by calls.
	parsed struct {
		subject   string
		operation mq9.Operation
	}

	who     atomic.Pointer[credential] // of client; nil before it
	answers atomic.Pointer[answers]    // of permissions

	drain struct {
		sync.Mutex
		closed bool                   // the connection has ended
		subs   []*actors.Subscription // queue-group members that left and may still hold messages
		sweep  int                    // length of subs at which it is swept
	}
}

// read serves the client until the connection ends, and says why.
func (s *session) read() error {
	for {
		if !s.box.awaitControl() {
			return errHangUp
		}
		data, err := s.in.fill(s.conn, 0)
		used, stop := s.consume(data)
		if stop != nil {
			return stop
		}
		if err != nil {
			return err
		}
		s.in.use(used)
	}
}

// consume acts on the frames in data and returns how many bytes it used up. What it gathered for the broker is handed over by then.
func (s *session) consume(data []byte) (int, error) {
	defer s.handOver()
	s.data, s.from, s.to = data, 0, 0
	s.parser.maxPayload = int(s.maxPayload.Load())
	at := 0
	for {
		ev, n := s.parser.next(data[at:])
		next := at + n
		var (
			taken bool
			err   error
		)
		switch ev {
		case evMore:
			return at, s.flush()
		case evMalformed:
			s.pass(at, len(data))
			return at, errors.Join(errHangUp, s.flush())
		case evPoison:
			return at, errors.Join(errHangUp, s.flush(), s.up.write(poison, true))
		case evSwallow:
			taken = true
		case evConnect:
			s.connected()
		case evPing:
			s.barrier.pinged(s.connects)
			s.probed = true
		case evSub:
			taken, err = s.subscribe(data[next:])
		case evUnsub:
			taken, err = s.unsubscribe()
		case evMessage, evTooLarge:
			taken, err = true, s.publish(ev == evTooLarge)
		}
		if err == nil && taken {
			err = s.flush()
		}
		if err != nil {
			return at, err
		}
		if !taken {
			s.pass(at, next)
		}
		at = next
	}
}

// handOver gives the broker the messages that were gathered for it.
func (s *session) handOver() {
	s.calls.Lock()
	defer s.calls.Unlock()
	if s.client != nil {
		s.client.Flush()
	}
}

// pass marks a part of data as plain. Parts that touch go upstream together.
func (s *session) pass(from, to int) {
	if s.from == s.to {
		s.from = from
	}
	s.to = to
}

// flush sends upstream what was marked.
func (s *session) flush() error {
	if s.from == s.to {
		return nil
	}
	plain := s.data[s.from:s.to]
	s.from, s.to = 0, 0
	if err := s.up.write(plain, s.parser.between()); err != nil {
		return errHangUp
	}
	return nil
}

// connected notes a CONNECT on its way to the embedded server, which judges it.
func (s *session) connected() {
	s.connects++
	s.probed = false
	// What is no JSON is refused by the embedded server.
	if err := json.Unmarshal(s.parser.arg, &s.connect); err != nil {
		return
	}
	s.parser.headers = s.connect.Headers && s.settings.headers
	s.verbose.Store(s.connect.Verbose)
	s.protocol.Store(int64(s.connect.Protocol))
}

// ready waits until the embedded server has accepted the last CONNECT and the broker's door for its account is
// open. It reports false, without an error, when there was no CONNECT.
func (s *session) ready() (bool, error) {
	if s.connects == 0 {
		return false, nil
	}
	if s.served == s.connects {
		if s.current() {
			return true, nil
		}
		return true, s.open()
	}
	if err := s.flush(); err != nil {
		return false, err
	}
	if !s.probed {
		s.probed = true
		s.barrier.probed(s.connects)
		if err := s.up.write(framePing, true); err != nil {
			return false, errHangUp
		}
	}
	for {
		if s.admit.state() == s.connects {
			return true, s.open()
		}
		select {
		case <-s.admit.changed:
		case <-s.done:
			return false, errHangUp
		}
	}
}

// current reports whether what is known of the user still holds.
func (s *session) current() bool {
	nats := s.server.nats
	return s.learned.generation == nats.generation.Load() &&
		(s.learned.at.IsZero() || time.Since(s.learned.at) < refreshIdentity)
}

// open makes the door to the broker for the user that the connection is now.
func (s *session) open() error {
	nats := s.server.nats
	s.learned.generation = nats.generation.Load()
	if nats.settings.Load().directory.ages() {
		s.learned.at = time.Now()
	}
	who := credential{s.cid.Load(), s.connect.JWT}
	is, err := nats.identify(who)
	if err != nil {
		return errHangUp // it is gone already
	}
	if s.client != nil && is.account != s.account {
		s.leaveAll() // as nats-server does with the plain subscriptions
	}
	s.handOver()
	s.calls.Lock()
	if s.client == nil || is.account != s.account {
		s.client = s.server.broker.NewClient(is.account)
	}
	s.permissions = is.permissions.after(s.permissions)
	s.calls.Unlock()
	if s.permissions != nil {
		s.answers.Store(s.permissions.answers)
	} else {
		s.answers.Store(nil)
	}
	s.account, s.served = is.account, s.connects
	s.who.Store(&who)
	return nil
}

// revoke ends the mailbox subscriptions that the user's permissions do not cover any more. It may be called from any goroutine.
func (s *session) revoke() {
	who := s.who.Load()
	if who == nil {
		return
	}
	is, err := s.server.nats.identify(*who)
	if err != nil {
		return // it is gone
	}
	for _, e := range s.subs.mailboxes() {
		if is.permissions.maySubscribe(e.subject, e.queue) {
			continue
		}
		s.subs.remove(e)
		if e.out.end() {
			e.out.subscription().Leave(true, nil)
		}
		s.refuse(e, is.permissions.refusal)
	}
}

// inject sends frames of our own upstream; count is how many there are. It does not block.
func (s *session) inject(frames []byte, count int) {
	if s.verbose.Load() {
		s.swallow.Add(int64(count))
	}
	s.up.inject(frames)
}

// end winds the session up: groups hand on what it holds, the last bytes are written, its goroutines end.
func (s *session) end(why error) {
	s.barrier.close()
	if errors.Is(why, errHangUp) {
		patience := time.NewTimer(hangUpWait)
		select {
		case <-s.done:
		case <-s.box.ended:
		case <-patience.C:
		}
		patience.Stop()
	}
	s.part()
	s.up.close()
	if why == nil || errors.Is(why, errHangUp) || errors.Is(why, io.EOF) {
		s.box.finish(flushWait)
	} else {
		s.box.abort()
	}
	s.owned.Wait()
	s.box.abort()
}
