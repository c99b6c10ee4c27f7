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

// Faults of a call.
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

// Faults of a webhook.
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
	// maxRules limits the rules, defaultDelay is the delay of slow calls, and
	// maxHang limits a hanging call.
	maxRules     = 1000
	defaultDelay = time.Second
	maxHang      = time.Minute
)

// Fault is a fault rule.
type Fault struct {
	// On is the operation; * means every API call.
	On string `json:"on"`
	Do string `json:"do"`
	// Times is how often it applies; 0 means until the rule is removed.
	Times int `json:"times,omitempty"`
	// Skip is how many calls succeed first.
	Skip int `json:"skip,omitempty"`
	// Delay is for slow and delay, as a Go duration: 250ms.
	Delay string `json:"delay,omitempty"`
	// Type is the event type of a webhook fault; empty means any.
	Type string `json:"type,omitempty"`
}

// fault is the fault of one call or webhook; the zero value is none.
type fault struct {
	do    string
	delay time.Duration
}

type rule struct {
	Fault
	delay time.Duration
}

// faults selects faults.
type faults struct {
	mu    sync.Mutex
	rules []*rule
	chaos float64
	// maxDelay bounds the delays of chaos.
	maxDelay time.Duration
	rng      *rand.Rand
}

var (
	callFaults    = []string{failBefore, failAfter, failStored, dropBefore, dropAfter, hangBefore, hangAfter, throttleCall, lockTimeout, slowCall}
	pageFaults    = []string{failBefore, failAfter}
	webhookFaults = []string{loseEvent, duplicateEvent, delayEvent, reorderEvent, garbleEvent}
	// Chaos omits faults that block a caller for a minute, and the stored 500,
	// which no retry resolves.
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
		return fmt.Errorf("%q is not a fault of %s; choose one of %s", one.Do, one.On, strings.Join(allowed, ", "))
	}
	r := &rule{Fault: one, delay: defaultDelay}
	if one.Delay != "" {
		span, err := time.ParseDuration(one.Delay)
		if err != nil || span < 0 || span > time.Hour {
			return fmt.Errorf("delay is a duration up to 1h, such as 250ms, not %q", one.Delay)
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

// nextCallFault returns the fault of this call.
func (f *faults) nextCallFault(operation string) fault { return f.nextFault(operation, "", chaosCalls) }

// nextWebhookFault returns the fault of this event.
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
	return fault{chaos[f.rng.IntN(len(chaos))], time.Duration(f.rng.Int64N(int64(f.maxDelay)))}
}

// injectBefore applies faults before the operation and reports whether the call is
// finished.
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

// injectAfter sends the response, or applies a fault instead.
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

// dropConnection cuts the connection without a response.
func dropConnection(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

// sleep waits; it returns false if ctx ends first.
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
