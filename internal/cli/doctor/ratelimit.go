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
	{group: "limits", name: "RateLimit falls by one", run: rateLimitDecreases},
	{group: "limits", name: "X-Forwarded-For of a stranger is not believed", cost: 2, run: ignoresForwardedFor},
}

// policy: an operator may set other limits than the contract's; visitors want to
// know.
func rateLimitPolicy(v *prober) result {
	if len(v.readings) == 0 {
		return warn("", "not judged: no counted answer")
	}
	header := v.readings[len(v.readings)-1].policy
	windows := cli.ParseRateLimitPolicy(header)
	var j assertions
	j.must(len(windows) > 0 && len(windows) == len(strings.Split(header, ",")), `RateLimit-Policy like "60s";q=30;w=60`, toJSON(header))
	j.should(slices.Equal(windows, cli.ContractWindows), "30 a minute and 300 in six hours", header)
	return j.verdict(header)
}

// maxNodes bounds how many nodes behind one load balancer are told apart. Each node
// counts for itself, so the first answer of each shows a whole budget.
const maxNodes = 12

// rateLimitDecreases looks at the counted answers so far. Behind a load balancer they come from
// several nodes, so the figures are several falling series that interleave. Other
// clients at our address may disturb a step, but not all of them.
func rateLimitDecreases(v *prober) result {
	if len(v.readings) < 2 {
		return warn("", "not judged: too few counted answers")
	}
	for len(v.readings) < maxNodes && fallingSeries(v.readings) == len(v.readings) && v.allFirstInWindow() && !v.nearLimit(1) {
		if _, refused := v.lookup(checkPath, jsonField("domain", unlistedName), nil); refused != nil {
			return *refused
		}
	}
	var steps []string
	for _, now := range v.readings {
		if !now.found {
			return fail(`RateLimit like "60s";r=29;t=60 on every counted answer`, "an answer without")
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

// fallingSeries is the smallest number of series that fall by one with each answer
// and together make up the readings.
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

// firstInWindow reports whether an answer came from a budget of which it was the first
// request.
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

// ignoresForwardedFor lies about our address. A service that believes it gives each lie a
// fresh budget. So does a node that this visit has not met yet, which is why a fresh
// budget is only held against the service if it comes each time.
func ignoresForwardedFor(v *prober) result {
	if len(v.readings) == 0 || !v.readings[len(v.readings)-1].found {
		return warn("", "not judged: no RateLimit to look at")
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
				return fail("RateLimit to fall whatever "+lie.header+" says",
					"a whole budget for each invented address: anyone can choose their address (unless this machine is one of trusted_proxies: then visit from elsewhere)")
			}
		}
	}
	return pass(fmt.Sprintf("invented addresses are ignored, %d requests left", v.left))
}

// forgeAttempts is how often a lie is repeated: nodes that this visit has not met yet
// answer some of them.
const forgeAttempts = 5

// sendForgedAddress sends one request with an invented address and reports whether it was the first
// one of its budget.
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
