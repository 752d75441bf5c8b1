package load

import "context"

// Publish publishes all messages and flushes once, at the end: when the flush is answered, a broker that makes it a
// barrier has stored them.
func Publish(ctx context.Context, job Job) (Result, error) {
	r, err := start(ctx, job, false)
	if err != nil {
		return Result{}, err
	}
	defer r.end()
	nc, err := r.open()
	if err != nil {
		return Result{}, err
	}
	payload := r.payload()
	r.restart()
	for range r.Messages {
		if err := nc.Publish(r.Subject, payload); err != nil {
			return Result{}, err
		}
		r.done.Add(1)
		if r.ctx.Err() != nil {
			return Result{}, context.Cause(r.ctx)
		}
	}
	if err := nc.FlushTimeout(flushWait); err != nil {
		return Result{}, err
	}
	// A refusal is written before the PONG, but its handler may still be on its way.
	if err := nc.LastError(); err != nil {
		return Result{}, err
	}
	return r.result(nil), nil
}
