package config

// Change is a key whose value differs between two loads.
type Change struct {
	Key      *Key
	From, To string // as they may be shown
}

// Reloaded compares what a broker runs with to what was loaded since. It returns what the broker runs with from now on, which
// has the new values of the keys that can be reloaded and the old ones of the others; the changes that this applies; and
// those that wait for a restart. Neither l nor next is changed. Both are of one table, and loaded without an error.
func (l *Loaded) Reloaded(next *Loaded) (running *Loaded, applied, waiting []Change) {
	running = &Loaded{Config: l.Config, File: next.File, Values: append([]Value(nil), l.Values...), Notes: next.Notes}
	for i := range running.Values {
		was, now := &running.Values[i], &next.Values[i]
		if was.text == now.text {
			*was = *now // it may stand elsewhere
			continue
		}
		change := Change{now.Key, was.Shown(), now.Shown()}
		if !now.Key.Reload {
			waiting = append(waiting, change)
			continue
		}
		if err := now.Key.set(&running.Config, now.text); err != nil { // it was good a moment ago: the machine has changed
			change.To = err.Error()
			waiting = append(waiting, change)
			continue
		}
		applied = append(applied, change)
		*was = *now
	}
	return running, applied, waiting
}
