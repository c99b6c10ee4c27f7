package doctor

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dotkontor/dotkontor/internal/cli"
)

var limitChecks = []check{
	{group: "limits", name: "RateLimit-Policy", run: rateLimitPolicy},
	{group: "limits", name: "RateLimit decreases by one", run: rateLimitDecreases},
	{group: "limits", name: "untrusted X-Forwarded-For is ignored", cost: 2, run: ignoresForwardedFor},
}

// rateLimitPolicy warns about limits that differ from the contract's, which operators may set.
func rateLimitPolicy(v *prober) result {
	if len(v.readings) == 0 {
		return warn("", "not checked: no counted response")
	}
	header := v.readings[len(v.readings)-1].policy
	windows := cli.ParseRateLimitPolicy(header)
	var j assertions
	j.must(len(windows) > 0 && len(windows) == len(strings.Split(header, ",")), `RateLimit-Policy like "60s";q=30;w=60`, toJSON(header))
	j.should(slices.Equal(windows, cli.ContractWindows), "30 a minute and 300 in six hours", header)
	return j.verdict(header)
}

// maxNodes limits how many nodes behind a load balancer are distinguished. Each node
// counts on its own, so its first response shows a full budget.
const maxNodes = 12

// rateLimitDecreases checks the counted responses so far. Behind a load balancer they come
// from several nodes, so the values are several decreasing series that interleave. Other
// clients at our address may disturb some steps, but not all.
func rateLimitDecreases(v *prober) result {
	if len(v.readings) < 2 {
		return warn("", "not checked: too few counted responses")
	}
	for len(v.readings) < maxNodes && fallingSeries(v.readings) == len(v.readings) && v.allFirstInWindow() && !v.nearLimit(1) {
		if _, refused := v.lookup(checkPath, jsonField("domain", unlistedName), nil); refused != nil {
			return *refused
		}
	}
	var steps []string
	for _, now := range v.readings {
		if !now.found {
			return fail(`RateLimit like "60s";r=29;t=60 on every counted response`, "a response without it")
		}
		steps = append(steps, strconv.Itoa(now.left))
	}
	seen := strings.Join(steps, ", ")
	switch series := fallingSeries(v.readings); series {
	case 1:
		return pass(seen)
	case len(steps):
		return fail("one less with each request", seen)
	default:
		return warn("one less with each request",
			fmt.Sprintf("%s: %d nodes that count separately, or other clients at this address", seen, series))
	}
}

// fallingSeries returns the smallest number of series, each decreasing by one, that
// together make up the readings.
func fallingSeries(readings []limitReading) int {
	var lowest []int
	for _, now := range readings {
		i := slices.Index(lowest, now.left+1)
		if i < 0 {
			lowest = append(lowest, now.left)
			continue
		}
		lowest[i] = now.left
	}
	return len(lowest)
}

func (r limitReading) firstInWindow() bool {
	for _, w := range cli.ParseRateLimitPolicy(r.policy) {
		if strings.Trim(r.window, `"`) == fmt.Sprintf("%ds", int(w.Per.Seconds())) {
			return r.left == w.Limit-1
		}
	}
	return false
}

func (v *prober) allFirstInWindow() bool {
	return !slices.ContainsFunc(v.readings, func(r limitReading) bool { return !r.firstInWindow() })
}

// ignoresForwardedFor sends forged client addresses. A service that trusts them starts a
// full budget for each. So does a node that this run has not reached yet, so the check
// fails only if every attempt gets a full budget.
func ignoresForwardedFor(v *prober) result {
	if len(v.readings) == 0 || !v.readings[len(v.readings)-1].found {
		return warn("", "not checked: there is no RateLimit header")
	}
	for _, lie := range []struct{ header, format string }{
		{"X-Forwarded-For", "%s"},
		{"Forwarded", `for="[%s]"`},
	} {
		for attempt := 0; ; attempt++ {
			fresh, refused := v.sendForgedAddress(lie.header, lie.format)
			if refused != nil {
				return *refused
			}
			if !fresh {
				break
			}
			if attempt >= forgeAttempts-1 || v.nearLimit(1) {
				return fail("RateLimit to decrease regardless of "+lie.header,
					"a full budget for each forged address: clients can bypass the limit (if this machine is in trusted_proxies, run doctor elsewhere)")
			}
		}
	}
	return pass(fmt.Sprintf("forged addresses are ignored, %d requests left", v.left))
}

// forgeAttempts is how often a forged request is repeated, because nodes that this run has
// not reached yet may answer some of them.
const forgeAttempts = 5

// sendForgedAddress sends one request with a forged address and reports whether it was the
// first one of its budget.
func (v *prober) sendForgedAddress(header, format string) (fresh bool, refused *result) {
	random := make([]byte, 4)
	_, _ = rand.Read(random) // never fails
	address := "2001:db8:" + hex.EncodeToString(random[:2]) + ":" + hex.EncodeToString(random[2:]) + "::1"
	_, refused = v.lookup(checkPath, jsonField("domain", unlistedName), map[string]string{header: fmt.Sprintf(format, address)})
	if refused != nil {
		return false, refused
	}
	return v.readings[len(v.readings)-1].firstInWindow(), nil
}
