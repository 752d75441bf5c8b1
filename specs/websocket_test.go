package specs_test

import (
	"bufio"
	"bytes"
	"compress/flate"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// Frame bits of RFC 6455.
const (
	final      = 0x80
	compressed = 0x40
	more       = 0x00 // continues a message
	binaryData = 0x02
)

var _ = Describe("The WebSocket listener", func() {
	// serve runs a broker that has one, and returns where.
	serve := func(flags ...string) (own *harness.Broker, addr string) {
		GinkgoHelper()
		addr = harness.FreeAddr("127.0.0.1")
		return harness.StartBroker(program, append([]string{"--websocket", addr}, flags...)...), addr
	}

	It("serves mailboxes and plain NATS as the ordinary listener does", func() {
		own, addr := serve()
		tcp, web := own.Connect(), harness.Connect("", toWeb("ws://"+addr))
		id := web.Private()
		web.Send(id, "task")
		tcp.Send(id+critical, strings.Repeat("stop", 100_000))
		feed := web.Mailbox(id)
		Eventually(func() int { return feed.Count() }).Should(Equal(2))
		Expect(feed.Messages()[1].Data).To(BeEquivalentTo("task"))
		Expect(feed.Messages()[0].Respond(nil)).To(Succeed())
		web.Sync()
		Expect(tcp.Stored(id)).To(HaveLen(1))

		plain := tcp.Watch("plain")
		Expect(web.Conn.Publish("plain", []byte("text"))).To(Succeed())
		Eventually(plain.Payloads).Should(Equal([]string{"text"}))
		web.Publish(id, numbered("m", 2000)...)
		web.Sync()
		Eventually(feed.Count).Should(Equal(2002))

		own.Stop()
		own.Start()
		Eventually(web.IsConnected).Should(BeTrue())
		web.Private()
	})

	It("is closed unless it is asked for, and is on the loopback unless told otherwise", func() {
		own := harness.StartBroker(program, "--websocket", ":0")
		Eventually(own.Log).Should(ContainSubstring("WebSocket clients are served at=127.0.0.1:"))
		Expect(broker.Log()).NotTo(ContainSubstring("WebSocket"))
	})

	It("opens to pages of its own origin and of those that are allowed", func() {
		_, addr := serve("--websocket-origin", "https://app.example.org,http://localhost:*")
		for origin, status := range map[string]int{
			"":                         http.StatusSwitchingProtocols, // no browser
			"http://" + addr:           http.StatusSwitchingProtocols,
			"https://app.example.org":  http.StatusSwitchingProtocols,
			"http://localhost:8080":    http.StatusSwitchingProtocols,
			"http://app.example.org":   http.StatusForbidden,
			"https://evil.example.org": http.StatusForbidden,
			"null":                     http.StatusForbidden,
		} {
			response, _ := upgrade(addr, origin)
			Expect(response.StatusCode).To(Equal(status), "origin %q", origin)
		}
	})

	It("lets a client that was refused do nothing, and keeps permissions", func() {
		own, addr := serve("--nats-config", writeConfig(users(`publish: { deny: "$mq9.>" }`)))
		all := own.Connect(nats.UserInfo("all", "a"))
		id := all.Private()
		_, err := nats.Connect("ws://"+addr, nats.UserInfo("all", "wrong"))
		Expect(err).To(MatchError(nats.ErrAuthorization))
		some := harness.Connect("", toWeb("ws://"+addr), nats.UserInfo("some", "s"))
		some.Publish(id, "no")
		some.Sync()
		Eventually(some.Errors).Should(HaveLen(1))
		Expect(all.Stored(id)).To(BeEmpty())
	})

	It("has the TLS that other clients have", func() {
		cert, key, pool := selfSigned()
		_, addr := serve("--nats-config", writeConfig(fmt.Sprintf("tls { cert_file: %q, key_file: %q }", cert, key)))
		web := harness.Connect("", toWeb("wss://"+addr), nats.Secure(&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}))
		id := web.Private()
		web.Send(id, "x")
		_, err := nats.Connect("ws://" + addr)
		Expect(err).To(HaveOccurred())
	})

	It("is the one of a websocket block in the nats-server configuration, mailboxes and all", func() {
		addr := harness.FreeAddr("127.0.0.1")
		_, port, err := net.SplitHostPort(addr)
		Expect(err).NotTo(HaveOccurred())
		own := harness.StartBroker(program, "--nats-config", writeConfig("websocket { host: 127.0.0.1, port: "+port+", no_tls: true, same_origin: true }"))
		web := harness.Connect("", toWeb("ws://"+addr))
		id := web.Private()
		web.Send(id, "x")
		Expect(own.Connect().Stored(id)).To(HaveLen(1))
		response, _ := upgrade(addr, "https://evil.example.org")
		Expect(response.StatusCode).To(Equal(http.StatusForbidden))
	})

	Describe("bounds what hostile clients send:", func() {
		var (
			own  *harness.Broker
			addr string
		)
		BeforeEach(func() { own, addr = serve() })

		// still checks that the broker serves others, and has not grown.
		still := func(before int) {
			GinkgoHelper()
			agent := own.Connect()
			agent.Send(agent.Private(), "x")
			Expect(own.Memory() - before).To(BeNumerically("<", 128<<20))
		}

		It("compressed messages are refused, whatever they would become", func() {
			before := own.Memory()
			response, conn := upgrade(addr, "")
			Expect(response.Header).NotTo(HaveKey("Sec-Websocket-Extensions"))
			var bomb bytes.Buffer
			w, err := flate.NewWriter(&bomb, flate.BestCompression)
			Expect(err).NotTo(HaveOccurred())
			_, err = io.Copy(w, io.LimitReader(zeros{}, 256<<20))
			Expect(err).NotTo(HaveOccurred())
			Expect(w.Flush()).To(Succeed())
			send(conn, final|compressed|binaryData, bomb.Bytes())
			Expect(closed(conn)).To(BeTrue())
			still(before)
		})

		It("a frame that says it is huge ends the connection", func() {
			before := own.Memory()
			_, conn := upgrade(addr, "")
			head := []byte{final | binaryData, 0x80 | 127}
			head = binary.BigEndian.AppendUint64(head, 1<<62)
			_, err := conn.Write(append(head, 0, 0, 0, 0))
			Expect(err).NotTo(HaveOccurred())
			_, _ = io.Copy(conn, io.LimitReader(zeros{}, 64<<20)) // it hangs up meanwhile
			Expect(closed(conn)).To(BeTrue())
			still(before)
		})

		It("a message of endlessly many fragments ends the connection", func() {
			before := own.Memory()
			_, conn := upgrade(addr, "")
			send(conn, binaryData, []byte(harness.Ordinary+"PUB x 3000000\r\n"))
			piece := make([]byte, 4096)
			for range 4096 {
				if !trySend(conn, more, piece) {
					break
				}
			}
			Expect(closed(conn)).To(BeTrue())
			still(before)
		})

		It("text, broken frames and a handshake that never ends are cut off", func() {
			_, conn := upgrade(addr, "")
			send(conn, final|0x01, []byte(harness.Ordinary))
			Expect(closed(conn)).To(BeTrue())
			_, conn = upgrade(addr, "")
			_, err := conn.Write([]byte{final | binaryData, 5, 'P', 'I', 'N', 'G', '\n'}) // not masked
			Expect(err).NotTo(HaveOccurred())
			Expect(closed(conn)).To(BeTrue())

			slow, err := net.Dial("tcp", addr)
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(slow.Close)
			_, err = io.WriteString(slow, "GET / HTTP/1.1\r\nHost: x\r\n")
			Expect(err).NotTo(HaveOccurred())
			Expect(closed(slow)).To(BeTrue())
			still(own.Memory())
		})
	})
})

