// Command scale shows what numbers cost: memory per idle mailbox, subscription and connection, the time that wide fan-out
// takes, and how long a broker needs after a restart until a crowd of clients is served again. Each figure is of a broker
// process of its own.
//
//	make build && go run ./benchmarks/scale [-broker bin/mq9] [-n N] mailboxes|subscriptions|connections|fanout|storm|all
//
// Memory is the growth of the process's resident set, divided; the broker runs with GOGC=25, so that garbage
// blurs it little.
package main
