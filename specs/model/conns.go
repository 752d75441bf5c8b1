package model

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mq9-broker/broker/specs/harness"
)

func (r *runner) unsubscribe(p *peer, s Step) error {
	sid := fmt.Sprint(s.Sid)
	m := p.subs[sid]
	if m == nil {
		return nil
	}
	text := fmt.Sprintf("UNSUB %s\r\n", sid)
	if s.Max > 0 {
		text = fmt.Sprintf("UNSUB %s %d\r\n", sid, s.Max)
	}
	r.world.unsubscribe(m, s.Max)
	if err := r.exchange(p, text); err != nil {
		return err
	}
	if s.Max == 0 {
		delete(p.subs, sid)
	}
	return nil
}

// resume lets a connection read again. Before it did, the broker may have chosen what the kernel holds and a window more.
func (r *runner) resume(p *peer) error {
	if !p.stalled {
		return nil
	}
	held, err := harness.InKernel(p.conn.LocalAddr(), p.conn.RemoteAddr())
	if err != nil {
		return err
	}
	p.world.stalled, p.world.end = false, r.world.tick()
	p.world.reach = p.stall(false) + held + window
	return nil
}

// close ends a connection and waits until the broker has noticed.
func (r *runner) close(s Step) error {
	p := r.peers[s.Conn]
	r.peers[s.Conn] = nil
	if s.Abrupt || p.stalled {
		if err := errors.Join(p.conn.SetLinger(0), p.hangUp()); err != nil {
			return err
		}
	} else {
		if err := p.conn.CloseWrite(); err != nil {
			return err
		}
		frames, err := p.await(eof, r.patience)
		if err != nil {
			return err
		}
		frames = slices.DeleteFunc(frames, func(f frame) bool { return f.op == eof || f.op == "PING" })
		if err := errors.Join(r.digest(p, frames), r.world.judge(), p.hangUp()); err != nil {
			return err
		}
	}
	r.world.hangUp(p.world)
	return r.noticed(p)
}
