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
	"github.com/mq9-broker/broker/frontend"
	"github.com/mq9-broker/broker/persistence"
)

var _ actors.Store = (*persistence.Store)(nil)

// shutdownWait bounds an orderly end: with the store's closing it stays under the five seconds that are promised.
const shutdownWait = 4 * time.Second

func newServe() *cobra.Command {
	c := &config{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the broker",
		Long: "Run the broker until it is told to stop. SIGTERM or SIGINT ends it in an orderly way: clients are told,\n" +
			"what is in flight finishes, the data are closed. A second signal ends it at once.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.parse(); err != nil {
				return usageError{err}
			}
			return serve(c, cmd.OutOrStdout())
		},
	}
	c.flags(cmd.Flags())
	return cmd
}

// serve runs the broker until a signal comes.
func serve(c *config, out io.Writer) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)

	log := newLog(c)
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
func start(c *config, log *slog.Logger) (*broker, error) {
	store, err := persistence.Open(c.dataDir, persistence.Options{Sync: c.syncMode, Salvage: c.salvage, Logger: log})
	if err != nil {
		return nil, err
	}
	mailboxes, err := actors.Start(store, actors.Config{Log: log, Limits: c.limits.actors})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	front := frontend.New(frontend.Options{
		Listen:     c.listen,
		HTTP:       c.http,
		NATSConfig: c.natsConfig,
		Delivery:   c.format,
		Log:        log,
		Snapshot:   store.Checkpoint,

		MaxConnections:   c.limits.connections,
		MaxSubscriptions: c.limits.subscriptions,
	}, mailboxes)
	if err := front.Start(); err != nil {
		mailboxes.Stop()
		return nil, errors.Join(err, store.Close())
	}
	return &broker{store, mailboxes, front}, nil
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
func (b *broker) announce(c *config, out io.Writer, log *slog.Logger) {
	log.Info("ready", "version", version, "go", runtime.Version(), "clients", b.front.Addr().String(),
		"health", "http://"+b.front.HTTPAddr().String()+"/readyz", "data", c.dataDir, "sync", c.sync, "delivery", c.delivery)
	if c.logFormat == "json" {
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
