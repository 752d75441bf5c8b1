// Package client holds the commands of mq9 that talk to a broker: create, send, watch, ls, rm, discover and bench, the help
// topics, and what helps a person who mistypes.
//
// They are NATS clients like any other and know nothing of the broker but its protocol: this package uses nats.go and the
// vocabulary of package mq9 only. Each command has a file; [Commands] gives them to the root command.
//
// What a command finds out goes to standard output, one thing a line, with --json one JSON object a line; what it has to say
// besides goes to standard error. An error carries its exit code, see [ExitCode]. A private mail_id is shown to nobody but the one who typed it
// or asked for it.
//
// A command runs in the goroutine of its caller. Only watch has more of them; its file says who owns what.
package client
