package frontend

import (
	"bufio"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
)

// TestIdleConnectionIsSmall holds many idle connections and compares what each costs with a bound: the front's own part is about
// what nats-server takes without it. The clients' ends, which live in this process too, are counted as well.
func TestIdleConnectionIsSmall(t *testing.T) {
	const n, bound = 1000, 56 << 10
	f := startFront(t, Options{}, "")
	connect(t, f.Addr()).create("tour")
	memory := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	before := memory()
	clients := make([]*raw, n)
	for i := range clients {
		clients[i] = connect(t, f.Addr())
		clients[i].in = nil // 4 KiB that are not the broker's
	}
	each := (memory() - before) / n
	t.Logf("%d bytes for each idle connection", each)
	if !raceEnabled && each > bound {
		t.Errorf("an idle connection takes %d bytes, more than %d", each, bound)
	}
}

// BenchmarkPublish is normal publishes of 128 bytes from one connection, in bulk, until they are stored.
func BenchmarkPublish(b *testing.B) {
	f := startFront(b, Options{}, "")
	c := connect(b, f.Addr())
	c.create("tour")
	frame := pub(tour, strings.Repeat("x", 128))
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()
	b.ResetTimer()
	write(b, c.conn, frame, b.N)
	c.send("PING\r\n")
	c.expect("PONG")
}

// BenchmarkReplay is the delivery of stored normal messages of 128 bytes to one subscription.
func BenchmarkReplay(b *testing.B) {
	for _, d := range []Delivery{DeliverHeaders, DeliverBare} {
		b.Run(d.String(), func(b *testing.B) {
			f := startFront(b, Options{Delivery: d}, "")
			c := connect(b, f.Addr())
			c.create("tour")
			write(b, c.conn, pub(tour, strings.Repeat("x", 128)), b.N)
			c.send("PING\r\n")
			c.expect("PONG")
			b.ReportAllocs()
			b.ResetTimer()
			c.send("SUB " + tour + " 1\r\n")
			count(b, c.in, "x\r\n", b.N)
		})
	}
}

// BenchmarkPlain is plain messages of 128 bytes from one connection to itself, through the front and through a stock
// nats-server.
func BenchmarkPlain(b *testing.B) {
	run := func(b *testing.B, addr net.Addr) {
		c := connect(b, addr)
		c.send("SUB a 1\r\nPING\r\n")
		c.expect("PONG")
		b.ResetTimer()
		go write(b, c.conn, pub("a", strings.Repeat("x", 128)), b.N)
		count(b, c.in, "x\r\n", b.N)
	}
	b.Run("front", func(b *testing.B) { run(b, startFront(b, Options{}, "").Addr()) })
	b.Run("stock", func(b *testing.B) { run(b, stock(b)) })
}

// write sends a frame n times.
func write(b *testing.B, conn net.Conn, frame string, n int) {
	w := bufio.NewWriterSize(conn, 32<<10)
	for range n {
		if _, err := io.WriteString(w, frame); err != nil {
			b.Error(err)
			return
		}
	}
	if err := w.Flush(); err != nil {
		b.Error(err)
	}
}

// count reads lines until n of them end so.
func count(b *testing.B, in *bufio.Reader, end string, n int) {
	for n > 0 {
		line, err := in.ReadSlice('\n')
		if err != nil {
			b.Fatal(err)
		}
		if strings.HasSuffix(string(line), end) {
			n--
		}
	}
}
