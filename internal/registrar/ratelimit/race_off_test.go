//go:build !race

package ratelimit

const raceEnabled = false

// oracleSteps is how far the walks beside a model go.
const oracleSteps = 200_000
