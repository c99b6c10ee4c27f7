package registrar

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// PageByDeadline sorts open work by deadline and returns the page after a position, which is empty
// for the first one. The earliest deadline is first, so that overdue work leads; work without one
// is last. next is the position to continue with; empty on the last page. It does not depend on
// the rows, so a row that is handled meanwhile shifts nothing.
func PageByDeadline[T any](rows []T, of func(T) (id string, deadline time.Time), after string, size int) (page []T, next string) {
	position := func(row T) string {
		id, deadline := of(row)
		seconds := int64(math.MaxInt32) * 8 // after every deadline
		if !deadline.IsZero() {
			seconds = min(max(deadline.Unix(), 0), seconds)
		}
		return fmt.Sprintf("%011d~%s", seconds, id)
	}
	slices.SortFunc(rows, func(a, b T) int { return cmp.Compare(position(a), position(b)) })
	start := slices.IndexFunc(rows, func(row T) bool { return position(row) > after })
	if start < 0 {
		return nil, ""
	}
	if rows = rows[start:]; len(rows) > size {
		rows = rows[:size]
		next = position(rows[size-1])
	}
	return rows, next
}
