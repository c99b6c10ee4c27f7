//go:build race

package ratelimit

// raceEnabled means that the race detector runs, under which memory and time
// measurements are meaningless.
const raceEnabled = true

// OracleSteps is smaller because a walk has one goroutine and takes many times
// as long. "make test" also runs the full walks without the detector.
const OracleSteps = 40_000
