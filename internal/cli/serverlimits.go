package cli

import (
	"strconv"
	"strings"
	"time"
)

// RateWindow is a rate limit: at most Limit requests in any period of length Per.
type RateWindow struct {
	Limit int
	Per   time.Duration
}

// ContractWindows are the limits of the contract, for services that do not advertise any.
var ContractWindows = []RateWindow{{30, time.Minute}, {300, 6 * time.Hour}}

const (
	maxLimit  = 1_000_000
	MaxWindow = 31 * 24 * time.Hour
)

// ParseRateLimitPolicy parses RateLimit-Policy of the IETF draft: "60s";q=30;w=60, …
func ParseRateLimitPolicy(header string) []RateWindow {
	var windows []RateWindow
	for item := range strings.SplitSeq(header, ",") {
		limit, okLimit := ParseParam(item, "q")
		per, okPer := ParseParam(item, "w")
		if okLimit && okPer && limit > 0 && limit <= maxLimit && per > 0 && time.Duration(per) <= MaxWindow/time.Second {
			windows = append(windows, RateWindow{limit, time.Duration(per) * time.Second})
		}
	}
	return windows
}

// ParseParam returns an integer parameter of an item in a structured header.
func ParseParam(item, name string) (int, bool) {
	for part := range strings.SplitSeq(item, ";") {
		if text, found := strings.CutPrefix(strings.TrimSpace(part), name+"="); found {
			value, err := strconv.Atoi(text)
			return value, err == nil && value >= 0
		}
	}
	return 0, false
}
