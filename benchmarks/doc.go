// Package benchmarks is where the broker is measured. What is measured is in its directories:
//
//	load         the load generator: the engine of `mq9 bench` and of the comparisons
//	compare      side by side with other brokers: `make bench` writes RESULTS.md here, `make bench-quick` prints the table
//	persistence  the store alone
//	scale        what numbers cost: memory for each mailbox, subscription and connection
//
// The micro-benchmarks of hot paths are beside the code, in files bench*_test.go; `make bench-compare REF=...` sets them
// against another commit's.
package benchmarks
