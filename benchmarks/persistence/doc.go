// Command persistence measures the durable store by itself, without actors and wire: what it writes and occupies for what it
// is given, how fast it reads back, and how long it takes to start. The figures in persistence/doc.go come from it.
//
//	go run ./benchmarks/persistence SCENARIO [flags]
//
// A scenario prints its figures, one a line. It works in a new directory under -tmp and removes it at the end. Each has
// defaults that make it the measurement of persistence/doc.go; -h lists the flags. -messages and -database put RocksDB's own option
// text on top of the store's options, which is how the alternatives are measured. Programs on the same machine disturb all
// figures: compare runs that were made one after the other.
package main
