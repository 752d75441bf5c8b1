// Command mq9 is the broker and a client of it: `mq9 serve` runs it, `mq9 version` says what it is, and the commands of
// package client use its mailboxes.
//
// Exit codes: 0 after an orderly end, 1 when something failed, 2 when the command line is wrong; the client commands have
// more, see `mq9 help exit-codes`.
package main
