// Package model checks mailboxes, subscriptions and queue groups (protocol sections 4 to 6) against a model of their rules.
//
// A seed makes a [Plan]: a list of steps over a few mailboxes and connections (plan.go). The plan is run against a real broker over
// bare sockets (run.go, peer.go), and the [world] (world.go, judge.go), which is the protocol written down once more and in its plainest form, judges
// every delivery. A plan that fails is made smaller (shrink.go) before it is shown.
//
// # Moments
//
// Each operation that takes effect is a moment. The broker is free to choose when it sends, but not what: for every
// delivery there must be a moment, not before that of the delivery ahead of it, at which exactly this message was due on
// that subscription. A connection that reads and is waited for leaves no freedom: its order is exact. A connection that
// stands still may have been sent a window's worth before something more pressing came, and no more.
//
// # Queue groups
//
// Which member gets a message is the broker's choice, within rules: one holder at a time; a pattern that matches; never
// more than max_inflight; never what was deleted; nothing while something more pressing waits that this member could
// take; nobody is given more while another holds two fewer; what can be taken is taken.
package model
