package frontend

import (
	"sync"

	"github.com/mq9-broker/broker/actors"
	"github.com/mq9-broker/broker/frontend/tracing"
	"github.com/mq9-broker/broker/mq9"
)

// defaultMaxBytes bounds a page when max_payload is unlimited, bytes.
const defaultMaxBytes = 1 << 20

// request is one mq9 publish or request under way. Whatever becomes of it is told once, by answer or refuse, from any goroutine.
// Those of SEND are used again after that.
type request struct {
	session *session
	epoch   *epoch
	bytes   int // what it counts in the barrier
	subject string
	reply   string             // empty for a publish
	verbose bool               // it is owed a +OK if it is not refused
	traced  *tracing.Operation // nil = it is not
	body    []byte             // room for the reply's body
	frames  []byte             // room for the reply
	atOnce  bool               // whoever answers may write to the socket
}

var _ actors.Receipt = (*request)(nil)

// requests are empty but for their room.
var requests = sync.Pool{New: func() any { return &request{} }}

// publish takes the mq9 publish that the parser has found.
func (s *session) publish(tooLarge bool) error {
	p := s.parser.pub
	s.parser.pub = publish{}
	ready, err := s.ready()
	if err != nil {
		return err
	}
	if err := s.flush(); err != nil {
		return err
	}
	r := requests.Get().(*request)
	r.session, r.bytes, r.subject, r.reply, r.verbose = s, len(p.body), p.subject, p.reply, s.connect.Verbose
	var open bool
	if r.epoch, open = s.barrier.begin(r.bytes); !open {
		return errHangUp
	}
	switch {
	case !ready:
		r.reply = "" // nothing is known of the client, not even that it may hold the inbox
		r.refuse(errConnect)
	default:
		s.calls.Lock()
		if tooLarge {
			r.tooLarge()
		} else {
			r.dispatch(p.header, p.body)
		}
		s.calls.Unlock()
	}
	return nil
}

// permitted asks the user's permissions, and refuses if they say no. REQUIRES: session.calls.
func (r *request) permitted() bool {
	if r.session.permissions.mayPublish(r.subject) {
		return true
	}
	r.reply = "" // as from nats-server, a request that is not permitted gets no reply
	r.refuse(r.session.permissions.refusal)
	return false
}

// tooLarge refuses what is over max_payload. REQUIRES: session.calls.
func (r *request) tooLarge() {
	if r.permitted() {
		r.refuse(errTooLarge)
	}
}

// dispatch hands the request to the broker, or refuses it. REQUIRES: session.calls.
func (r *request) dispatch(header int, body []byte) {
	if !r.permitted() {
		return
	}
	if r.session.server.draining.Load() {
		r.refuse(mq9.ErrShuttingDown)
		return
	}
	op, err := r.session.parse(r.subject)
	if err != nil {
		r.refuse(err)
		return
	}
	var lines []byte
	if header >= 0 && op.Verb != mq9.Delete { // DELETE ignores body and headers
		if lines, err = checkHeader(body[:header]); err != nil {
			r.refuse(err)
			return
		}
		body = body[header:]
	}
	switch op.Verb {
	case mq9.Create:
		r.create(body)
	case mq9.Send:
		if t := r.session.server.options.Tracer; t != nil {
			r.traced = t.Publish(lines, r.session.server.shown(op.MailID), op.Priority, len(body))
		}
		r.session.client.Send(op.MailID, actors.Draft{Priority: op.Priority, Header: lines, Payload: body}, r)
	case mq9.Delete:
		if t := r.session.server.options.Tracer; t != nil {
			r.traced = t.Delete(op.MsgID, r.session.server.shown(op.MailID))
		}
		r.session.client.Delete(op.MailID, op.MsgID, r.deleted)
	case mq9.List:
		r.list(op.MailID, body)
	case mq9.Discover:
		r.discover(body)
	}
}

// parse reads the subject of a publish; what it read before it remembers. REQUIRES: calls.
func (s *session) parse(subject string) (mq9.Operation, *mq9.Error) {
	if s.parsed.subject == subject {
		return s.parsed.operation, nil
	}
	op, err := mq9.ParsePublish(subject)
	if err == nil && op.Verb == mq9.Send {
		s.parsed.subject, s.parsed.operation = subject, op
	}
	return op, err
}

func (r *request) create(body []byte) {
	c, err := mq9.ParseCreateRequest(body)
	if err != nil {
		r.refuse(err)
		return
	}
	r.session.client.Create(c, func(reply mq9.CreateReply, err *mq9.Error) {
		if err != nil {
			r.refuse(err)
			return
		}
		r.answer(reply.Encode())
	})
}

// Sent implements actors.Receipt.
func (r *request) Sent(id mq9.MsgID, err *mq9.Error, atOnce bool) {
	if r.traced != nil {
		r.traced.Stored(id, err)
	}
	switch {
	case err != nil:
		r.refuse(err)
	case r.reply == "":
		r.answer(nil)
	default:
		r.atOnce = atOnce
		r.body = mq9.AppendSent(r.body[:0], id)
		r.answer(r.body)
	}
	*r = request{body: r.body, frames: r.frames}
	requests.Put(r)
}

func (r *request) deleted(existed bool, err *mq9.Error) {
	if r.traced != nil {
		r.traced.Deleted(existed, err)
	}
	if err != nil {
		r.refuse(err)
		return
	}
	r.answer(mq9.EncodeDeleted(existed))
}

func (r *request) list(id mq9.MailID, body []byte) {
	if r.reply == "" {
		r.refuse(errNoReply)
		return
	}
	page, err := mq9.ParsePageRequest(body)
	if err != nil {
		r.refuse(err)
		return
	}
	r.session.client.List(id, page, r.session.maxBytes(), func(reply mq9.ListReply, err *mq9.Error) {
		if err != nil {
			r.refuse(err)
			return
		}
		r.answer(reply.Encode())
	})
}

func (r *request) discover(body []byte) {
	if r.reply == "" {
		r.refuse(errEvent)
		return
	}
	page, err := mq9.ParsePageRequest(body)
	if err != nil {
		r.refuse(err)
		return
	}
	r.session.client.Discover(page, r.session.maxBytes(), func(reply mq9.DiscoverReply, err *mq9.Error) {
		if err != nil {
			r.refuse(err)
			return
		}
		r.answer(reply.Encode())
	})
}

// answer tells the client that the request was carried out.
func (r *request) answer(body []byte) {
	if r.verbose {
		r.session.box.write(frameOK)
	}
	if r.reply != "" {
		r.session.reply(r, body)
	}
	r.session.barrier.end(r.epoch, r.bytes)
}

// refuse tells the client that it was not.
func (r *request) refuse(err *mq9.Error) {
	r.session.server.refusals.count(err)
	if r.reply != "" {
		r.answer(err.Encode())
		return
	}
	r.session.box.write(refusePub(r.subject, err))
	r.session.barrier.end(r.epoch, r.bytes)
}

// maxBytes bounds a reply.
func (s *session) maxBytes() int {
	if n := int(s.maxPayload.Load()); n > 0 {
		return n
	}
	return defaultMaxBytes
}
