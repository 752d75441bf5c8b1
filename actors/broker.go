package actors

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/mq9-broker/broker/mq9"
)

// Config is what a broker can be told. The zero value is usable.
type Config struct {
	// DefaultTTL is the life of a mailbox whose CREATE names none. Zero means one hour; it is rounded down to whole seconds.
	DefaultTTL time.Duration
	// DrainGrace is how long a queue-group member that left by UNSUB keeps what it holds. Zero means 30 seconds.
	DrainGrace time.Duration
	// Limits bound what is kept, until SetLimits changes them. The zero value has none.
	Limits Limits
	// Log takes one line per event worth reading. Nil means none.
	Log *slog.Logger
	// Now reads the wall clock, for created_at and Mq9-Timestamp. Nil means time.Now. Lifetimes run on the monotonic clock whatever it says.
	Now func() time.Time
}

// ensureDefaults fills in what was left zero.
func (c *Config) ensureDefaults() {
	if c.DefaultTTL < time.Second {
		c.DefaultTTL = time.Hour
	}
	if c.DrainGrace == 0 {
		c.DrainGrace = 30 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
}

// Broker owns the actor system. Make one with [Start], end it with Stop. Its methods are safe for concurrent use.
type Broker struct {
	// immutable after Start
	config    Config
	store     Store
	system    *actor.ActorSystem
	root      *actor.RootContext // spawns under the supervisor
	guard     *supervisor
	ids       *idSource
	router    *actor.PID
	directory *actor.PID
	salt      [16]byte // of Hash; new in each process

	usage   usage                  // against the limits
	limits  atomic.Pointer[Limits] // set by SetLimits, read by every actor
	tallies [stripes]tally         // what was done, for Stats
	census  census
	alive   sync.WaitGroup // one per running mailbox or queue-group actor
}

// Start recovers the mailboxes of the store and serves them. The store stays the caller's: close it after Stop.
func Start(store Store, config Config) (*Broker, error) {
	config.ensureDefaults()
	b := &Broker{config: config, store: store, ids: &idSource{store: store}}
	b.SetLimits(config.Limits)
	if _, err := rand.Read(b.salt[:]); err != nil {
		return nil, fmt.Errorf("reading the system's random source: %w", err)
	}
	if err := b.ids.fill(); err != nil {
		return nil, fmt.Errorf("reserving ids: %w", err)
	}
	b.limits.Store(&config.Limits)
	b.guard = &supervisor{log: config.Log, hash: b.hashOf}
	b.system = actor.NewActorSystem(
		// Its own log lines may show messages, hence secrets; what matters is logged by the supervisor.
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }),
		actor.WithDeadLetterRequestLogging(false),
	)
	b.root = b.system.Root.Copy().WithGuardian(b.guard)
	sections, table := map[string]*section{}, newTable() // survive a crash
	b.directory = b.spawn(func() actor.Actor { return &directory{sections} })
	b.router = b.spawn(func() actor.Actor { return &router{broker: b, table: table} })

	recovered := make(chan error, 1)
	b.root.Send(b.router, &recoverAll{done: recovered})
	if err := <-recovered; err != nil {
		b.Stop()
		return nil, fmt.Errorf("reading the mailboxes: %w", err)
	}
	b.census.start(b)
	return b, nil
}

// Stop ends every actor and waits for them. The caller has seen to it that no operation is in flight any more.
func (b *Broker) Stop() {
	b.census.end()
	stopped := make(chan struct{})
	b.root.Send(b.router, &stopAll{done: stopped})
	<-stopped
	b.alive.Wait()
	for _, pid := range []*actor.PID{b.router, b.directory} {
		if err := b.system.Root.StopFuture(pid).Wait(); err != nil {
			b.config.Log.Warn("an actor did not stop in time", "error", err)
		}
	}
	b.system.Shutdown()
}

// Err reports why durable operations would be refused now, or nil.
func (b *Broker) Err() error { return b.store.Err() }

// Restarts is how many times an actor crashed and was started again.
func (b *Broker) Restarts() uint64 { return b.guard.restarts.Load() }

// Hash is the form in which an address may be logged or shown: short, salted anew in each process.
func (b *Broker) Hash(id mq9.MailID) string {
	sum := sha256.Sum256(append(b.salt[:], id...))
	return hex.EncodeToString(sum[:6])
}

// spawn starts an actor at the root under the supervisor. Its producer is called again at each restart.
func (b *Broker) spawn(producer actor.Producer) *actor.PID {
	return b.root.Spawn(actor.PropsFromProducer(producer,
		actor.WithMailbox(actor.UnboundedLockfree()), // gives its memory back after a burst
	))
}

// hashOf finds the hashed address of a crashed actor for the supervisor's log line.
func (b *Broker) hashOf(message any) string {
	if about, ok := message.(interface{ about() mq9.MailID }); ok {
		return b.Hash(about.about())
	}
	return ""
}

// idSource hands out numbers that no other message or mailbox of this data directory had or will have.
// It is shared by all actors and takes them from the store in blocks, so that the store is asked rarely.
type idSource struct {
	store Store // immutable

	mu struct {
		sync.Mutex
		next, end uint64 // what is left of the block: next ≤ id < end
	}
}

// idBlock is how many ids are reserved at once. What is left of a block when the broker stops is never used. One lasts hours at full
// speed, so that the memory tier does not depend on a disk that fails, and there are enough ids for 2³² starts. A restored
// store counts on 2³⁰ a second being more than anybody uses (see persistence).
const idBlock = 1 << 30

// take returns a new id, larger than every one before it.
func (s *idSource) take() (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.next == s.mu.end {
		if err := s.fillLocked(); err != nil {
			return 0, err
		}
	}
	id := s.mu.next
	s.mu.next++
	return id, nil
}

// fill takes the first block.
func (s *idSource) fill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fillLocked()
}

// fillLocked takes a block. REQUIRES: mu.
func (s *idSource) fillLocked() error {
	first, err := s.store.ReserveIDs(idBlock)
	if err != nil {
		return err
	}
	s.mu.next, s.mu.end = first, first+idBlock
	return nil
}
