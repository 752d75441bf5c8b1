package crash

import (
	"slices"
	"sync"
	"time"
)

// world is what all connections together know: the mailboxes that were acknowledged, and messages that may be deleted. It only serves to
// choose what to do next; the Checker draws its own conclusions. It is safe for use by many goroutines.
type world struct {
	mu    sync.Mutex
	boxes []*known // guarded by mu
}

// known is a mailbox and the ids that are thought to be in it.
type known struct {
	info     Info     // immutable
	messages []string // guarded by world.mu
}

// crowded is how many messages a mailbox gets before they are deleted rather than added to.
const crowded = 120

// meet adds a mailbox, or renews a public one.
func (w *world) meet(info Info) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, b := range w.boxes {
		if b.info.Box == info.Box {
			if b.info.Created < info.Created {
				w.boxes[i] = &known{info: info}
			}
			return
		}
	}
	w.boxes = append(w.boxes, &known{info: info})
}

// forget drops those that expired some time ago. A while longer they are good for operations that must fail.
func (w *world) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	limit := time.Now().Add(-2 * time.Second).UnixNano()
	w.boxes = slices.DeleteFunc(w.boxes, func(b *known) bool { return b.info.Expires < limit })
}

// all returns the mailboxes.
func (w *world) all() []Info {
	w.mu.Lock()
	defer w.mu.Unlock()
	infos := make([]Info, 0, len(w.boxes))
	for _, b := range w.boxes {
		infos = append(infos, b.info)
	}
	return infos
}

// lasting is how many mailboxes live long.
func (w *world) lasting() (n int) {
	for _, info := range w.all() {
		if info.TTL >= long {
			n++
		}
	}
	return n
}

// pick returns a mailbox, or false if there is none.
func (w *world) pick(which uint64) (Info, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.boxes) == 0 {
		return Info{}, false
	}
	return w.boxes[which%uint64(len(w.boxes))].info, true
}

// saw notes an id, from an acknowledgement or a delivery. One that was taken and comes again may be deleted twice, which is as well.
func (w *world) saw(box, id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if b := w.find(box); b != nil && !slices.Contains(b.messages, id) {
		b.messages = append(b.messages, id)
	}
}

// holds replaces the ids of a mailbox by what a LIST said.
func (w *world) holds(box string, ids []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if b := w.find(box); b != nil {
		b.messages = slices.Clone(ids)
	}
}

// full reports whether a mailbox has enough messages.
func (w *world) full(box string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := w.find(box)
	return b != nil && len(b.messages) > crowded
}

// take picks up to n neighbouring ids of a mailbox. They are forgotten, unless keep is set.
func (w *world) take(box string, which uint64, n int, keep bool) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := w.find(box)
	if b == nil || len(b.messages) == 0 {
		return nil
	}
	from := int(which % uint64(len(b.messages)))
	to := min(from+n, len(b.messages))
	ids := slices.Clone(b.messages[from:to])
	if !keep {
		b.messages = slices.Delete(b.messages, from, to)
	}
	return ids
}

// find REQUIRES: mu.
func (w *world) find(box string) *known {
	for _, b := range w.boxes {
		if b.info.Box == box {
			return b
		}
	}
	return nil
}
