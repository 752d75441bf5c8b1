// Package benchmarks will hold the load generator and the side-by-side runs against other brokers. Its harness comes with the
// performance work; until then this page is all there is.
package benchmarks
