// Package specs says what the broker does, as sentences that are run: one file for each section of the protocol.
//
// Everything here is black-box. The suite builds the mq9 binary (with the race detector), starts it as a process of its own with
// a fresh data directory, and talks to it as its users do: through the nats.go client, or through a bare socket where the
// bytes themselves are the subject. Rules that the broker shares with nats-server run against a stock nats-server too, and the two
// transcripts must be equal.
//
// To read the specification without running it:
//
//	go tool ginkgo run --dry-run -v ./specs
//
// Specs that need no restart and no configuration share one broker and keep apart by using mailboxes of their own. At the end of
// every spec the broker's log must hold no data race, no panic, and nothing that looks like a private mail_id.
//
// The package harness holds what the specs are written with; the package clients runs the same flows through the `nats` command and nats.js.
package specs
