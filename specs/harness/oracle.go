package harness

import (
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// Oracle runs a stock nats-server for the running spec and returns its address. Rules that the broker shares with
// nats-server are checked by doing the same to both and comparing.
func Oracle() string {
	GinkgoHelper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true})
	Expect(err).NotTo(HaveOccurred())
	s.Start()
	DeferCleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	Expect(s.ReadyForConnections(10 * time.Second)).To(BeTrue())
	return s.Addr().String()
}

// Transcript sends the parts one after the other, then a PING, and returns what the server said until it answered that PING or
// closed the connection, a line for each frame. pongs is how many PINGs the parts hold themselves.
func Transcript(addr string, pongs int, parts ...string) []string {
	GinkgoHelper()
	r := Dial(addr)
	Expect(r.SetNoDelay(true)).To(Succeed())
	for _, part := range parts {
		r.Say(part)
	}
	r.Say("PING\r\n")
	var lines []string
	for seen := 0; seen <= pongs; {
		f := r.Next()
		lines = append(lines, strings.TrimSpace(f.Op+" "+f.Args+" "+f.Header+f.Payload))
		switch f.Op {
		case EOF:
			return lines
		case "PONG":
			seen++
		}
	}
	return lines
}
