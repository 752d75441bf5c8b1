package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/spf13/cobra"

	"github.com/mq9-broker/broker/actors"
	"github.com/mq9-broker/broker/cmd/mq9/config"
	"github.com/mq9-broker/broker/frontend"
	"github.com/mq9-broker/broker/frontend/admin"
	"github.com/mq9-broker/broker/frontend/tracing"
	"github.com/mq9-broker/broker/persistence"
)

var _ actors.Store = (*persistence.Store)(nil)

// shutdownWait bounds an orderly end: with the store's closing it stays under the five seconds that are promised.
const shutdownWait = 4 * time.Second

func newServe() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the broker",
		Long: "Run the broker until it is told to stop. SIGTERM or SIGINT ends it in an orderly way: clients are told,\n" +
			"what is in flight finishes, the data are closed. A second signal ends it at once. SIGHUP has it read its configuration again.\n" +
			"Every flag is also a key of the configuration file and an environment variable: see mq9 config show.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(func() (*config.Loaded, error) { return config.Load(cmd.Flags()) }, cmd.OutOrStdout())
		},
	}
	config.AddFlags(cmd.Flags())
	return cmd
}

// serve runs the broker until a signal comes. load reads the configuration, now and at each SIGHUP.
func serve(load func() (*config.Loaded, error), out io.Writer) error {
	c, err := load()
	if err != nil {
		return usageError{err}
	}
	signals, hangups, stop := make(chan os.Signal, 2), make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	signal.Ignore(syscall.SIGPIPE) // whoever read the log may go; the broker stays

	ended := make(chan error, 1)
	go func() { ended <- operate(c, out, load, hangups, stop) }() // ends after a signal on stop, or with the process
	for stopping := false; ; stopping = true {
		select {
		case err := <-ended:
			return err
		case s := <-signals:
			if stopping {
				return fmt.Errorf("stopped at once by a second signal (%s)", s)
			}
			stop <- s
		}
	}
}

// operate starts the broker, keeps it running until a signal comes on stop, and ends it.
func operate(c *config.Loaded, out io.Writer, load func() (*config.Loaded, error), hangups, stop <-chan os.Signal) error {
	level := new(slog.LevelVar)
	level.Set(c.LogLevel)
	log := newLog(c, level)
	warnOf(c, log)
	prepareHeap(log)
	b, err := start(c, log, level)
	if err != nil {
		return err
	}
	b.announce(c, out, log)
	notify(log, daemon.SdNotifyReady)
	for {
		select {
		case <-hangups:
			notifyReloading(log)
			b.reload(load)
			notify(log, daemon.SdNotifyReady)
		case s := <-stop:
			log.Info("stopping", "signal", s.String())
			notify(log, daemon.SdNotifyStopping)
			if err := b.stop(); err != nil {
				return err
			}
			log.Info("stopped")
			return nil
		}
	}
}

// broker is the running whole.
type broker struct {
	// immutable
	store  *persistence.Store
	actors *actors.Broker
	front  *frontend.Server
	tracer *tracing.Tracer // nil = nothing is traced
	log    *slog.Logger
	level  *slog.LevelVar // of log

	running *config.Loaded // what it goes by; changed by reload, which one goroutine calls
}

// start opens the store, starts the actors and then the front. After an error nothing is left running.
func start(c *config.Loaded, log *slog.Logger, level *slog.LevelVar) (_ *broker, err error) {
	instruments := admin.NewInstruments()
	tracer, err := newTracer(c, log)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			stopTracer(tracer, log)
		}
	}()
	store, err := persistence.Open(c.DataDir, persistence.Options{
		Sync:            c.Sync,
		SyncInterval:    c.SyncInterval,
		BlockCacheBytes: c.BlockCache,
		MemtableBytes:   c.Memtable,
		MaxBatchChanges: c.MaxBatchChanges,
		MaxBatchBytes:   int(c.MaxBatchBytes),
		Salvage:         c.Salvage,
		Logger:          log,
		Observe:         observer(instruments),
	})
	if err != nil {
		return nil, err
	}
	mailboxes, err := actors.Start(store, actors.Config{
		DefaultTTL: c.DefaultTTL,
		DrainGrace: c.DrainGrace,
		Limits:     limits(&c.Config),
		Log:        log,
	})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	front := frontend.New(frontend.Options{
		Listen:         c.Listen,
		HTTP:           c.HTTP,
		HTTPTokenFile:  c.HTTPTokenFile,
		WebSocket:      c.WebSocket,
		Origins:        c.WebSocketOrigin,
		Unix:           c.Unix,
		NATSConfig:     c.NATSConfig,
		Delivery:       c.Delivery,
		BarrierTimeout: c.BarrierTimeout,
		Log:            log,
		Tunables:       tunables(&c.Config),

		Store:       shownStore{store, c.Sync},
		Instruments: instruments,
		Level:       level,
		Version:     version,
		Tracer:      tracer,
		Pprof:       c.Pprof,
	}, mailboxes)
	if err := front.Start(); err != nil {
		mailboxes.Stop()
		return nil, errors.Join(err, store.Close())
	}
	return &broker{store: store, actors: mailboxes, front: front, tracer: tracer, log: log, level: level, running: c}, nil
}

// limits are those of the mailboxes.
func limits(c *config.Config) actors.Limits {
	return actors.Limits{
		Mailboxes:       c.MaxMailboxes,
		MailboxMessages: c.MaxMailboxMessages,
		Memory:          c.MaxMemory,
		MailboxMemory:   c.MaxMailboxMemory,
	}
}

// tunables are what can be changed at the front.
func tunables(c *config.Config) frontend.Tunables {
	return frontend.Tunables{
		MaxConnections:   c.MaxConnections,
		MaxSubscriptions: c.MaxSubscriptions,
		PingInterval:     c.PingInterval,
		PingMax:          c.PingMax,
	}
}

// stop ends everything in the opposite order.
func (b *broker) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownWait)
	defer cancel()
	err := b.front.Shutdown(ctx)
	b.actors.Stop()
	err = errors.Join(err, b.store.Close())
	stopTracer(b.tracer, b.log)
	return err
}

// announce says where the broker is, to the log, and to a person at a terminal what to try next.
func (b *broker) announce(c *config.Loaded, out io.Writer, log *slog.Logger) {
	if addr := b.front.WebSocketAddr(); addr != nil {
		log.Info("WebSocket clients are served", "at", addr.String())
	}
	log.Info("ready", "version", version, "go", runtime.Version(), "clients", b.front.Addr().String(),
		"health", "http://"+b.front.HTTPAddr().String()+"/readyz", "data", c.DataDir, "sync", c.Sync.String(), "delivery", c.Delivery.String())
	if c.LogFormat == "json" {
		return // a machine reads this
	}
	server := ""
	if addr := b.front.Addr().String(); addr != frontend.DefaultListen {
		server = " -s " + reachable(addr)
	}
	_, err := fmt.Fprintf(out, `
mq9 %s takes clients at %s. In another terminal, try:

  mq9 create%[3]s --public tour --ttl 1h
  mq9 send%[3]s tour 'first things first' --priority critical
  mq9 watch%[3]s tour

Any NATS client works as well: mq9 help clients. What goes on here: http://%[4]s/
Ctrl-C stops the broker.

`, version, b.front.Addr(), server, reachable(b.front.HTTPAddr().String()))
	if err != nil {
		log.Debug("nobody takes the greeting", "error", err)
	}
}

// reachable turns a wildcard address into one that a client on this machine can use.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
