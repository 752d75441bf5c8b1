package frontend

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"
)

// A client that does not read gets what was written at once, and what was not, in order when it reads again.
func TestWritingAtOnceNeverWaitsAndKeepsTheOrder(t *testing.T) {
	g := gomega.NewWithT(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { g.Expect(listener.Close()).To(gomega.Succeed()) }()
	client, err := net.Dial("tcp", listener.Addr().String())
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { g.Expect(client.Close()).To(gomega.Succeed()) }()
	conn, err := listener.Accept()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(conn.(*net.TCPConn).SetWriteBuffer(4 << 10)).To(gomega.Succeed())

	var owned sync.WaitGroup
	box := newOutbox(nil, &owned, func(time.Duration) {})
	box.connect(conn)
	waiting := func() int { box.mu.Lock(); defer box.mu.Unlock(); return box.control }
	var want bytes.Buffer
	for n := 0; waiting() < 64<<10; n++ { // until much more than one frame is stuck
		frame := bytes.Repeat(fmt.Appendf(nil, "%d ", n), 500)
		want.Write(frame)
		box.writeAtOnce(frame)
	}
	got := make([]byte, want.Len())
	_, err = io.ReadFull(client, got)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(bytes.Equal(got, want.Bytes())).To(gomega.BeTrue())
	g.Eventually(waiting).Should(gomega.BeZero())
	box.writeAtOnce([]byte("again"))
	_, err = io.ReadFull(client, got[:5])
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(waiting()).To(gomega.BeZero())
	box.abort()
	owned.Wait()
}
