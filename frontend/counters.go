package frontend

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/mq9-broker/broker/mq9"
)

// delivered counts what was written to sockets, by priority. Its owner guards it.
type delivered [mq9.Priorities]struct{ messages, bytes uint64 }

// add adds another count.
func (d *delivered) add(more delivered) {
	for p := range d {
		d[p].messages += more[p].messages
		d[p].bytes += more[p].bytes
	}
}

// refusalCodes are the codes that refusals are counted by.
var refusalCodes = [...]int{
	mq9.CodeBadRequest, mq9.CodeForbidden, mq9.CodeNotFound, mq9.CodeConflict,
	mq9.CodeTooLarge, mq9.CodeLimit, mq9.CodeBug, mq9.CodeUnavailable,
}

// refusals counts refused operations by code.
type refusals [len(refusalCodes)]atomic.Uint64

// count counts one.
func (r *refusals) count(err *mq9.Error) {
	for i, code := range refusalCodes {
		if err.Code == code {
			r[i].Add(1)
		}
	}
}

// byCode returns the counts.
func (r *refusals) byCode() map[string]uint64 {
	counts := make(map[string]uint64, len(r))
	for i, code := range refusalCodes {
		counts[strconv.Itoa(code)] = r[i].Load()
	}
	return counts
}

// boxView is what is to be seen of an outbox at a moment.
type boxView struct {
	delivered delivered
	inflight  int // bytes of deliveries
	waiting   int // outlets without room
	slow      bool
}

// slowAfter is how long a socket may take nothing before its connection counts as slow.
const slowAfter = time.Second

// look returns the view.
func (box *outbox) look() boxView {
	box.mu.Lock()
	defer box.mu.Unlock()
	return boxView{
		delivered: box.delivered, inflight: box.window.inflight, waiting: box.window.waiting,
		slow: box.writing && box.window.inflight > 0 && time.Since(box.began) > slowAfter,
	}
}
