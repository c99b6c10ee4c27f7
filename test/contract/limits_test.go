package contract

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"testing"
	"time"
)

const (
	perMinute   = 30
	perSixHours = 300
	sixHours    = 6 * 60 * 60
)

var rateLimit = regexp.MustCompile(`^"(\d+)s";r=(\d+);t=(\d+)$`)

// remaining returns the requests left in the tightest window, or -1 without the header.
func remaining(got apiResponse) int {
	parts := rateLimit.FindStringSubmatch(got.header.Get("RateLimit"))
	if parts == nil {
		return -1
	}
	n, err := strconv.Atoi(parts[2])
	if err != nil {
		return -1
	}
	return n
}

// wantRateLimited checks for a 429 with Retry-After from low to high seconds.
func wantRateLimited(t *testing.T, label string, got apiResponse, low, high int) {
	t.Helper()
	wantErrorResponse(t, label, got, http.StatusTooManyRequests)
	wait, err := strconv.Atoi(got.header.Get("Retry-After"))
	if err != nil || wait < low || wait > high {
		t.Errorf("%s: Retry-After is %q, want %d to %d", label, got.header.Get("Retry-After"), low, high)
	}
	if remaining(got) != 0 {
		t.Errorf("%s: RateLimit is %q, want nothing left", label, got.header.Get("RateLimit"))
	}
}

func TestRateLimit_ThirtyFirstRequestInAMinuteIs429(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		client := newCaller(t, on)
		for n := 1; n <= perMinute; n++ {
			label := fmt.Sprintf("request %d", n)
			got := client.check("a.zz")
			wantResponse(t, label, got, http.StatusOK, nil)
			if remaining(got) != perMinute-n {
				t.Errorf("%s: RateLimit is %q, want r=%d", label, got.header.Get("RateLimit"), perMinute-n)
			}
			want := fmt.Sprintf(`"60s";q=%d;w=60, "21600s";q=%d;w=%d`, perMinute, perSixHours, sixHours)
			if policy := got.header.Get("RateLimit-Policy"); policy != want {
				t.Errorf("%s: RateLimit-Policy is %q, want %q", label, policy, want)
			}
			if got.header.Get("Retry-After") != "" {
				t.Errorf("%s: Retry-After on an accepted request", label)
			}
		}
		wantRateLimited(t, "request 31", client.check("a.zz"), 1, 60)
		wantRateLimited(t, "a search beside it", client.search("google"), 1, 60)
		if got := newCaller(t, on).check("a.zz"); remaining(got) != perMinute-1 {
			t.Errorf("another address: got %s with %q", got, got.header.Get("RateLimit"))
		}
	})
}

func TestRateLimit_WhichRequestsCount(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		client := newCaller(t, on)
		want := perMinute
		for _, test := range []struct {
			label  string
			r      request
			status int
			counts bool
		}{
			{"check", request{path: checkPath, body: object("domain", "google.de")}, 200, true},
			{"check of the same name", request{path: checkPath, body: object("domain", "google.de")}, 200, true},
			{"search over eight", request{path: searchPath, body: object("query", "google")}, 200, true},
			{"unsupported", request{path: checkPath, body: object("domain", "a.zz")}, 200, true},
			{"bad name", request{path: checkPath, body: object("domain", "-a.de")}, 400, true},
			{"bad body", request{path: searchPath, body: `{`, invalid: true}, 400, true},
			{"upstream", request{path: checkPath, body: object("domain", "refused-"+marker+"-zahl.gr")}, 502, true},
			{"unknown path", request{path: "/api/nothing"}, 404, false},
			{"unclean path", request{path: "/api//domain/check", body: object("domain", "google.de")}, 404, false},
			{"other method", request{method: http.MethodGet, path: checkPath}, 405, false},
			{"preflight", request{method: http.MethodOptions, path: checkPath}, 204, false},
			{"description", request{method: http.MethodGet, path: openAPIPath}, 200, false},
		} {
			got := client.send(test.r)
			if got.status != test.status {
				t.Errorf("%s: got %s, want %d", test.label, got, test.status)
			}
			if test.counts {
				if want--; remaining(got) != want {
					t.Errorf("%s: RateLimit is %q, want r=%d", test.label, got.header.Get("RateLimit"), want)
				}
				continue
			}
			for _, name := range []string{"RateLimit", "RateLimit-Policy", "Retry-After"} {
				if value := got.header.Get(name); value != "" {
					t.Errorf("%s: not counted, but %s is %q", test.label, name, value)
				}
			}
			if after := client.check("a.zz"); remaining(after) != want-1 {
				t.Errorf("%s: it was counted (%q)", test.label, after.header.Get("RateLimit"))
			}
			want--
		}
	})
}

// If rejected requests were counted, thirty of them would restart the window.
func TestRateLimit_RefusedRequestsAreNotCounted(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		client := newCaller(t, on)
		for range perMinute {
			client.check("a.zz")
		}
		const pause = 2100 * time.Millisecond
		time.Sleep(pause)
		for range perMinute + 5 {
			wantRateLimited(t, "over the limit", client.check("a.zz"), 1, 58)
		}
	})
}

