// Package clients runs the flows of the protocol once through the clients that newcomers have at hand: the `nats` command and
// nats.js, typed as the README shows them. The README's tour itself is run here too, and must print what the README prints.
//
// `make clients` installs both clients first; the path of the `nats` command comes from the variable NATS_CLI.
package clients