// toWeb directs a client to a WebSocket address.
func toWeb(url string) nats.Option {
	return func(o *nats.Options) error {
		o.Url, o.Servers = "", []string{url}
		return nil
	}
}

// upgrade opens a WebSocket by hand, offering compression.
func upgrade(addr, origin string) (*http.Response, net.Conn) {
	GinkgoHelper()
	conn, err := net.Dial("tcp", addr)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(conn.Close)
	request := "GET / HTTP/1.1\r\nHost: " + addr + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: permessage-deflate\r\n"
	if origin != "" {
		request += "Origin: " + origin + "\r\n"
	}
	_, err = io.WriteString(conn, request+"\r\n")
	Expect(err).NotTo(HaveOccurred())
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	Expect(err).NotTo(HaveOccurred())
	return response, conn
}

// send writes a frame that is masked with zeros.
func send(conn net.Conn, first byte, payload []byte) {
	GinkgoHelper()
	Expect(trySend(conn, first, payload)).To(BeTrue())
}

// trySend reports whether the peer still takes a frame.
func trySend(conn net.Conn, first byte, payload []byte) bool {
	GinkgoHelper()
	Expect(conn.SetWriteDeadline(time.Now().Add(requestTimeout))).To(Succeed())
	frame := binary.BigEndian.AppendUint64([]byte{first, 0x80 | 127}, uint64(len(payload)))
	_, err := conn.Write(append(append(frame, 0, 0, 0, 0), payload...))
	return err == nil
}

// closed reads until the peer has hung up, and reports whether it has.
func closed(conn net.Conn) bool {
	GinkgoHelper()
	Expect(conn.SetReadDeadline(time.Now().Add(requestTimeout))).To(Succeed())
	_, err := io.Copy(io.Discard, conn)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// zeros is an endless stream of them.
type zeros struct{}

// Read implements io.Reader.
func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
