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

	"github.com/spf13/cobra"

	"github.com/mq9-broker/broker/actors"
	"github.com/mq9-broker/broker/cmd/mq9/config"
	"github.com/mq9-broker/broker/frontend"
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
			"what is in flight finishes, the data are closed. A second signal ends it at once.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := config.Load(cmd.Flags())
			if err != nil {
				return usageError{err}
			}
			return serve(c, cmd.OutOrStdout())
		},
	}
	config.AddFlags(cmd.Flags())
	return cmd
}

// serve runs the broker until a signal comes.
func serve(c *config.Loaded, out io.Writer) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)

	level := new(slog.LevelVar)
	level.Set(c.LogLevel)
	log := newLog(c, level)
	b, err := start(c, log)
	if err != nil {
		return err
	}
	b.announce(c, out, log)
	log.Info("stopping", "signal", (<-signals).String())

	stopped := make(chan error, 1)
	go func() { stopped <- b.stop() }()
	select {
	case err := <-stopped:
		if err == nil {
			log.Info("stopped")
		}
		return err
	case s := <-signals:
		return fmt.Errorf("stopped at once by a second signal (%s)", s)
	}
}

// broker is the running whole.
type broker struct {
	store  *persistence.Store
	actors *actors.Broker
	front  *frontend.Server
}

// start opens the store, starts the actors and then the front. After an error nothing is left running.
func start(c *config.Loaded, log *slog.Logger) (*broker, error) {
	store, err := persistence.Open(c.DataDir, persistence.Options{
		Sync:            c.Sync,
		SyncInterval:    c.SyncInterval,
		BlockCacheBytes: c.BlockCache,
		MemtableBytes:   c.Memtable,
		MaxBatchChanges: c.MaxBatchChanges,
		MaxBatchBytes:   int(c.MaxBatchBytes),
		Salvage:         c.Salvage,
		Logger:          log,
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
		NATSConfig:     c.NATSConfig,
		Delivery:       c.Delivery,
		BarrierTimeout: c.BarrierTimeout,
		Log:            log,
		Snapshot:       store.Checkpoint,
		Tunables:       tunables(&c.Config),
	}, mailboxes)
	if err := front.Start(); err != nil {
		mailboxes.Stop()
		return nil, errors.Join(err, store.Close())
	}
	return &broker{store, mailboxes, front}, nil
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
	return errors.Join(err, b.store.Close())
}

// announce says where the broker is, to the log, and to a person at a terminal what to try next.
func (b *broker) announce(c *config.Loaded, out io.Writer, log *slog.Logger) {
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
mq9 %s takes NATS clients at %s. In another terminal, try:

  nats%[3]s request '$mq9.AI.MAILBOX.CREATE' '{"public":true,"name":"tour","ttl":3600}'
  nats%[3]s pub '$mq9.AI.MAILBOX.MSG.tour.critical' 'first things first'
  nats%[3]s sub '$mq9.AI.MAILBOX.MSG.tour.*'

Ctrl-C stops the broker.

`, version, b.front.Addr(), server)
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
