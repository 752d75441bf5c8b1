package frontend

import (
	"cmp"
	"context"
	"errors"
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/mq9-broker/broker/actors"
	"github.com/mq9-broker/broker/frontend/admin"
	"github.com/mq9-broker/broker/mq9"
)

// face is the server as package admin sees it.
type face struct{ s *Server }

var _ admin.Broker = face{}

// Ready implements admin.Broker.
func (f face) Ready() error { return f.s.ready() }

// sessionList is who is connected now, in no order.
func (s *Server) sessionList() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*session, 0, len(s.mu.sessions))
	for session := range s.mu.sessions {
		list = append(list, session)
	}
	return list
}

// Activity implements admin.Broker.
func (f face) Activity(status *admin.Status) {
	total := f.connections(status)
	stats := f.s.broker.Stats()
	status.Mailboxes = admin.MailboxCounts{
		Public: stats.Public, Private: stats.Private, Created: stats.Created, Expired: stats.Expired,
	}
	status.Groups, status.Restarts = stats.Groups, stats.Restarts
	status.Refusals = f.s.refusals.byCode()
	status.Tiers, status.Traffic = map[string]admin.Tier{}, map[string]admin.Traffic{}
	for p := range mq9.Priority(mq9.Priorities) {
		c := &stats.ByPriority[p]
		status.Tiers[p.String()] = admin.Tier{
			Messages: c.Stored.Messages, Bytes: c.Stored.Bytes, Durable: p.Durable(), Counted: stats.Counted || !p.Durable(),
		}
		status.Traffic[p.String()] = admin.Traffic{
			Published: uint64(c.Published.Messages), PublishedBytes: uint64(c.Published.Bytes),
			Delivered: total[p].messages, DeliveredBytes: total[p].bytes, Redelivered: c.Redelivered,
			Deleted: uint64(c.Deleted.Messages), Expired: uint64(c.Expired.Messages),
		}
	}
}

// connections counts the sessions and what they have, and returns what was delivered, now ended ones included.
func (f face) connections(status *admin.Status) delivered {
	s := f.s
	s.mu.Lock()
	defer s.mu.Unlock() // so that no session ends meanwhile and is missed, or counted twice
	total := s.mu.past
	status.Connections = admin.ConnectionCounts{Now: len(s.mu.sessions), Total: s.mu.served}
	for session := range s.mu.sessions {
		view := session.box.look()
		total.add(view.delivered)
		if view.slow {
			status.Connections.Slow++
		}
		boxes, watches, plain := session.subs.counts()
		status.Subscriptions.Mailbox += boxes
		status.Subscriptions.Discovery += watches
		status.Subscriptions.Plain += plain
	}
	return total
}

// Mailboxes implements admin.Broker.
func (f face) Mailboxes(ctx context.Context, page admin.Page) (admin.MailboxPage, error) {
	views, next, err := f.s.broker.Mailboxes(ctx, page.After, page.Limit)
	result := admin.MailboxPage{Mailboxes: make([]admin.Mailbox, 0, len(views)), Next: next}
	for i := range views {
		v := &views[i]
		m := admin.Mailbox{
			Public: v.Public, Account: v.Account, Desc: v.Desc, CreatedAt: v.Created, ExpiresAt: v.Expires, MaxInflight: v.MaxInflight,
			Counted: v.Known, Depth: map[string]admin.Depth{}, Subscriptions: v.Subscriptions, Waiting: v.Waiting,
			Groups: v.Groups, Members: v.Members,
		}
		if v.Public {
			m.Name = v.Name
		} else {
			m.Hash = v.Name
		}
		for p, d := range v.Depth {
			m.Depth[mq9.Priority(p).String()] = admin.Depth{Messages: d.Messages, Bytes: d.Bytes}
		}
		result.Mailboxes = append(result.Mailboxes, m)
	}
	return result, pageError(err)
}

// Groups implements admin.Broker.
func (f face) Groups(ctx context.Context, page admin.Page) (admin.GroupPage, error) {
	views, next, err := f.s.broker.Groups(ctx, page.After, page.Limit)
	result := admin.GroupPage{Groups: make([]admin.Group, 0, len(views)), Next: next}
	for i := range views {
		v := &views[i]
		g := admin.Group{
			Mailbox: v.Mailbox, Public: v.Public, Account: v.Account, Group: hide(v.Group), Held: v.Held, Size: v.Size,
			Members: make([]admin.Member, 0, len(v.Members)),
		}
		for _, m := range v.Members {
			g.Members = append(g.Members, admin.Member(m))
		}
		result.Groups = append(result.Groups, g)
	}
	return result, pageError(err)
}

