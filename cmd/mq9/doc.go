// Command mq9 is the broker: `mq9 serve` runs it, `mq9 version` says what it is.
//
// Exit codes: 0 after an orderly end, 1 when something failed, 2 when the command line is wrong.
package main
