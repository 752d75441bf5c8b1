package frontend

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/mq9-broker/broker/mq9"
)

func TestShutdownTellsFinishesAndCloses(t *testing.T) {
	f := startFront(t, Options{}, "")
	c := dial(t, f.Addr())
	c.send("CONNECT {\"verbose\":false,\"protocol\":1}\r\nPING\r\n")
	c.expect("PONG", "INFO …")
	c.create("tour")
	f.store.pause()
	c.send("SUB in 1\r\nPUB " + critical + " in 1\r\nx\r\nSUB a 2\r\n" + pub("a", "it was read"))
	c.expect("MSG a 2 11", "it was read")
	stopped := make(chan error)
	go func() { stopped <- f.stop() }()
	if info := c.line(); !strings.Contains(info, `"ldm":true`) {
		t.Fatalf("got %q", info)
	}
	c.send("PUB " + tour + " in 1\r\ny\r\n" + pub(tour, "z") + "SUB " + tour + " 3\r\n")
	c.expect("MSG in 1 …", `{"error":"the broker is shutting down…`,
		`-ERR 'Permissions Violation for Publish to "`+tour+`": 503 …`, `-ERR 'Permissions Violation for Subscription to "`+tour+`": 503 …`)
	f.store.release()
	c.expect("MSG in 1 26", `{"msg_id":…`, "EOF")
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if _, err := net.Dial("tcp", f.Addr().String()); err == nil {
		t.Fatal("it still listens")
	}
}

