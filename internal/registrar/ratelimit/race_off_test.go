//go:build !race

package ratelimit

const raceEnabled = false

// oracleSteps is the length of the random walks.
const oracleSteps = 200_000
