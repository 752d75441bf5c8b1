package frontend

import (
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

func itoa(n int) string { return strconv.Itoa(n) }

// stock runs a plain nats-server, the oracle for all that is not ours.
func stock(t testing.TB) net.Addr {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	if !s.ReadyForConnections(patience) {
		t.Fatal("the oracle does not start")
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s.Addr()
}

// sentinel ends a stream that does not end the connection.
const sentinel = "SUB done 999\r\nPUB done 4\r\nlast\r\n"

// play sends a stream behind INFO, whole or byte by byte, and returns all that comes back up to the sentinel or the end.
func play(t *testing.T, addr net.Addr, stream string, step int) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	stream += sentinel
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for rest := stream; rest != ""; {
			n := min(step, len(rest))
			if _, err := io.WriteString(conn, rest[:n]); err != nil {
				return // it hung up, as it may
			}
			rest = rest[n:]
		}
	}()
	var got strings.Builder
	buf := make([]byte, 4096)
	for !strings.HasSuffix(got.String(), "last\r\n") {
		n, err := conn.Read(buf)
		got.Write(buf[:n])
		if err != nil {
			if isTimeout(err) {
				t.Fatalf("it hangs after %q", got.String())
			}
			break
		}
	}
	_ = conn.Close()
	<-sent
	_, rest, _ := strings.Cut(got.String(), "\r\n") // INFO names the server
	return rest
}