func TestShutdownIsBounded(t *testing.T) {
	f := startFront(t, Options{}, "")
	c := connect(t, f.Addr())
	c.create("tour")
	f.store.pause() // for good
	c.send(pub(critical, "x") + "PING\r\n")
	silent, err := net.Dial("tcp", f.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	begun := time.Now()
	if err := f.stop(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > 4*time.Second {
		t.Fatalf("it took %v", took)
	}
}

func TestStartRefusals(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	config := func(text string) string {
		file := filepath.Join(t.TempDir(), "nats.conf")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	cert, key := certificate(t)
	limited := fmt.Sprintf("tls { cert_file: %q, key_file: %q, connection_rate_limit: 5 }", cert, key)
	for _, c := range []struct {
		name    string
		options Options
		want    string
	}{
		{"port in use", Options{Listen: taken.Addr().String()}, "cannot listen for clients"},
		{"health port in use", Options{HTTP: taken.Addr().String()}, "cannot listen for health checks"},
		{"no address", Options{Listen: "nonsense"}, "give host:port"},
		{"no file", Options{NATSConfig: "/nonexistent"}, "nats configuration"},
		{"broken file", Options{NATSConfig: config("foo: {")}, "nats configuration"},
		{"unknown setting", Options{NATSConfig: config("foo: 1")}, "nats configuration"},
		{"rate of handshakes", Options{NATSConfig: config(limited)}, "connection_rate_limit is not supported"},
		{"proxy protocol", Options{NATSConfig: config("proxy_protocol: true")}, "proxy_protocol is not supported"},
		{"another listener's port in use", Options{NATSConfig: config(fmt.Sprintf("http: %q", taken.Addr()))}, "embedded nats-server"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.options.Listen == "" {
				c.options.Listen = "127.0.0.1:0"
			}
			if c.options.HTTP == "" {
				c.options.HTTP = "127.0.0.1:0"
			}
			c.options.Log = slog.New(slog.DiscardHandler)
			err := New(c.options, nil).Start()
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestHealth(t *testing.T) {
	f := startFront(t, Options{}, "")
	get := func(path string) (int, string) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+f.HTTPAddr().String()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(body)
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if status, body := get(path); status != http.StatusOK || body != "ok\n" {
			t.Errorf("%s: %d %q", path, status, body)
		}
	}
	f.store.FailWrites(io.ErrShortWrite)
	if status, body := get("/readyz"); status != http.StatusServiceUnavailable || body == "" {
		t.Errorf("a failing store: %d %q", status, body)
	}
	if status, _ := get("/healthz"); status != http.StatusOK {
		t.Errorf("a failing store makes the process dead: %d", status)
	}
	http.DefaultClient.CloseIdleConnections()
}

// certificate makes a self-signed pair for 127.0.0.1 and returns the files.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, bytes []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "EC PRIVATE KEY", secret)
}

func TestTLS(t *testing.T) {
	cert, key := certificate(t)
	files := fmt.Sprintf("cert_file: %q, key_file: %q, ca_file: %q", cert, key, cert)
	for _, c := range []struct {
		name, config string
		options      []nats.Option
		refused      bool
	}{
		{"required", "tls { " + files + " }", []nats.Option{nats.RootCAs(cert)}, false},
		{"first", "tls { " + files + ", handshake_first: true }", []nats.Option{nats.RootCAs(cert), nats.TLSHandshakeFirst()}, false},
		{"first, with fallback, for a client that waits", "tls { " + files + ", handshake_first: 50ms }", []nats.Option{nats.RootCAs(cert)}, false},
		{"verified", "tls { " + files + ", verify: true }", []nats.Option{nats.RootCAs(cert), nats.ClientCert(cert, key)}, false},
		{"verified, no certificate", "tls { " + files + ", verify: true }", []nats.Option{nats.RootCAs(cert)}, true},
		{"optional, with", "allow_non_tls: true, tls { " + files + " }", []nats.Option{nats.RootCAs(cert)}, false},
		{"optional, without", "allow_non_tls: true, tls { " + files + " }", nil, false},
		{"unknown authority", "tls { " + files + " }", []nats.Option{nats.Secure(&tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS13})}, true},
		{
			"not pinned", "tls { " + files + ", verify: true, pinned_certs: [\"" + strings.Repeat("ab", 32) + "\"] }",
			[]nats.Option{nats.RootCAs(cert), nats.ClientCert(cert, key)},
			true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := startFront(t, Options{}, c.config)
			nc, err := nats.Connect("nats://"+f.Addr().String(), c.options...)
			if c.refused {
				if err == nil {
					nc.Close()
					t.Fatal("it was taken")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			reply, err := nc.Request(mq9.SubjectCreate, nil, patience)
			if err != nil || !strings.Contains(string(reply.Data), "mail_id") {
				t.Fatalf("%v, %v", reply, err)
			}
		})
	}
}

func TestEmbeddedKnowsTheClient(t *testing.T) {
	f := startFront(t, Options{}, "")
	nc, err := nats.Connect("nats://" + f.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if ip, err := nc.GetClientIP(); err != nil || !ip.IsLoopback() {
		t.Fatalf("%v, %v", ip, err)
	}
	z, err := f.nats.server.Connz(nil)
	if err != nil || len(z.Conns) != 1 || z.Conns[0].IP != "127.0.0.1" {
		t.Fatalf("%+v, %v", z, err)
	}
}

func TestJetStreamIsUntouched(t *testing.T) {
	f := startFront(t, Options{}, fmt.Sprintf("jetstream { store_dir: %q }", t.TempDir()))
	nc, err := nats.Connect("nats://" + f.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := nc.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.AddStream(&nats.StreamConfig{Name: "S", Subjects: []string{"s.>"}}); err != nil {
		t.Fatal(err)
	}
	if ack, err := js.Publish("s.x", []byte("y")); err != nil || ack.Sequence != 1 {
		t.Fatalf("%v, %v", ack, err)
	}
}

func TestClusterListens(t *testing.T) {
	f := startFront(t, Options{}, "server_name: one, cluster { name: c, listen: \"127.0.0.1:-1\" }")
	if f.nats.server.ClusterAddr() == nil {
		t.Fatal("the cluster listener is not there")
	}
	c := dial(t, f.Addr())
	c.send("CONNECT {\"verbose\":false}\r\nPING\r\n")
	c.expect("PONG")
}
