// Package guides holds the two guides, for those who run a broker and for those who write clients, and shows them as
// `mq9 help operations` and `mq9 help clients`.
//
// They are Markdown, to be read where the source is read; [Topics] renders them as plain text, in a pager if somebody sits at a terminal. What
// they print as a session or a program is run by specs/clients: a fence whose info string says `run` behind the language is typed or
// compiled, and must print what follows it.
//
// Everything here runs in the goroutine of its caller.
package guides
