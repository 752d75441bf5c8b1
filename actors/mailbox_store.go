package actors

import "github.com/mq9-broker/broker/mq9"

// What a mailbox stores: SEND, DELETE, LIST, and the bodies that are on disk.

type (
	// removed says that a durable message's deletion is on disk, or why not.
	removed struct {
		id  mq9.MsgID
		op  *remove
		err error
	}
)

func (r *removed) refuse(err *mq9.Error) { r.op.answer(false, err) }

// store accepts the messages of a run, in order. The durable ones go to the store together.
func (m *mailbox) store(r *run) {
	now := m.broker.config.Now().UnixNano()
	var durable *parcel
	for i := range r.sends {
		switch message := m.send(&r.sends[i], now); {
		case message == nil:
		case message.Priority.Durable():
			if durable == nil {
				rest := len(r.sends) - i
				durable = &parcel{messages: make([]*mq9.Message, 0, rest), receipts: make([]Receipt, 0, rest)}
			}
			durable.messages = append(durable.messages, message)
			durable.receipts = append(durable.receipts, r.sends[i].receipt) // who has it too until all are handed over: this may crash
		default:
			take(&r.sends[i].receipt).Sent(message.ID, nil, false)
		}
	}
	shown := durable == nil || len(durable.messages) < len(r.sends) // something can be seen by now
	if durable != nil {
		b, at := m.broker, m.at
		b.store.Commit(mq9.AppendMessages{Number: at.box.Number, Messages: durable.messages}, func(err error) {
			durable.err = err
			b.land(at, durable)
		})
	}
	if shown {
		m.stir()
	}
	r.put()
}

// send accepts a message at that time, Unix nanoseconds: gives it an id and a place in its queue, where it can be seen if its tier
// holds it now (protocol section 5). It returns nil for one that was refused.
func (m *mailbox) send(op *send, now int64) *mq9.Message {
	if err := m.load(); err != nil {
		op.refuse(err)
		return nil
	}
	number, err := m.broker.ids.take()
	if err != nil {
		op.refuse(m.unavailable("reserving ids", err))
		return nil
	}
	if err := m.admit(&op.draft); err != nil {
		op.refuse(err)
		return nil
	}
	m.lastID = mq9.NewMsgID(number, op.draft.Priority)
	m.lastAt = max(m.lastAt, now)
	message := &mq9.Message{
		ID: m.lastID, Priority: op.draft.Priority, At: m.lastAt,
		Header: op.draft.Header, Payload: op.draft.Payload,
	}
	queue := &m.queues[message.Priority]
	if message.Priority.Durable() {
		queue.add(newEntry(message.Entry(), nil, storing))
	} else {
		queue.add(newEntry(message.Entry(), message, stored))
		m.tally().published[message.Priority].add(1, int64(message.Size()))
	}
	return message
}

// remove deletes one message (protocol section 6). A durable one is hidden at once and answered when its deletion is on disk.
func (m *mailbox) remove(op *remove) {
	if err := m.load(); err != nil {
		op.refuse(err)
		return
	}
	p := op.msg.Priority()
	var e *entry
	if p < mq9.Priorities {
		e = m.queues[p].find(op.msg)
	}
	switch {
	case e == nil || e.state == storing: // an id that nobody was told yet
		op.answer(false, nil)
	case !p.Durable():
		m.freed(int(e.size))
		m.tally().deleted[p].add(1, int64(e.size))
		m.queues[p].remove(op.msg)
		m.tellGroups(op.msg)
		op.answer(true, nil)
	default:
		// A second DELETE goes to the store too: it is answered behind the first, by what is left then.
		e.state = deleting
		at, done := m.at, &removed{id: op.msg, op: op}
		change := mq9.DeleteMessage{Number: at.box.Number, Priority: p, ID: op.msg, First: m.queues[p].first()}
		m.broker.store.Commit(change, func(err error) {
			done.err = err
			if !at.send(done) {
				done.refuse(mq9.ErrNoMailbox)
			}
		})
	}
}