func TestOracle(t *testing.T) {
	const quiet = "CONNECT {\"verbose\":false,\"pedantic\":false,\"headers\":true}\r\n"
	const loud = "CONNECT {\"verbose\":true,\"pedantic\":true,\"headers\":true}\r\n"
	long := strings.Repeat("x", 5000)
	ours, theirs := startFront(t, Options{}, "").Addr(), stock(t)
	for _, c := range []struct {
		name, stream string
		whole        bool // what nats-server itself says depends on how the stream is cut
	}{
		{name: "nothing", stream: ""},
		{name: "no CONNECT", stream: "PING\r\nSUB a 1\r\nPUB a 1\r\nx\r\n"},
		{name: "CONNECT defaults", stream: "CONNECT {}\r\nPING\r\nSUB a 1\r\nUNSUB 1\r\n"},
		{name: "CONNECT without a blank", stream: "CONNECT{\"verbose\":false}\r\nPING\r\n"},
		{name: "CONNECT twice", stream: quiet + loud + "PING\r\n"},
		{name: "CONNECT broken", stream: "CONNECT {\r\n"},
		{name: "CONNECT empty", stream: "CONNECT \r\n"},
		{name: "CONNECT without headers, no_responders", stream: "CONNECT {\"no_responders\":true}\r\n"},
		{name: "CONNECT protocol", stream: "CONNECT {\"protocol\":9}\r\n"},
		{name: "lower case", stream: strings.ToLower(quiet) + "ping\r\nsub a 1\r\npub a 1\r\nx\r\nunsub 1\r\n"},
		{name: "blanks", stream: quiet + "SUB\ta \t 1  \r\nPUB  a\t\t1\r\nx\r\nUNSUB   1 \r\n"},
		{name: "LF", stream: quiet + "PING\nSUB a 1\nPUB a 1\nx\r\n"},
		{name: "junk", stream: quiet + "PING x y\r\nPONG x\r\n+OK x\r\nPINGPING\r\n"},
		{name: "client INFO", stream: quiet + "INFO {}\r\nPING\r\n"},
		{name: "client INFO broken", stream: quiet + "INFO x\r\n"},
		{name: "client -ERR", stream: quiet + "-ERR 'x'\r\n"},
		{name: "verbose", stream: loud + "PING\r\nSUB a 1\r\nPUB a 1\r\nx\r\nUNSUB 1 3\r\nUNSUB 1\r\nUNSUB 77\r\n"},
		{name: "pedantic", stream: loud + "PUB a.* 1\r\nx\r\n", whole: true},
		{name: "invalid subject", stream: loud + "SUB a..b 1\r\n"},
		{name: "sid twice", stream: loud + "SUB a 1\r\nSUB b 1\r\nPUB a 1\r\nx\r\nPUB b 1\r\ny\r\n"},
		{name: "headers", stream: quiet + "SUB a 1\r\nHPUB a 16 17\r\nNATS/1.0\r\nA:\r\n\r\nx\r\nHPUB a r 12 12\r\nNATS/1.0\r\n\r\n\r\n"},
		{name: "empty payload", stream: quiet + "SUB a 1\r\nPUB a 0\r\n\r\nPUB a r 0\r\n\r\n"},
		{name: "frames in a payload", stream: quiet + "SUB a 1\r\nPUB a 27\r\n\r\nPUB $mq9.x 0\r\n\r\nMSG x 1\r\n\r\n"},
		{name: "no responders", stream: "CONNECT {\"verbose\":false,\"headers\":true,\"no_responders\":true}\r\nSUB in 1\r\nPUB nobody in 0\r\n\r\n"},
		{name: "auto-unsubscribe", stream: quiet + "SUB a 1\r\nUNSUB 1 1\r\nPUB a 1\r\nx\r\nPUB a 1\r\ny\r\n"},
		{name: "unknown verb", stream: quiet + "FOO\r\n"},
		{name: "cut verb", stream: quiet + "PUT a 1\r\n"},
		{name: "verb without a blank", stream: quiet + "PUBa 1\r\n"},
		{name: "HTTP", stream: "GET / HTTP/1.1\r\nHost: x\r\n\r\n"},
		{name: "SSH", stream: "SSH-2.0-x\r\n"},
		{name: "TLS", stream: "\x16\x03\x01\x02\x00"},
		{name: "PUB without arguments", stream: quiet + "PUB \r\n"},
		{name: "PUB with one", stream: quiet + "PUB a\r\n"},
		{name: "PUB with four", stream: quiet + "PUB a b c 1\r\n"},
		{name: "PUB with a negative size", stream: quiet + "PUB a -1\r\n"},
		{name: "PUB with no number", stream: quiet + "PUB a x\r\n"},
		{name: "PUB with a huge number", stream: quiet + "PUB a 99999999999999999999\r\n"},
		{name: "PUB over max_payload", stream: quiet + "PUB a 1048577\r\n"},
		{name: "PUB without the end", stream: quiet + "PUB a 1\r\nxyz\r\n"},
		{name: "HPUB header over total", stream: quiet + "HPUB a 9 8\r\n"},
		{name: "HPUB negative", stream: quiet + "HPUB a -1 8\r\n"},
		{name: "HPUB negative total", stream: quiet + "HPUB a 1 -8\r\n"},
		{name: "HPUB with two arguments", stream: quiet + "HPUB a 8\r\n"},
		{name: "HPUB without headers", stream: "CONNECT {\"verbose\":false}\r\nHPUB a 12 12\r\nNATS/1.0\r\n\r\n\r\n"},
		{name: "HPUB without CONNECT", stream: "HPUB a 12 12\r\nNATS/1.0\r\n\r\n\r\n"},
		{name: "SUB with one", stream: quiet + "SUB a\r\n"},
		{name: "SUB with four", stream: quiet + "SUB a b c 1\r\n"},
		{name: "UNSUB without", stream: quiet + "UNSUB \r\n"},
		{name: "UNSUB with three", stream: quiet + "UNSUB 1 2 3\r\n"},
		{name: "long line", stream: quiet + "SUB " + long + " 1\r\n", whole: true},
		{name: "line of the greatest length", stream: quiet + "SUB " + long[:4094] + " 1\r\n", whole: true},
		{name: "line one longer", stream: quiet + "SUB " + long[:4095] + " 1\r\n", whole: true},
		{name: "two CR", stream: quiet + "PUB a 1\r\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, step := range []int{1 << 20, 1} {
				if step == 1 && c.whole {
					continue
				}
				want, got := play(t, theirs, c.stream, step), play(t, ours, c.stream, step)
				if got != want && c.name != "two CR" {
					t.Errorf("step %d:\ngot  %q\nwant %q", step, got, want)
				}
				if c.name == "two CR" && !strings.Contains(got, "Unknown Protocol Operation") {
					t.Errorf("step %d: got %q", step, got)
				}
			}
		})
	}
}
