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
	failBefore   = "fail_before"
	failAfter    = "fail_after"
	failStored   = "fail_kept"
	dropBefore   = "drop_before"
	dropAfter    = "drop_after"
	hangBefore   = "hang_before"
	hangAfter    = "hang_after"
	throttleCall = "throttle"
	lockTimeout  = "lock"
	slowCall     = "slow"
)

// What can go wrong with a webhook.
const (
	loseEvent      = "lose"
	duplicateEvent = "double"
	delayEvent     = "delay"
	reorderEvent   = "reorder"
	garbleEvent    = "garble"
)

const (
	onWebhook = "webhook"
	onPage    = "page.pay"
	// maxRules bounds the list, defaultDelay is how late what is slow comes, and
	// longestHang how long a caller is held.
	maxRules     = 1000
	defaultDelay = time.Second
	maxHang      = time.Minute
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
	rng   *rand.Rand
}

var (
	callFaults    = []string{failBefore, failAfter, failStored, dropBefore, dropAfter, hangBefore, hangAfter, throttleCall, lockTimeout, slowCall}
	pageFaults    = []string{failBefore, failAfter}
	webhookFaults = []string{loseEvent, duplicateEvent, delayEvent, reorderEvent, garbleEvent}
	// Chaos leaves out what holds a caller for a minute, and the 500 that is kept:
	// no repetition helps against it.
	chaosCalls    = []string{failBefore, failAfter, dropBefore, dropAfter, throttleCall, lockTimeout, slowCall}
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

// nextCallFault says what goes wrong with this call.
func (f *faults) nextCallFault(operation string) fault { return f.nextFault(operation, "", chaosCalls) }

// nextWebhookFault says what goes wrong with this event.
func (f *faults) nextWebhookFault(kind string) fault {
	return f.nextFault(onWebhook, kind, chaosWebhooks)
}

func (f *faults) nextFault(operation, kind string, chaos []string) fault {
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
	if operation == onPage || f.chaos <= 0 || f.rng.Float64() >= f.chaos {
		return fault{}
	}
	return fault{chaos[f.rng.IntN(len(chaos))], time.Duration(f.rng.IntN(2000)) * time.Millisecond}
}

// injectBefore does what goes wrong before the work, and says whether that was all.
func (s *Server) injectBefore(w http.ResponseWriter, r *http.Request, request string, f fault) bool {
	switch f.do {
	case failBefore:
		s.send(w, r, request, errorResponse(serverError()), "")
	case dropBefore:
		dropConnection(w)
	case hangBefore:
		sleep(r.Context(), maxHang)
		dropConnection(w)
	case throttleCall:
		s.send(w, r, request, errorResponse(&refusal{
			status: http.StatusTooManyRequests, Type: "invalid_request_error", Code: "rate_limit",
			Message: "Request rate limit exceeded.",
		}), "")
	case lockTimeout:
		s.send(w, r, request, errorResponse(&refusal{
			status: http.StatusConflict, Type: "invalid_request_error", Code: "lock_timeout",
			Message: "This object cannot be accessed right now because another API request or Stripe process is currently accessing it.",
		}), "")
	case slowCall:
		return !sleep(r.Context(), f.delay)
	default:
		return false
	}
	return true
}

// injectAfter sends the answer, or what goes wrong instead of it.
func (s *Server) injectAfter(w http.ResponseWriter, r *http.Request, request string, f fault, a response, key string) {
	switch f.do {
	case failAfter, failStored:
		s.send(w, r, request, errorResponse(serverError()), key)
	case dropAfter:
		dropConnection(w)
	case hangAfter:
		sleep(r.Context(), maxHang)
		dropConnection(w)
	default:
		s.send(w, r, request, a, key)
	}
}

// dropConnection breaks the connection without a word.
func dropConnection(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

// sleep waits; false means that the other side has left.
func sleep(ctx context.Context, span time.Duration) bool {
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
