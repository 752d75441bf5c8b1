package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/pflag"
)

// connection is how to reach the broker: the flags that every client command has, completed by resolve.
type connection struct {
	server   string
	context  string
	user     string
	password string
	token    string
	creds    string
	nkey     string
	tlsCA    string
	tlsCert  string
	tlsKey   string
	timeout  duration

	jwt, seed, inboxPrefix string // from a context only
	tlsFirst               bool   // the same
}

// aboutConnection marks the flags of a connection, so that the help can show them apart from a command's own.
const aboutConnection = "mq9_connection"

// flags declares the flags.
func (c *connection) flags(f *pflag.FlagSet) {
	c.timeout.value = 5 * time.Second
	text := func(into *string, name, short, usage string) {
		f.StringVarP(into, name, short, "", usage)
		mark(f, name)
	}
	text(&c.server, "server", "s", "`URL` of the broker, or several with commas between (env NATS_URL, default "+nats.DefaultURL+")")
	text(&c.context, "context", "", "`name` of a context of the nats command, or a .json file (env NATS_CONTEXT, default the selected one)")
	text(&c.user, "user", "", "`name` to log in with (env NATS_USER)")
	text(&c.password, "password", "", "`password` to log in with; better in the environment (env NATS_PASSWORD)")
	text(&c.token, "token", "", "`token` to log in with; better in the environment (env NATS_TOKEN)")
	text(&c.creds, "creds", "", "credentials `file` to log in with (env NATS_CREDS)")
	text(&c.nkey, "nkey", "", "`file` of the nkey seed to log in with (env NATS_NKEY)")
	text(&c.tlsCA, "tlsca", "", "`file` of the certificates that the broker's certificate is checked against (env NATS_CA)")
	text(&c.tlsCert, "tlscert", "", "certificate `file` to show to the broker (env NATS_CERT)")
	text(&c.tlsKey, "tlskey", "", "`file` of that certificate's key (env NATS_KEY)")
	f.Var(&c.timeout, "timeout", "how long to wait for the broker")
	mark(f, "timeout")
}

func mark(f *pflag.FlagSet, name string) {
	if err := f.SetAnnotation(name, aboutConnection, nil); err != nil {
		panic("client: " + err.Error()) // the flag was declared a line above
	}
}

// resolve completes what the flags leave open: from the environment, then from a context. The selected context counts only
// when no server is named, so that its credentials never go to another server than its own.
func (c *connection) resolve() error {
	for _, v := range []struct {
		into *string
		env  string
	}{
		{&c.server, "NATS_URL"},
		{&c.context, "NATS_CONTEXT"},
		{&c.user, "NATS_USER"},
		{&c.password, "NATS_PASSWORD"},
		{&c.token, "NATS_TOKEN"},
		{&c.creds, "NATS_CREDS"},
		{&c.nkey, "NATS_NKEY"},
		{&c.tlsCA, "NATS_CA"},
		{&c.tlsCert, "NATS_CERT"},
		{&c.tlsKey, "NATS_KEY"},
	} {
		if *v.into == "" {
			*v.into = os.Getenv(v.env)
		}
	}
	name := c.context
	if name == "" && c.server == "" {
		var err error
		if name, err = selectedContext(); err != nil {
			return err
		}
	}
	if name != "" {
		if err := c.take(name); err != nil {
			return err
		}
	}
	if c.server == "" {
		c.server = nats.DefaultURL
	}
	return c.check()
}

// take fills in what a context says and the command line does not. A login is taken as a whole or not at all.
func (c *connection) take(name string) error {
	from, err := readContext(name)
	if err != nil {
		return err
	}
	or := func(into *string, value string) {
		if *into == "" {
			*into = value
		}
	}
	or(&c.server, from.URL)
	if c.user == "" && c.token == "" && c.creds == "" && c.nkey == "" {
		c.user, c.token, c.creds, c.nkey, c.jwt, c.seed = from.User, from.Token, from.Creds, from.NKey, from.UserJWT, from.UserSeed
		or(&c.password, from.Password)
	}
	or(&c.tlsCA, from.CA)
	if c.tlsCert == "" {
		c.tlsCert, c.tlsKey = from.Cert, from.Key
	}
	c.inboxPrefix, c.tlsFirst = from.InboxPrefix, from.TLSFirst
	return nil
}

