// Package admin is what a broker shows of itself over HTTP, and the little that it lets be changed there: health and
// readiness, the admin API under /api/v1, and metrics for Prometheus.
//
//	GET  /                     all of this for people: package page
//	GET  /healthz              the process is alive
//	GET  /readyz               it should get traffic: durable writes work, the embedded server is up, it is not stopping
//	GET  /metrics              for Prometheus
//	GET  /api/v1/status        what the broker does now: counters, tiers, latencies, store, limits
//	GET  /api/v1/events        the same every second, as Server-Sent Events
//	GET  /api/v1/mailboxes     public ones by name, private ones as salted hashes
//	GET  /api/v1/connections   clients, with what is in flight to them
//	GET  /api/v1/groups        queue groups: members, and who holds how much
//	GET  /api/v1/limits        and PUT
//	GET  /api/v1/log-level     and PUT
//	POST /api/v1/snapshot      of the durable tiers, into a new directory
//	POST /api/v1/send          a message, by hand
//	POST /api/v1/watch         a mailbox, as Server-Sent Events
//	GET  /api/v1/openapi.json  all of this, for programs
//
// The package knows the broker through [Broker] and [Store], which its user implements; it imports nothing of the front.
//
// # Secrets
//
// A private mail_id appears nowhere: not on a page, in a label, in an error text. What names a private mailbox here is a hash with a
// salt of the process, so it is good for telling two mailboxes apart and for nothing else.
//
// # Who may ask
//
// Reading is open to whoever reaches the address, which is loopback unless configured otherwise. Changing is for programs on
// the broker's own machine, and no web page of another origin can make a browser do it; see guard.go. Sending and watching by hand is open like
// reading, to whoever knows the mail_id, unless the broker's clients must authenticate.
//
// [Server] and [Instruments] are safe for concurrent use.
package admin
