package load

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// Job says what a workload does. The workloads only read it.
type Job struct {
	Dial func() (*nats.Conn, error) // opens one more connection; the workload sets its handlers and closes it

	Subject  string // what messages are sent to
	Pattern  string // what is subscribed to: Replay, Live, Workers
	Messages int    // how many, at least 1
	Size     int    // bytes of a payload; at least StampBytes for Live and Workers
	InFlight int    // the most messages that are sent and have not come back; at least 1; Publish and Replay ignore it
	Rate     int    // messages sent a second, evenly; 0 = as fast as InFlight lets them; Live and Workers
	Workers  int    // members of the queue group, at least 1: Workers

	Check    func(reply []byte) error // what is wrong with a reply, of Send; nil takes any reply as good
	Progress func(done int)           // told how many messages are done, from one goroutine; may be nil

	// What comparisons with other brokers need; all may be nil or empty.
	Reply     string                                                           // the reply subject of what Live, Fanout and Workers publish
	Header    nats.Header                                                      // and its headers
	Each      func(i int) (subject string, payload []byte)                     // what Send sends, in place of Subject and Size
	Publish   func(nc *nats.Conn) (send func(payload []byte) error, err error) // how Live, Fanout and Workers publish, in place of Subject
	Subscribe func(nc *nats.Conn, take Take) error                             // how is subscribed, in place of Pattern
	Began     func()                                                           // called when the preparations are over
	Ended     func()                                                           // called when the last message has come back
}

// Take is what a Job's Subscribe calls for each message that arrives, one at a time, with what has to be called to be done
// with it; finish may be nil.
type Take func(payload []byte, finish func() error)

// StampBytes is the room that Live and Workers need in a payload for the time of its sending.
const StampBytes = 8

// Standstill is how long a workload waits for the next thing to happen before it gives up.
const Standstill = 30 * time.Second

// errStandstill is why such a workload ended.
var errStandstill = fmt.Errorf("nothing has moved for %v: some messages have not come back", Standstill)

// check finds what makes a job impossible.
func (j *Job) check(stamped bool) error {
	switch {
	case j.Dial == nil:
		return errors.New("a job needs a way to connect")
	case j.Messages < 1:
		return errors.New("at least one message is needed")
	case j.InFlight < 1:
		return errors.New("at least one message must be allowed in flight")
	case j.Size < 0 || stamped && j.Size < StampBytes:
		return fmt.Errorf("a payload of %d bytes is too small: give at least %d", j.Size, StampBytes)
	case j.Rate < 0:
		return errors.New("a rate cannot be negative")
	}
	return nil
}

// payload makes a payload that does not compress to nothing on its way to the disk.
func (j *Job) payload() []byte {
	p := make([]byte, j.Size)
	x := uint32(2463534242)
	for i := range p {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		p[i] = byte(x)
	}
	return p
}

// due is how long after the start the i-th message is to be sent.
func (j *Job) due(i int) time.Duration {
	return time.Duration(float64(i) / float64(j.Rate) * float64(time.Second))
}
