package stripe

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// What can go wrong with a call.
const (
	failBefore = "fail_before"
	failAfter  = "fail_after"
	failKept   = "fail_kept"
	dropBefore = "drop_before"
	dropAfter  = "drop_after"
	hangBefore = "hang_before"
	hangAfter  = "hang_after"
	throttle   = "throttle"
	lock       = "lock"
	slow       = "slow"
)

// What can go wrong with a webhook.
const (
	lose    = "lose"
	double  = "double"
	delay   = "delay"
	reorder = "reorder"
	garble  = "garble"
)

const (
	onWebhook = "webhook"
	onPage    = "page.pay"
	// maxRules bounds the list, defaultDelay is how late what is slow comes, and
	// longestHang how long a caller is held.
	maxRules     = 1000
	defaultDelay = time.Second
	longestHang  = time.Minute
)

// Fault is a rule of what goes wrong.
type Fault struct {
	// On is the operation; * is every call to the API.
	On string `json:"on"`
	Do string `json:"do"`
	// Times is how often; 0 means until the rule is taken away.
	Times int `json:"times,omitempty"`
	// Skip is how often it goes well first.
	Skip int `json:"skip,omitempty"`
	// Delay is for slow and delay, as Go writes it: 250ms.
	Delay string `json:"delay,omitempty"`
	// Type is the kind of event, for webhooks; empty means every one.
	Type string `json:"type,omitempty"`
}

// fault is what happens to one call or webhook; the zero value is nothing.
type fault struct {
	do    string
	delay time.Duration
}

type rule struct {
	Fault
	delay time.Duration
}

// faults decides what goes wrong.
type faults struct {
	mu    sync.Mutex
	rules []*rule
	chaos float64
	dice  *rand.Rand
}

var (
	callFaults    = []string{failBefore, failAfter, failKept, dropBefore, dropAfter, hangBefore, hangAfter, throttle, lock, slow}
	pageFaults    = []string{failBefore, failAfter}
	webhookFaults = []string{lose, double, delay, reorder, garble}
	// Chaos leaves out what holds a caller for a minute, and the 500 that is kept:
	// no repetition helps against it.
	chaosCalls    = []string{failBefore, failAfter, dropBefore, dropAfter, throttle, lock, slow}
	chaosWebhooks = webhookFaults
)

func (f *faults) add(one Fault) error {
	allowed := callFaults
	switch one.On {
	case "":
		return fmt.Errorf("on is missing: the operation, such as refund.create")
	case onPage:
		allowed = pageFaults
	case onWebhook:
		allowed = webhookFaults
	}
	if !slices.Contains(allowed, one.Do) {
		return fmt.Errorf("%q can't go wrong with %s; choose one of %s", one.Do, one.On, strings.Join(allowed, ", "))
	}
	r := &rule{Fault: one, delay: defaultDelay}
	if one.Delay != "" {
		span, err := time.ParseDuration(one.Delay)
		if err != nil || span < 0 || span > time.Hour {
			return fmt.Errorf("delay is a span of time up to 1h, such as 250ms, not %q", one.Delay)
		}
		r.delay = span
	}
	if one.Times < 0 || one.Skip < 0 {
		return fmt.Errorf("times and skip can't be negative")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.rules) >= maxRules {
		return fmt.Errorf("there are %d rules already", maxRules)
	}
	f.rules = append(f.rules, r)
	return nil
}

func (f *faults) list() []Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := []Fault{}
	for _, r := range f.rules {
		all = append(all, r.Fault)
	}
	return all
}

func (f *faults) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = nil
}

// draw says what goes wrong with this call.
func (f *faults) draw(operation string) fault { return f.pick(operation, "", chaosCalls) }

// drawWebhook says what goes wrong with this event.
func (f *faults) drawWebhook(kind string) fault { return f.pick(onWebhook, kind, chaosWebhooks) }

func (f *faults) pick(operation, kind string, chaos []string) fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, r := range f.rules {
		star := r.On == "*" && operation != onWebhook && operation != onPage
		if r.On != operation && !star || r.Type != "" && r.Type != kind {
			continue
		}
		if r.Skip > 0 {
			r.Skip--
			continue
		}
		if r.Times == 1 {
			f.rules = slices.Delete(f.rules, i, i+1)
		} else if r.Times > 1 {
			r.Times--
		}
		return fault{r.Do, r.delay}
	}
	if operation == onPage || f.chaos <= 0 || f.dice.Float64() >= f.chaos {
		return fault{}
	}
	return fault{chaos[f.dice.IntN(len(chaos))], time.Duration(f.dice.IntN(2000)) * time.Millisecond}
}

// before does what goes wrong before the work, and says whether that was all.
func (s *Server) before(w http.ResponseWriter, r *http.Request, request string, f fault) bool {
	switch f.do {
	case failBefore:
		s.send(w, r, request, refuse(serverError()), "")
	case dropBefore:
		hangUp(w)
	case hangBefore:
		pause(r.Context(), longestHang)
		hangUp(w)
	case throttle:
		s.send(w, r, request, refuse(&refusal{
			status: http.StatusTooManyRequests, Type: "invalid_request_error", Code: "rate_limit",
			Message: "Request rate limit exceeded.",
		}), "")
	case lock:
		s.send(w, r, request, refuse(&refusal{
			status: http.StatusConflict, Type: "invalid_request_error", Code: "lock_timeout",
			Message: "This object cannot be accessed right now because another API request or Stripe process is currently accessing it.",
		}), "")
	case slow:
		return !pause(r.Context(), f.delay)
	default:
		return false
	}
	return true
}

// after sends the answer, or what goes wrong instead of it.
func (s *Server) after(w http.ResponseWriter, r *http.Request, request string, f fault, a answer, key string) {
	switch f.do {
	case failAfter, failKept:
		s.send(w, r, request, refuse(serverError()), key)
	case dropAfter:
		hangUp(w)
	case hangAfter:
		pause(r.Context(), longestHang)
		hangUp(w)
	default:
		s.send(w, r, request, a, key)
	}
}

// hangUp breaks the connection without a word.
func hangUp(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

// pause waits; false means that the other side has left.
func pause(ctx context.Context, span time.Duration) bool {
	if span <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(span)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
