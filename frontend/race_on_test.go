//go:build race

package frontend

// raceEnabled says that the race detector is on: memory is not what it would be.
const raceEnabled = true
