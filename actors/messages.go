package actors

import "github.com/mq9-broker/broker/mq9"

// The operations that clients ask of the broker. Each is answered exactly once: refuse and the answers of its own are
// mutually exclusive, since giving one takes the callback away. An operation belongs to the actor that handles it. SENDs are in run.go.

// operation is what somebody waits for.
type operation interface {
	// refuse answers with an error, unless an answer was given or handed on.
	refuse(err *mq9.Error)
}

// errCrashed answers the operation at which an actor crashed.
var errCrashed = mq9.ErrInternal

// take returns *callback and leaves nil, so that an answer is given once.
func take[F any](callback *F) (taken F) {
	taken = *callback
	var none F
	*callback = none
	return taken
}

type (
	// remove deletes a message.
	remove struct {
		id   mq9.MailID
		msg  mq9.MsgID
		done func(existed bool, err *mq9.Error)
	}

	// list reads a page of what is stored.
	list struct {
		id       mq9.MailID
		page     mq9.PageRequest
		maxBytes int
		done     func(mq9.ListReply, *mq9.Error)
	}

	// create makes or confirms a mailbox. The router turns it into a mailbox or forwards it to the one that exists.
	create struct {
		account string
		request mq9.CreateRequest
		done    func(mq9.CreateReply, *mq9.Error)
	}

	// subscribe attaches a subscription.
	subscribe struct {
		sub  *Subscription
		done func(*mq9.Error)
	}
)

func (o *remove) refuse(err *mq9.Error) { o.answer(false, err) }

func (o *remove) answer(existed bool, err *mq9.Error) {
	if done := take(&o.done); done != nil {
		done(existed, err)
	}
}

func (o *list) refuse(err *mq9.Error) {
	if done := take(&o.done); done != nil {
		done(mq9.ListReply{}, err)
	}
}

func (o *create) refuse(err *mq9.Error) { o.answer(mq9.CreateReply{}, err) }

func (o *create) answer(reply mq9.CreateReply, err *mq9.Error) {
	if done := take(&o.done); done != nil {
		done(reply, err)
	}
}

func (o *subscribe) refuse(err *mq9.Error) {
	if done := take(&o.done); done != nil {
		done(err)
	}
}

func (o *remove) about() mq9.MailID    { return o.id }
func (o *list) about() mq9.MailID      { return o.id }
func (o *subscribe) about() mq9.MailID { return o.sub.key.id }

type (
	// resume says that a subscription's outlet has room again.
	resume struct{ sub *Subscription }

	// leave ends a subscription.
	leave struct {
		sub    *Subscription
		closed bool // the connection ended
		done   func()
	}
)

func (o *leave) refuse(*mq9.Error) { o.answer() }

func (o *leave) answer() {
	if done := take(&o.done); done != nil {
		done()
	}
}
