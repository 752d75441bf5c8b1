package harness

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Small is for a net.Dialer's Control: it makes both kernels keep little for a connection whose client does not read, about
// 100 KiB instead of several MiB. The client's buffer is small, and so are the segments it asks for, after which the peer's
// kernel sizes its own.
func Small(_, _ string, raw syscall.RawConn) error {
	var failed error
	err := raw.Control(func(fd uintptr) {
		if failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4<<10); failed == nil {
			failed = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, 536)
		}
	})
	if err != nil {
		return err
	}
	return failed
}

// InKernel is how many bytes the kernel holds between a server on this machine and its client, over IPv4: what the server has
// written and the client has not read. It may be called from any goroutine.
func InKernel(client, server net.Addr) (int64, error) {
	here, there := procAddr(client), procAddr(server)
	text, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return 0, err
	}
	var held int64
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 5 {
			continue
		}
		sending, waiting, _ := strings.Cut(f[4], ":")
		var queue string
		switch {
		case f[1] == here && f[2] == there:
			queue = waiting
		case f[1] == there && f[2] == here:
			queue = sending
		default:
			continue
		}
		n, err := strconv.ParseInt(queue, 16, 64)
		if err != nil {
			return 0, err
		}
		held += n
	}
	return held, nil
}

// procAddr is an address as /proc/net/tcp writes it.
func procAddr(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok || tcp.IP.To4() == nil {
		return ""
	}
	ip := tcp.IP.To4()
	return fmt.Sprintf("%02X%02X%02X%02X:%04X", ip[3], ip[2], ip[1], ip[0], tcp.Port)
}
