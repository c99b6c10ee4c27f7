package main

import (
	"math"
	"slices"
)

// median returns the middle value, or the mean of the two middle ones. Unlike a mean it
// is not affected by one disturbed round.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
