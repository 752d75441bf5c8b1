package frontend

// verb is a client's operation as it stands at the head of a control line.
type verb struct {
	name  string // lower case
	event event  // what its line is; evMessage stands for PUB and HPUB
	blank bool   // a blank must follow
	junk  bool   // the rest of the line is ignored
}

// verbs are those that nats-server takes from clients. A client's -ERR makes nats-server close.
var verbs = []*verb{
	{name: "pub", event: evMessage, blank: true},
	{name: "hpub", event: evMessage, blank: true},
	{name: "ping", event: evPing, junk: true},
	{name: "pong", event: evPass, junk: true},
	{name: "sub", event: evSub, blank: true},
	{name: "unsub", event: evUnsub, blank: true},
	{name: "connect", event: evConnect},
	{name: "info", event: evPass},
	{name: "+ok", event: evPass, junk: true},
	{name: "-err", event: evMalformed, blank: true},
}

// matchVerb finds the verb at the head of data. With none it says why: evMore while data may still become one,
// evMalformed when nats-server refuses it, evPoison for HMSG, which nats-server's parser takes from clients by accident.
func matchVerb(data []byte) (*verb, event) {
	undecided := false
	for _, v := range verbs {
		switch n := common(data, v.name); n {
		case len(v.name):
			return v, 0
		case len(data):
			undecided = true
		}
	}
	if undecided {
		return nil, evMore
	}
	if common(data, "hm") == len("hm") {
		return nil, evPoison
	}
	return nil, evMalformed
}

// common counts the bytes that data and name have in common at their heads, whatever the case of letters.
func common(data []byte, name string) int {
	n := 0
	for n < len(data) && n < len(name) {
		b := data[n]
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		if b != name[n] {
			break
		}
		n++
	}
	return n
}
