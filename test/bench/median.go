package main

import (
	"math"
	"slices"
)

// median is the middle of the values, or the mean of the two middle ones. It is
// used instead of a mean because one disturbed round must not count.
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
