package frontend

import "sync"

// admission knows whether the embedded server has accepted a connection's CONNECT: before that no mq9 frame acts. It is safe
// for concurrent use.
type admission struct {
	changed chan struct{} // buffered by one: admitted grew

	mu       sync.Mutex
	admitted int    // CONNECTs that were accepted
	info     []byte // the JSON of the last INFO, as the client got it
}

func newAdmission() *admission { return &admission{changed: make(chan struct{}, 1)} }

// accept notes that the embedded server answered a PING that stood behind so many CONNECTs.
func (a *admission) accept(connects int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if connects <= a.admitted {
		return
	}
	a.admitted = connects
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// state returns how many CONNECTs were accepted.
func (a *admission) state() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.admitted
}

// keepInfo remembers an INFO that goes to the client.
func (a *admission) keepInfo(json []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.info = json
}

// lastInfo returns what keepInfo remembered.
func (a *admission) lastInfo() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.info
}