// removed takes a deleted durable message out of the index, or shows it again if the store failed.
func (m *mailbox) removed(r *removed) {
	if m.phase == ending {
		r.refuse(mq9.ErrNoMailbox)
		return
	}
	if err := m.load(); err != nil {
		r.refuse(err)
		return
	}
	queue := &m.queues[r.id.Priority()]
	if r.err != nil {
		if e := queue.find(r.id); e != nil && e.state == deleting {
			e.state = stored
		}
		r.refuse(mq9.AsError(r.err))
	} else {
		existed := false
		if e := queue.find(r.id); e != nil {
			m.tally().deleted[r.id.Priority()].add(1, int64(e.size))
			existed = queue.remove(r.id)
			m.tellGroups(r.id)
		}
		r.op.answer(existed, nil)
	}
	m.stir()
}

// list answers at once, or when what was sent before it is stored.
func (m *mailbox) list(op *list) {
	if err := m.load(); err != nil {
		op.refuse(err)
		return
	}
	m.waiting = append(m.waiting, waiter{op, m.lastID})
	m.listWaiting()
}

// listWaiting answers the LISTs before which nothing is still being stored.
func (m *mailbox) listWaiting() {
	for len(m.waiting) > 0 {
		for p := range m.queues {
			if id, storing := m.queues[p].firstStoring(); storing && id <= m.waiting[0].behind {
				return
			}
		}
		op := m.waiting[0].op
		m.waiting = m.waiting[1:]
		reply, err := m.page(op)
		if done := take(&op.done); done != nil {
			done(reply, err)
		}
	}
	m.waiting = nil
}

// page is one page of LIST in delivery order, in at most op.maxBytes of JSON.
func (m *mailbox) page(op *list) (mq9.ListReply, *mq9.Error) {
	reply := mq9.ListReply{MailID: op.id, Messages: []mq9.ListEntry{}}
	var from view
	if op.page.After != "" {
		id, ok := mq9.ParseMsgID(op.page.After)
		if !ok || id.Priority() >= mq9.Priorities {
			return reply, mq9.Errorf(mq9.CodeBadRequest, "after is no msg_id: give the last msg_id of the page before")
		}
		for passed := range id.Priority() {
			from.cursor[passed] = pastAll
		}
		from.cursor[id.Priority()] = id
	}
	most := min(op.page.Limit, (op.maxBytes-len(reply.Encode()))/mq9.MaxListEntryBytes)
	for p := range mq9.Priority(mq9.Priorities) {
		for e := m.queues[p].after(from.cursor[p]); e != nil; e = m.queues[p].after(e.id) {
			if e.state != stored {
				continue
			}
			if len(reply.Messages) >= most {
				reply.More = true
				return reply, nil
			}
			reply.Messages = append(reply.Messages, mq9.NewListEntry(
				mq9.Entry{ID: e.id, Priority: p, At: e.at, PayloadSize: int(e.payload)}))
		}
	}
	return reply, nil
}

// pastAll is larger than every id.
const pastAll = mq9.MsgID(1<<64 - 2)

// load makes the mailbox's contents at first use, with the durable part of the index read from the store.
func (m *mailbox) load() *mq9.Error {
	if m.contents != nil {
		return nil
	}
	read := &contents{}
	err := m.broker.store.Index(m.at.box.Number, func(e mq9.Entry) {
		read.queues[e.Priority].add(newEntry(e, nil, stored))
		m.lastAt = max(m.lastAt, e.At)
	})
	if err != nil {
		return m.unavailable("reading the index", err)
	}
	m.contents = read
	var loaded depths
	for p := range m.queues {
		loaded[p] = m.queues[p].held()
	}
	m.found(&loaded)
	m.atRest = nil
	return nil
}

// unavailable logs a failure of the store and makes the answer for the client.
func (m *mailbox) unavailable(doing string, err error) *mq9.Error {
	m.logFailure(doing, err)
	return mq9.ErrUnavailable
}

func (m *mailbox) logFailure(doing string, err error) {
	m.broker.config.Log.Error("the store failed", "mailbox", m.broker.Hash(m.at.box.ID), "doing", doing, "error", err)
}
