// Package crash shows that the broker keeps its promises when it is killed (protocol sections 4, 5 and 8).
//
// A run is a chain of lives of one broker on one data directory. In each life many nats.go connections work at once (requests,
// publishes with a flush, deletions of both kinds, creations, listings, subscriptions, queue groups), until the process gets
// SIGKILL at a random instant, in some lives while it still starts. The next life begins with a reading of everything there is. What was called and what came back
// makes a [History], and a [Checker] goes over it: it knows the protocol's promises, and nothing of how the broker keeps them.
//
// What a kill left without an answer may have happened or not, but only one of the two: once the broker has shown which, it stays so.
//
// To run it:
//
//	go test ./specs/crash                          # 15 kills
//	go test ./specs/crash -kills 200 -timeout 30m  # the long run, make test-crash
//	go test ./specs/crash -seed 42                 # the same operations and the same instants, counted in operations, again
//	go test ./specs/crash -sync never              # a killed process, unlike a power failure, loses nothing in any mode
//
// Without MQ9_BIN, which names a binary, the broker is built with the race detector.
//
// A failure prints the seed, the violations and the file with the history, one JSON object on a line. The checker is itself
// tested: histories with one violation of each kind, to which it must object.
package crash