// pageError says how a page failed.
func pageError(err error) error {
	switch {
	case errors.Is(err, actors.ErrCursor):
		return mq9.Errorf(mq9.CodeBadRequest, "%v", err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return mq9.Errorf(mq9.CodeUnavailable, "the broker is too busy to answer: try again")
	}
	return err
}

// Connections implements admin.Broker.
func (f face) Connections(ctx context.Context, page admin.Page) (admin.ConnectionPage, error) {
	var after uint64
	if page.After != "" {
		var err error
		if after, err = strconv.ParseUint(page.After, 10, 64); err != nil {
			return admin.ConnectionPage{}, pageError(actors.ErrCursor)
		}
	}
	type numbered struct {
		id uint64
		of *session
	}
	var list []numbered
	for _, session := range f.s.sessionList() {
		if id := session.cid.Load(); id > after {
			list = append(list, numbered{id, session})
		}
	}
	slices.SortFunc(list, func(a, b numbered) int { return cmp.Compare(a.id, b.id) })
	result := admin.ConnectionPage{Connections: []admin.Connection{}}
	if len(list) > page.Limit {
		list = list[:page.Limit]
		result.Next = strconv.FormatUint(list[page.Limit-1].id, 10)
	}
	for _, n := range list {
		if ctx.Err() != nil {
			return result, pageError(ctx.Err())
		}
		if c, ok := f.s.nats.describe(n.id); ok {
			n.of.describe(&c)
			result.Connections = append(result.Connections, c)
		}
	}
	return result, nil
}

// describe says what the embedded server knows of a connection; false when it is gone.
func (e *embedded) describe(id uint64) (admin.Connection, bool) {
	z, err := e.server.Connz(&server.ConnzOptions{CID: id, Username: true})
	if err != nil || len(z.Conns) != 1 {
		return admin.Connection{}, false
	}
	info := z.Conns[0]
	return admin.Connection{
		ID: id, Name: hide(info.Name), Account: cmp.Or(info.Account, globalAccount), Since: info.Start.UTC(),
		Language: info.Lang, Library: info.Version,
	}, true
}

// describe adds what the front knows of its own.
func (s *session) describe(c *admin.Connection) {
	view := s.box.look()
	boxes, watches, plain := s.subs.counts()
	c.Address = s.raw.RemoteAddr().String()
	c.Subscriptions, c.Plain = boxes+watches, plain
	c.Inflight, c.Waiting, c.Slow = view.inflight, view.waiting, view.slow
	for p := range view.delivered {
		c.Delivered += view.delivered[p].messages
	}
}

// secret matches what every private mail_id looks like.
var secret = regexp.MustCompile(`[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}`)

// hide takes out of a name that a client chose what may be a private mail_id.
func hide(name string) string { return secret.ReplaceAllLiteralString(name, "(private)") }

// shown is the name under which a mailbox may be shown.
func (s *Server) shown(id mq9.MailID) string {
	if id.Private() {
		return s.broker.Hash(id)
	}
	return string(id)
}

// Limits implements admin.Broker.
func (f face) Limits() map[string]admin.Limit {
	limits, usage, settings := f.s.broker.Limits(), f.s.broker.Usage(), f.s.nats.settings.Load()
	most := 0
	sessions := f.s.sessionList()
	for _, session := range sessions {
		most = max(most, session.subs.size())
	}
	return map[string]admin.Limit{
		"max-mailboxes":        {Value: int64(limits.Mailboxes), Used: usage.Mailboxes},
		"max-mailbox-messages": {Value: int64(limits.MailboxMessages), Used: usage.MailboxMessages},
		"max-memory":           {Value: limits.Memory, Used: usage.Memory},
		"max-mailbox-memory":   {Value: limits.MailboxMemory, Used: usage.MailboxMemory},
		"max-connections":      {Value: int64(max(0, settings.maxConns)), Used: int64(len(sessions)), Fixed: true},
		"max-subscriptions":    {Value: int64(settings.maxSubs), Used: int64(most), Fixed: true},
	}
}

// SetLimits implements admin.Broker.
func (f face) SetLimits(values map[string]int64) error {
	limits := f.s.broker.Limits()
	for name, value := range values {
		switch name {
		case "max-mailboxes":
			limits.Mailboxes = int(min(value, math.MaxInt))
		case "max-mailbox-messages":
			limits.MailboxMessages = int(min(value, math.MaxInt))
		case "max-memory":
			limits.Memory = value
		case "max-mailbox-memory":
			limits.MailboxMemory = value
		default:
			return mq9.Errorf(mq9.CodeConflict, "limit %s is fixed while the broker runs: start it again with another", name)
		}
	}
	f.s.broker.SetLimits(limits)
	return nil
}
