package frontend

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// listenUnix listens on a socket file that only the broker's own user may connect to. A file that a broker left behind when it was
// killed is replaced; one on which somebody listens, or that is no socket, is not.
func listenUnix(path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil {
		if info.Mode()&os.ModeSocket == 0 {
			return nil, fmt.Errorf("cannot listen on %s: it is there and no socket: choose another path", path)
		}
		conn, err := net.Dial("unix", path)
		if err == nil {
			return nil, errors.Join(fmt.Errorf("cannot listen on %s: somebody does already", path), conn.Close())
		}
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return nil, fmt.Errorf("cannot listen on %s: %w", path, err)
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("cannot replace the socket of a broker that is gone: %w", err)
		}
	}
	// Nobody can connect between the two steps: the file gets its permissions before anything listens on it.
	socket, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", path, err)
	}
	file := os.NewFile(uintptr(socket), path)
	if err = syscall.Bind(socket, &syscall.SockaddrUnix{Name: path}); err == nil {
		if err = os.Chmod(path, 0o600); err == nil {
			err = syscall.Listen(socket, syscall.SOMAXCONN)
		}
	}
	var listener net.Listener
	if err == nil {
		listener, err = net.FileListener(file)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", path, err)
	}
	if unix, ok := listener.(*net.UnixListener); ok {
		unix.SetUnlinkOnClose(true)
	}
	return listener, nil
}
