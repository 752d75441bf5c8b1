package frontend

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"
)

// helloWait bounds how long the embedded server may take to say INFO to a new connection.
const helloWait = 10 * time.Second

// way is how a session gets to the embedded server. Its goroutine alone uses it.
type way interface {
	// hello introduces the client to the embedded server and returns the first INFO, as the client is to get it.
	hello() (info []byte, err error)

	// enter is called when the client has that: from now on it gets what else the embedded server has for it. ctx bounds enter itself.
	enter(ctx context.Context) error
}

// way begins the session's way to the embedded server: inside the process, or through the door if there is one.
func (s *session) way() way {
	if d := s.server.nats.door; d != nil {
		return &doorway{session: s, door: d}
	}
	return newSplice(s)
}

// doorway is the way through the door. Its goroutine reads what comes, until the embedded server hangs up.
type doorway struct {
	session *session
	door    *door
	conn    net.Conn
	in      readBuffer
}

// hello implements way.
func (d *doorway) hello() (info []byte, err error) {
	s := d.session
	if d.conn, err = net.DialTimeout("tcp", s.server.nats.server.Addr().String(), helloWait); err != nil {
		return nil, fmt.Errorf("embedded nats-server: %w", err)
	}
	s.up.conn = d.conn
	if err := d.conn.SetDeadline(time.Now().Add(helloWait)); err != nil {
		return nil, err
	}
	var frame serverFrame
	for frame.kind == frameMore {
		data, err := d.in.fill(d.conn, frame.size)
		if err != nil {
			return nil, fmt.Errorf("no INFO of the embedded server: %w", err)
		}
		if frame, err = nextFrame(data); err != nil {
			return nil, err
		}
	}
	if frame.kind != frameInfo {
		return nil, errFrame
	}
	if info, err = s.inform(frame.arg); err != nil {
		return nil, err
	}
	d.in.use(frame.size)
	_, err = d.conn.Write(introduction(s.raw.RemoteAddr(), s.raw.LocalAddr()))
	return info, errors.Join(err, d.conn.SetDeadline(time.Time{}))
}

// enter implements way.
func (d *doorway) enter(ctx context.Context) (err error) {
	if d.in.end == 0 { // or it has said why it refuses the connection
		if d.conn, err = d.door.pass(ctx, d.conn, d.session.conn); err != nil {
			return err
		}
		d.session.up.conn = d.conn
	}
	d.session.owned.Go(d.receive)
	return nil
}

// receive passes on what the embedded server has for the client, until it hangs up.
func (d *doorway) receive() {
	s := d.session
	defer s.hungUp()
	data := d.in.bytes[:d.in.end]
	for {
		from, to, want, err := s.forward(data)
		if err != nil {
			s.server.log.Error("reading from the embedded server", "error", err)
			return
		}
		s.box.passCopy(data[from:to])
		d.in.use(to)
		// While the client takes too little nothing is read, and nats-server's rules for slow consumers do their work. If it takes
		// nothing any more, what it missed does not matter.
		_ = s.box.awaitRoom(time.Time{})
		if data, err = d.in.fill(d.conn, want); err != nil {
			return // it hung up; with its last bytes it comes never together
		}
	}
}

// introduction is the line that tells the embedded server who the client is, between its INFO and the client's first byte.
func introduction(client, front net.Addr) []byte {
	from, ok := client.(*net.TCPAddr)
	to, ok2 := front.(*net.TCPAddr)
	if !ok || !ok2 {
		return []byte("PROXY UNKNOWN\r\n")
	}
	family := "TCP6"
	source, target := from.IP.String(), to.IP.String()
	if from.IP.To4() != nil {
		family = "TCP4"
	}
	return []byte("PROXY " + family + " " + source + " " + target + " " +
		strconv.Itoa(from.Port) + " " + strconv.Itoa(to.Port) + "\r\n")
}
