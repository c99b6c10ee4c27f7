package stripe

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	maxConcurrentDeliveries = 16
	// A refused webhook is retried after minRetryDelay, doubling each time. Stripe
	// waits for hours, which is too long for a sandbox.
	minRetryDelay = 250 * time.Millisecond
	maxRetryDelay = 30 * time.Second
	maxTries      = 200
	// deliveryTimeout limits one delivery, as at Stripe.
	deliveryTimeout = 10 * time.Second
	// maxLostEvents limits the lost events that can be redelivered.
	maxLostEvents = 1000
)

// event is a webhook event as it is sent.
type event struct {
	ID   string          `json:"id"`
	Type string          `json:"type"`
	Body json.RawMessage `json:"body"`
}

// emit adds an event to the change, so that both are stored or neither is. Only
// types that the product subscribes to exist.
func (t *tx) emit(kind string, object map[string]any) {
	one := &event{ID: newID("evt_"), Type: kind}
	body, err := json.Marshal(map[string]any{
		"id": one.ID, "object": "event", "api_version": apiVersion, "created": t.at, "type": kind, "livemode": false,
		"pending_webhooks": 1, "request": map[string]any{"id": nil, "idempotency_key": nil}, "data": map[string]any{"object": object},
	})
	if err != nil { // maps of strings and numbers always encode
		return
	}
	one.Body = body
	t.change.Events = append(t.change.Events, one)
}

// Webhooks counts events and deliveries.
type Webhooks struct {
	Made      int `json:"made"`
	Delivered int `json:"delivered"`
	Lost      int `json:"lost"`
	Refused   int `json:"refused"` // deliveries, not events
	Waiting   int `json:"waiting"`
}

// deliverer delivers events. Each one has a goroutine; their number is bounded by
// the stored events.
type deliverer struct {
	server *Server
	client *http.Client
	slots  chan struct{}
	ctx    context.Context //nolint:containedctx // lifetime of all deliveries
	stop   context.CancelFunc
	wake   chan struct{} // closed to wake waiting deliveries; replaced under mu

	running sync.WaitGroup

	mu     sync.Mutex
	counts Webhooks
	lost   []*event
	// deferred is an event that is sent after the next one.
	deferred *event
}

func newDeliverer(s *Server) *deliverer {
	ctx, stop := context.WithCancel(context.Background())
	return &deliverer{
		server: s, slots: make(chan struct{}, maxConcurrentDeliveries), ctx: ctx, stop: stop, wake: make(chan struct{}),
		// No proxy: requests stay on this machine.
		client: &http.Client{
			Transport:     &http.Transport{MaxIdleConnsPerHost: maxConcurrentDeliveries, IdleConnTimeout: time.Minute},
			Timeout:       deliveryTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// enqueue decides the fate of an event. It does not block.
func (p *deliverer) enqueue(one *event) {
	f := p.server.faults.nextWebhookFault(one.Type)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts.Made++
	if p.ctx.Err() != nil {
		return // it stays in the journal
	}
	followed := p.deferred
	p.deferred = nil
	switch f.do {
	case loseEvent:
		p.counts.Lost++
		if p.lost = append(p.lost, one); len(p.lost) > maxLostEvents {
			p.lost = p.lost[1:]
		}
	case duplicateEvent:
		p.send(one, 0, false)
		p.send(one, 0, false)
	case delayEvent:
		p.send(one, f.delay, false)
	case reorderEvent:
		p.deferred = one
	case garbleEvent:
		p.send(one, 0, true)
	default:
		p.send(one, 0, false)
	}
	if followed != nil {
		// Long enough for the overtaking one to arrive.
		p.send(followed, minRetryDelay, false)
	}
}

// sendDeferred sends a deferred event without a successor.
func (p *deliverer) sendDeferred() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.deferred != nil && p.ctx.Err() == nil {
		p.send(p.deferred, 0, false)
		p.deferred = nil
	}
}

// redeliver sends all pending and lost events at once.
func (p *deliverer) redeliver() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.wake)
	p.wake = make(chan struct{})
	if p.ctx.Err() != nil {
		return
	}
	for _, one := range p.lost {
		p.send(one, 0, false)
	}
	p.lost = nil
}

// send starts a delivery. The caller holds the lock.
func (p *deliverer) send(one *event, later time.Duration, garbled bool) {
	p.running.Go(func() { p.deliver(one, later, garbled) })
}

func (p *deliverer) deliver(one *event, wait time.Duration, garbled bool) {
	next := minRetryDelay
	for range maxTries {
		if !p.sleep(wait) {
			return
		}
		select {
		case p.slots <- struct{}{}:
		case <-p.ctx.Done():
			return
		}
		taken := p.attempt(one, garbled)
		<-p.slots
		if taken {
			p.markDone(one)
			return
		}
		garbled = false
		wait, next = next, min(2*next, maxRetryDelay)
	}
	p.markDone(one) // there is no endpoint
}

// sleep waits for span, or until a redelivery is requested.
func (p *deliverer) sleep(span time.Duration) bool {
	if span <= 0 {
		return p.ctx.Err() == nil
	}
	p.mu.Lock()
	wake := p.wake
	p.mu.Unlock()
	timer := time.NewTimer(span)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-wake:
		return true
	case <-p.ctx.Done():
		return false
	}
}

// attempt makes one delivery attempt.
func (p *deliverer) attempt(one *event, garbled bool) bool {
	b := p.server.state
	b.mu.Lock()
	endpoint, secret := b.settings.Endpoint, b.settings.WebhookSecret
	b.mu.Unlock()
	if endpoint == "" {
		return false
	}
	if garbled {
		secret = "whsec_of_somebody_else"
	}
	request, err := http.NewRequestWithContext(p.ctx, http.MethodPost, endpoint, bytes.NewReader(one.Body))
	if err != nil {
		return false
	}
	request.Header.Set("Content-Type", "application/json; charset=utf-8")
	request.Header.Set("User-Agent", "Stripe/1.0 (+https://stripe.com/docs/webhooks)")
	request.Header.Set("Stripe-Signature", Sign(one.Body, secret, time.Now()))
	response, err := p.client.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	if response.StatusCode/100 != 2 {
		p.counts.Refused++
		return false
	}
	p.counts.Delivered++
	return true
}

// markDone records that an event was delivered.
func (p *deliverer) markDone(one *event) {
	b := p.server.state
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.begin()
	t.change.Done = []string{one.ID}
	if err := t.commit(); err != nil {
		p.server.opts.Logger.Error("sandbox stripe journal write failed", "error", err)
	}
}

func (p *deliverer) close() {
	p.mu.Lock() // nothing is sent after this
	p.stop()
	p.mu.Unlock()
	p.running.Wait()
	p.client.CloseIdleConnections()
}

// Sign returns the value of Stripe-Signature.
func Sign(body []byte, secret string, at time.Time) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
	return fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)))
}
