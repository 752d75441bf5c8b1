package crash

import "time"

// mailboxes are all that ever had one address: one for a private mailbox, one after the other for a public name.
type mailboxes struct {
	box        string
	all        []*incarnation // by creation
	messages   []*message     // that may be there, or were until lately
	highest    string         // the highest msg_id so far
	before     string         // the same, when this life began
	creates    int            // CREATEs under way
	unknown    int            // CREATEs whose outcome nobody knows
	lastCreate int64          // when the last CREATE ended
}

// incarnation is one mailbox.
type incarnation struct {
	info  Info
	known int // the place of the first reply that told of it
	news  int // how many CREATEs were told that they made it
}

func (c *Checker) name(box string) *mailboxes {
	n := c.names[box]
	if n == nil {
		n = &mailboxes{box: box}
		c.names[box] = n
	}
	return n
}

// aliveAll returns the mailbox that certainly lived from a place in the history, which was at the given time, up to now.
func (c *Checker) aliveAll(box string, seq int, at int64) *incarnation {
	n := c.names[box]
	if n == nil {
		return nil
	}
	for _, inc := range n.all {
		if inc.known < seq && inc.info.Created <= at && c.now < inc.info.Expires-slack {
			return inc
		}
	}
	return nil
}

// at returns the mailbox in which something happened that the broker stamped with a time.
func (n *mailboxes) at(stamp int64) *incarnation {
	for i := len(n.all) - 1; i >= 0; i-- {
		if inc := n.all[i]; inc.info.Created <= stamp {
			return inc
		}
	}
	return nil
}

// created judges the reply to a CREATE.
func (c *Checker) created(k *call, info *Info) {
	if k.Box != "" {
		n := c.name(k.Box)
		n.creates--
		n.lastCreate = c.now
	}
	n := c.name(info.Box)
	if info.Expires != info.Created+info.TTL*int64(time.Second) {
		c.blame("mailbox %s of %d s expires after %v", info.Box, info.TTL, time.Duration(info.Expires-info.Created))
	}
	var inc *incarnation
	for _, known := range n.all {
		if known.info.Created == info.Created {
			inc = known
		}
	}
	if inc == nil {
		inc = c.discoveredNew(k, n, info)
	}
	if was := inc.info; was.TTL != info.TTL || was.Expires != info.Expires || was.Public != info.Public {
		c.blame("mailbox %s changed: it was %+v and is %+v", info.Box, was, *info)
	}
	if info.New {
		inc.news++
		if inc.info.Desc = k.Info.Desc; inc.news > 1 {
			c.blame("mailbox %s was made by %d CREATEs at once", info.Box, inc.news)
		}
		if info.TTL != k.Info.TTL {
			c.blame("mailbox %s was asked to live %d s and got %d s", info.Box, k.Info.TTL, info.TTL)
		}
	}
	if k.At > info.Expires+slack {
		c.blame("mailbox %s was confirmed %v after its expiry", info.Box, time.Duration(k.At-info.Expires))
	}
	if private := k.Box == "" && k.Info.Box == ""; private && !info.New {
		c.blame("a new private mailbox got the address of an old one")
	}
}

// discoveredNew notes a mailbox that no reply told of before.
func (c *Checker) discoveredNew(k *call, n *mailboxes, info *Info) *incarnation {
	inc := &incarnation{info: *info, known: c.seq}
	c.totals.Mailboxes++
	if len(n.all) > 0 {
		last := n.all[len(n.all)-1]
		switch {
		case !info.Public:
			c.blame("private mailbox %s was made twice", info.Box)
		case info.Created < last.info.Created:
			c.blame("mailbox %s: its creation went back in time", info.Box)
		case info.Created < last.info.Expires-slack:
			c.blame("mailbox %s was forgotten: made again %v before it expires", info.Box, time.Duration(last.info.Expires-info.Created))
		}
	}
	if info.Created > c.now+slack || info.Created < k.At-slack && info.New {
		c.blame("mailbox %s was created at another time than now", info.Box)
	}
	n.all = append(n.all, inc)
	return inc
}

// checkLate judges a success: the mailbox must not be past its time when it was called.
func (c *Checker) checkLate(k *call) {
	n := c.name(k.Box)
	if len(n.all) == 0 {
		if n.creates == 0 && n.unknown == 0 {
			c.blame("%s of a mailbox that nobody created", k.Kind)
		}
		return
	}
	last := n.all[len(n.all)-1].info
	again := n.creates > 0 || n.lastCreate >= last.Expires-slack // it may have been created again
	if k.At > last.Expires+slack && !again {
		c.blame("%s succeeded on mailbox %s %v after its expiry", k.Kind, k.Box, time.Duration(k.At-last.Expires))
	}
}

// discovered judges a list of public mailboxes.
func (c *Checker) discovered(k *call, e Event) {
	shown := map[string]Info{}
	for _, info := range e.Infos {
		n := c.name(info.Box)
		if _, twice := shown[info.Box]; twice {
			c.blame("%s is listed twice", info.Box)
		}
		shown[info.Box] = info
		for _, inc := range n.all {
			switch was := inc.info; {
			case !was.Public:
				c.blame("private mailbox %s is listed", info.Box)
			case was.Created != info.Created:
			case was.TTL != info.TTL || was.Expires != info.Expires || inc.news > 0 && was.Desc != info.Desc:
				c.blame("mailbox %s is listed as %+v and is %+v", info.Box, info, was)
			}
		}
		if k.At > info.Expires+late {
			c.blame("%s is listed %v after its expiry", info.Box, time.Duration(k.At-info.Expires))
		}
		if len(n.all) == 0 && n.creates == 0 && n.unknown == 0 {
			c.blame("%s is listed and nobody created it", info.Box)
		}
	}
	if e.More {
		return
	}
	for box, n := range c.names {
		inc := c.aliveAll(box, k.seq, k.At)
		if inc == nil || !inc.info.Public {
			continue
		}
		if _, ok := shown[box]; !ok {
			c.blame("public mailbox %s is not listed %v before it expires", n.box, time.Duration(inc.info.Expires-c.now))
		}
	}
}
