// Command compare shows where the broker stands: it runs each row of a table of work on mq9 and on a peer (nats-server, JetStream,
// Redis Streams, a bare disk), says how they compare and whether that reaches the goal.
//
//	make bench         the whole table, on a machine that has nothing else to do
//	make bench-quick   small sizes and two pairs: does it run, and about where are we?
//	go run ./benchmarks/compare [-quick] [-rows a,b] [-pairs N] [-out DIR]
//	go run ./benchmarks/compare -from benchmarks/results.json   the page of that run again, with the notes of today
//
// # How it measures
//
// A row has sides, most often two. A pair is one sample of each side, one after the other; pairs follow each other, so that a machine that
// is slower for a minute is slower for both. What is compared is the ratio within a pair, and the row's figure is the median of
// the ratios; the least and the greatest stand beside it, because a median without its spread says little.
//
// Each sample starts the side's server afresh, as a process with a data directory of its own, mq9 in its default
// configuration but for what the row names. Both sides are driven by this process through nats.go, with the generator of benchmarks/load, same
// sizes, same number in flight. Redis, which does not speak NATS, gets a pipelined writer that costs the client less than nats.go does.
//
// Beside the throughput stands the CPU time that the server itself took for each message while it was measured: it is what a client
// that is the bottleneck cannot hide, as on a machine with few processors it often is.
//
// # What comes out
//
// A table on the terminal; in -out, results.json with every sample and its whole latency histogram (HDR, the compressed
// encoding that all HDR libraries read), RESULTS.md, and charts (SVG). RESULTS.md is written by this command alone. What bounds each row
// is told in notes.md, beside the rows, and is carried over.
//
// # The files
//
//	row.go, metric.go          what a row, a side and a goal are
//	rows.go, crowd.go          the table
//	mailbox.go, plain.go,      the sides
//	stream.go, redis.go, disk.go
//	process.go, server.go      the servers as processes
//	runner.go                  pairs, verdicts
//	machine.go, limits.go      what it ran on, and what that can do at most
//	table.go, record.go, chart.go, report.go   what comes out
//	reread.go                  the report of a run that was
package main