// check finds what is wrong before anybody is connected to.
func (c *connection) check() error {
	for flag, file := range map[string]string{"creds": c.creds, "nkey": c.nkey, "tlsca": c.tlsCA, "tlscert": c.tlsCert, "tlskey": c.tlsKey} {
		if file == "" {
			continue
		}
		if _, err := os.Stat(file); err != nil {
			return usagef("--%s: %w", flag, err)
		}
	}
	if (c.tlsCert == "") != (c.tlsKey == "") {
		return usagef("--tlscert and --tlskey go together: give both")
	}
	for address := range strings.SplitSeq(c.server, ",") {
		if _, err := url.Parse(complete(address)); err != nil {
			return usagef("%q is no address of a broker: write it like nats://host:4222", address)
		}
	}
	return nil
}

// complete makes a URL of an address without a scheme.
func complete(address string) string {
	address = strings.TrimSpace(address)
	if !strings.Contains(address, "://") {
		return "nats://" + address
	}
	return address
}

// where names the servers for messages, without the passwords that may stand in a URL.
func (c *connection) where() string {
	var all []string
	for address := range strings.SplitSeq(c.server, ",") {
		if u, err := url.Parse(complete(address)); err == nil {
			if u.User != nil {
				u.User = url.User("…")
			}
			address, err = url.PathUnescape(u.String())
			if err != nil {
				address = u.Host
			}
		}
		all = append(all, address)
	}
	return strings.Join(all, ",")
}

// options are those of nats.go that the flags ask for.
func (c *connection) options(name string) ([]nats.Option, error) {
	opts := []nats.Option{nats.Name(name), nats.Timeout(c.timeout.value)}
	if c.user != "" && c.password == "" && c.token == "" {
		opts = append(opts, nats.Token(c.user)) // so does the nats command
	} else if c.user != "" {
		opts = append(opts, nats.UserInfo(c.user, c.password))
	}
	if c.token != "" {
		opts = append(opts, nats.Token(c.token))
	}
	if c.creds != "" {
		opts = append(opts, nats.UserCredentials(c.creds))
	}
	if c.nkey != "" {
		opt, err := nats.NkeyOptionFromSeed(c.nkey)
		if err != nil {
			return nil, usagef("--nkey: %s holds no seed of a user nkey: %w", c.nkey, err)
		}
		opts = append(opts, opt)
	}
	if c.jwt != "" {
		opts = append(opts, nats.UserJWTAndSeed(c.jwt, c.seed))
	}
	if c.tlsCA != "" {
		opts = append(opts, nats.RootCAs(c.tlsCA))
	}
	if c.tlsCert != "" {
		opts = append(opts, nats.ClientCert(c.tlsCert, c.tlsKey))
	}
	if c.tlsFirst {
		opts = append(opts, nats.TLSHandshakeFirst())
	}
	if c.inboxPrefix != "" {
		opts = append(opts, nats.CustomInboxPrefix(c.inboxPrefix))
	}
	return opts, nil
}

// dial connects; resolve has been called before. name is what the broker's operator sees, opts come on top.
func (c *connection) dial(name string, opts ...nats.Option) (*nats.Conn, error) {
	all, err := c.options(name)
	if err != nil {
		return nil, err
	}
	nc, err := nats.Connect(c.server, append(all, opts...)...)
	if err != nil {
		return nil, coded{c.unreachable(err), ExitUnreachable}
	}
	return nc, nil
}

// unreachable says what to do about a connection that could not be made.
func (c *connection) unreachable(err error) error {
	var untrusted x509.UnknownAuthorityError
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked),
		strings.Contains(strings.ToLower(err.Error()), "authorization"):
		return fmt.Errorf("the broker at %s does not accept this login: see --user, --creds, --nkey and mq9 help connection (%w)", c.where(), err)
	case errors.As(err, &untrusted):
		return fmt.Errorf("the certificate of %s is not trusted: name its authority's file with --tlsca (%w)", c.where(), err)
	case errors.As(err, new(tls.RecordHeaderError)), errors.As(err, new(*tls.CertificateVerificationError)),
		errors.Is(err, nats.ErrSecureConnRequired), errors.Is(err, nats.ErrSecureConnWanted):
		return fmt.Errorf("TLS with %s failed: see --tlsca, --tlscert and mq9 help connection (%w)", c.where(), err)
	}
	return fmt.Errorf("no broker answers at %s: start one with `mq9 serve`, or say where it is with -s or NATS_URL (%w)", c.where(), err)
}