func TestRateLimit_UntrustedForwardingHeaderIsIgnored(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		client := newCaller(t, on)
		for i, header := range []map[string]string{
			{},
			{"X-Forwarded-For": "198.51.100.1"},
			{"X-Forwarded-For": "198.51.100.2, 127.0.0.1"},
			{"Forwarded": "for=198.51.100.3"},
			{"X-Real-Ip": "198.51.100.4", "True-Client-Ip": "198.51.100.5", "Cf-Connecting-Ip": "198.51.100.6"},
		} {
			got := client.send(request{path: checkPath, body: object("domain", "a.zz"), header: header})
			if remaining(got) != perMinute-1-i {
				t.Errorf("%v: RateLimit is %q, want r=%d", header, got.header.Get("RateLimit"), perMinute-1-i)
			}
		}
	})
}

func TestRateLimit_RequestOver300InSixHoursIs429(t *testing.T) {
	t.Parallel()
	on := startOwnServe(t, "sixhours", "DOTKONTOR_LIMITS_LOOKUP_PER_MINUTE=1000")
	client := newCaller(t, on)
	for n := 1; n <= perSixHours; n++ {
		got := client.check("a.zz")
		if got.status != http.StatusOK || remaining(got) != perSixHours-n {
			t.Fatalf("request %d: got %s with %q", n, got, got.header.Get("RateLimit"))
		}
	}
	wantRateLimited(t, "request 301", client.check("a.zz"), 61, sixHours)
	wantRateLimited(t, "a search beside it", client.search("google"), 61, sixHours)
	wantResponse(t, "another address", newCaller(t, on).check("a.zz"), http.StatusOK, nil)
}

func TestRateLimit_TrustedProxyCountsForwardedClient(t *testing.T) {
	t.Parallel()
	on := startOwnServe(t, "proxied", "DOTKONTOR_SERVER_TRUSTED_PROXIES=127.0.0.0/8")
	const xff, forwarded = "X-Forwarded-For", "Forwarded"
	for _, test := range []struct {
		rule  string
		steps []map[string]string
		spent []int // used budget after each step
	}{
		{
			"addresses have budgets of their own",
			[]map[string]string{{xff: "198.51.100.1"}, {xff: "198.51.100.2"}, {xff: "198.51.100.1"}},
			[]int{1, 1, 2},
		},
		{
			"a /64 shares one",
			[]map[string]string{{xff: "2001:db8:1:2::1"}, {xff: "2001:db8:1:2:ffff::9"}, {xff: "2001:db8:1:3::1"}},
			[]int{1, 2, 1},
		},
		{
			"an IPv4 address written as IPv6 is the same",
			[]map[string]string{{xff: "198.51.100.3"}, {xff: "::ffff:198.51.100.3"}},
			[]int{1, 2},
		},
		{
			"a port says nothing",
			[]map[string]string{{xff: "198.51.100.4:1234"}, {xff: "198.51.100.4"}},
			[]int{1, 2},
		},
		{
			"the right-most address that is not trusted counts",
			[]map[string]string{
				{xff: "203.0.113.1, 198.51.100.5"}, {xff: "203.0.113.2, 198.51.100.5"}, {xff: "198.51.100.5, 127.0.0.7, 127.0.0.8"},
			},
			[]int{1, 2, 3},
		},
		{
			"Forwarded works alike",
			[]map[string]string{
				{forwarded: "for=198.51.100.6;proto=https"}, {forwarded: "for=203.0.113.3, For=198.51.100.6"}, {xff: "198.51.100.6"},
			},
			[]int{1, 2, 3},
		},
		{
			"Forwarded with IPv6",
			[]map[string]string{{forwarded: `for="[2001:db8:2:2::1]:4711"`}, {xff: "2001:db8:2:2::5"}},
			[]int{1, 2},
		},
		{
			"both that agree",
			[]map[string]string{{xff: "198.51.100.7", forwarded: "for=198.51.100.7"}, {xff: "198.51.100.7"}},
			[]int{1, 2},
		},
		{
			"both that disagree count as the peer",
			[]map[string]string{{}, {xff: "198.51.100.8", forwarded: "for=198.51.100.9"}, {xff: "198.51.100.8"}, {xff: "198.51.100.9"}},
			[]int{1, 2, 1, 1},
		},
		{
			"what can't be read counts as the hop that reported it",
			[]map[string]string{{}, {xff: "unknown"}, {xff: "198.51.100.10, nonsense"}, {forwarded: "for=_hidden"}},
			[]int{1, 2, 3, 4},
		},
	} {
		client := newCaller(t, on)
		for i, header := range test.steps {
			got := client.send(request{path: checkPath, body: object("domain", "a.zz"), header: header})
			if remaining(got) != perMinute-test.spent[i] {
				t.Errorf("%s: step %d %v: RateLimit is %q, want r=%d",
					test.rule, i+1, header, got.header.Get("RateLimit"), perMinute-test.spent[i])
			}
		}
	}
}
