// Package harness holds what the specs are written with: broker processes, clients, feeds of what a subscription received, and bare sockets.
//
// It is test code: its functions fail the running Ginkgo spec instead of returning errors, register what they open with
// DeferCleanup, and belong to the goroutine of that spec unless their comment says otherwise.
package harness
