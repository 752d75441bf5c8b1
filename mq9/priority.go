package mq9

// Priority orders the messages of a mailbox: the smaller value is delivered first (protocol section 5).
type Priority uint8

// The three priorities, most pressing first.
const (
	Critical Priority = iota
	Urgent
	Normal

	// Priorities is how many there are; a Priority below it is valid.
	Priorities = 3
)

var priorityNames = [Priorities]string{"critical", "urgent", "normal"}

// String returns the name used in subjects and in JSON.
func (p Priority) String() string {
	if p < Priorities {
		return priorityNames[p]
	}
	return "invalid"
}

// Durable reports whether messages of this priority survive a restart of the broker.
func (p Priority) Durable() bool { return p < Normal }

// ParsePriority returns the priority that a subject's last token names.
func ParsePriority(token string) (Priority, bool) {
	for p, name := range priorityNames {
		if token == name {
			return Priority(p), true
		}
	}
	return 0, false
}

// PrioritySet is the set of priorities that a subscription asks for.
type PrioritySet uint8

// AllPriorities is what the pattern `….*` asks for.
const AllPriorities PrioritySet = 1<<Priorities - 1

// Only returns the set that holds p alone.
func Only(p Priority) PrioritySet { return 1 << p }

// Has reports whether p is in the set.
func (s PrioritySet) Has(p Priority) bool { return s&(1<<p) != 0 }
