// Package benchmarks holds what measures: the load generator (load), the store by itself (persistence), and what numbers of
// mailboxes, subscriptions and connections cost (scale). The side-by-side runs against other brokers come with the performance work.
package benchmarks
