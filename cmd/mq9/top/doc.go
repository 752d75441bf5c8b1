// Package top is the command `mq9 top`: a live view of a broker in a terminal, over the broker's admin API.
//
// It looks once a second (see --interval), shows the difference of two looks as rates, and lists mailboxes, queue groups and clients. Into a
// pipe, or with --once, it prints one view; with --json the objects of the API. It shows what the API says, so of a private
// mailbox a hash alone.
//
//	command.go  flags, and which of these ways it is
//	look.go     what is asked of the broker
//	rates.go    rates and latencies out of two looks
//	model.go    the live view: keys, and what they change
//	view.go     how it is written
//	rows.go     the tables' rows
//
// Nothing here is for more than one goroutine at a time.
package top
