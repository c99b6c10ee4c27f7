//go:build !race

package ratelimit

const raceEnabled = false

// OracleSteps is the length of the random walks.
const OracleSteps = 200_000
