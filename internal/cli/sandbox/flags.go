package sandbox

import (
	"fmt"
	"strconv"
	"time"
)

// defaultChaos is the value of --chaos without one.
const defaultChaos = "0.2"

// ExpandChaosFlag adds the default value to a --chaos without one.
func ExpandChaosFlag(args []string) []string {
	given := make([]string, 0, len(args)+1)
	for i, arg := range args {
		given = append(given, arg)
		if arg != "--chaos" {
			continue
		}
		if i+1 < len(args) {
			if _, err := strconv.ParseFloat(args[i+1], 64); err == nil {
				continue
			}
		}
		given = append(given, defaultChaos)
	}
	return given
}

// parseClock returns a clock that starts at the given time; empty means real time.
func parseClock(text string) (func() time.Time, error) {
	if text == "" {
		return time.Now, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if start, err := time.Parse(layout, text); err == nil {
			offset := time.Until(start)
			return func() time.Time { return time.Now().Add(offset) }, nil
		}
	}
	return nil, fmt.Errorf("--time %q is not a time like 2027-01-31 or 2027-01-31T12:00:00Z", text)
}
