//go:build race

package ratelimit

// raceEnabled says that the race detector runs, under which memory and time
// tell nothing about the program.
const raceEnabled = true

// oracleSteps: a walk has one goroutine, which races with nobody, and takes many times
// as long. "make test" also runs the whole ones, without the detector.
const oracleSteps = 40_000
