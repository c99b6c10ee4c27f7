package registry

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

func TestChaos_FaultShareMatchesOption(t *testing.T) {
	t.Parallel()
	const throws = 20_000
	for _, share := range []float64{0, 0.05, 0.3, 1} {
		d := &faultRNG{share: share, seed: 42, timings: timings{slowMin: 500 * time.Millisecond, slowMax: 3 * time.Second}}
		var counts [1 + faultKinds]int
		for range throws {
			m := d.next()
			counts[m.fault]++
			if m.fault == faultSlow && (m.delay < 500*time.Millisecond || m.delay > 3*time.Second) {
				t.Errorf("slow by %v", m.delay)
			}
		}
		if struck := 1 - float64(counts[faultNone])/throws; math.Abs(struck-share) > 0.02 {
			t.Errorf("share %v became %v", share, struck)
		}
		for kind := 1; kind <= faultKinds; kind++ {
			if got := float64(counts[kind]) / throws; math.Abs(got-share/4) > 0.02 {
				t.Errorf("share %v: %v is %v of all", share, fault(kind), got)
			}
		}
	}
}

// rdapOutcome classifies a response like a client that trusts only complete ones.
func rdapOutcome(t *testing.T, url string) string {
	t.Helper()
	a, err := getHTTP(t, answerTimeout, url)
	switch {
	case isTimeout(err):
		return "timeout"
	case err != nil:
		return "cut"
	case a.status == http.StatusTooManyRequests:
		return "throttled"
	case a.status >= 500:
		return "server error"
	case !json.Valid([]byte(a.body)):
		if a.status == http.StatusNotFound {
			return "a 404 that is broken" // too easily taken for a valid one
		}
		return "broken"
	case a.status == http.StatusOK && strings.Contains(a.body, `"objectClassName":"domain"`):
		return "taken"
	case a.status == http.StatusNotFound:
		return "free"
	}
	return fmt.Sprint("strange: ", a.status)
}

func whoisOutcome(t *testing.T, address, name string) string {
	t.Helper()
	text, err := askWHOIS(t, answerTimeout, address, name)
	switch {
	case err != nil:
		return "cut"
	case strings.Contains(text, "\x00"):
		return "broken"
	case strings.Contains(text, "limit exceeded"):
		return "throttled"
	case strings.Contains(text, "No match for"):
		return "free"
	case strings.Contains(text, "Registrar:"):
		return "taken"
	}
	return "strange: " + text
}

func dnsOutcome(t *testing.T, address, name string) string {
	t.Helper()
	// Over TCP a dropped query closes the connection, so the test need not wait.
	reply, err := queryDNS(t, answerTimeout, "tcp", address, name, dns.TypeNS)
	switch {
	case isTimeout(err):
		return "timeout"
	case err != nil:
		return "cut"
	case reply.Rcode == dns.RcodeNameError:
		return "free"
	case reply.Rcode == dns.RcodeSuccess && len(reply.Answer) == 2:
		return "taken"
	case reply.Rcode == dns.RcodeRefused, reply.Rcode == dns.RcodeServerFailure:
		return dns.RcodeToString[reply.Rcode]
	}
	return "strange: " + reply.String()
}

// chaosOutcomes collects the outcomes of 60 queries of each kind in one sandbox.
func chaosOutcomes(t *testing.T, seed uint64) map[string][]string {
	t.Helper()
	r := startWorld(t, Options{Chaos: 0.6, Seed: seed})
	outcomes := map[string][]string{}
	for range 60 {
		for _, name := range []string{"google.com", "nobody-has-this.com"} {
			for source, outcome := range map[string]string{
				"rdap":  rdapOutcome(t, rdapURL(t, r, name)),
				"whois": whoisOutcome(t, r.Hosts()["whois.verisign-grs.com:43"], name),
				"dns":   dnsOutcome(t, r.DNS(), name),
			} {
				outcomes[source+" "+name] = append(outcomes[source+" "+name], outcome)
			}
		}
	}
	return outcomes
}

func TestChaos_NeverReturnsWrongAnswer(t *testing.T) {
	t.Parallel()
	for question, outcomes := range chaosOutcomes(t, 7) {
		truth, lie := "taken", "free"
		if strings.Contains(question, "nobody") {
			truth, lie = lie, truth
		}
		right := 0
		for _, outcome := range outcomes {
			if outcome == truth {
				right++
			}
			if outcome == lie || outcome == "timeout" || strings.HasPrefix(outcome, "strange") || strings.HasPrefix(outcome, "a 404") {
				t.Errorf("%s: %s", question, outcome)
			}
		}
		// 40 % are unaffected and 15 % only slow.
		if right < len(outcomes)/4 || right > len(outcomes)*17/20 {
			t.Errorf("%s: %d of %d right", question, right, len(outcomes))
		}
	}
}

func TestChaos_SameSeedSameFaults(t *testing.T) {
	t.Parallel()
	one, two, other := chaosOutcomes(t, 11), chaosOutcomes(t, 11), chaosOutcomes(t, 12)
	same := true
	for question, outcomes := range one {
		if !slices.Equal(outcomes, two[question]) {
			t.Errorf("%s:\n%v\n%v", question, outcomes, two[question])
		}
		same = same && slices.Equal(outcomes, other[question])
	}
	if same {
		t.Error("another seed makes no difference")
	}
}

func TestChaos_AppliesToIANA(t *testing.T) {
	t.Parallel()
	r := startWorld(t, Options{Chaos: 1, Seed: 5})
	faults := 0
	for range 40 {
		a, err := getHTTP(t, answerTimeout, r.Hosts()[ianaHost]+bootstrapPath)
		if err != nil || a.status != http.StatusOK || !json.Valid([]byte(a.body)) {
			faults++
			continue
		}
		if !strings.Contains(a.body, `"services"`) {
			t.Errorf("a well-formed list without services: %s", a.body)
		}
	}
	if faults < 20 || faults == 40 { // three quarters are not mere delays
		t.Errorf("%d of 40 faults", faults)
	}
}

func TestLatency_IsAddedToEveryAnswer(t *testing.T) {
	t.Parallel()
	const latency = 60 * time.Millisecond
	r := startWorld(t, Options{Latency: latency})
	for source, question := range map[string]func(){
		"rdap":  func() { mustGet(t, rdapURL(t, r, "google.com")) },
		"iana":  func() { mustGet(t, r.Hosts()[ianaHost]+bootstrapPath) },
		"whois": func() { mustAskWHOIS(t, r, "whois.denic.de:43", "google.de") },
		"dns": func() {
			if _, err := queryDNS(t, answerTimeout, "udp", r.DNS(), "google.com", dns.TypeNS); err != nil {
				t.Error(err)
			}
		},
	} {
		began := time.Now()
		question()
		if took := time.Since(began); took < latency { // a busy machine only adds to it
			t.Errorf("%s answered after %v", source, took)
		}
	}
}
