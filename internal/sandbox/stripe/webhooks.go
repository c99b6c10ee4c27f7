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
	// A webhook that is not taken comes again after firstWait, then after twice as
	// long each time. Stripe waits for hours; nobody who tries something out does.
	minRetryDelay = 250 * time.Millisecond
	maxRetryDelay = 30 * time.Second
	maxTries      = 200
	// deliveryTimeout bounds one delivery; Stripe waits about as long.
	deliveryTimeout = 10 * time.Second
	// maxLostEvents bounds how many lost events can still be delivered on request.
	maxLostEvents = 1000
)

// event is a webhook, as it is sent.
type event struct {
	ID   string          `json:"id"`
	Type string          `json:"type"`
	Body json.RawMessage `json:"body"`
}

// emit adds an event to the change: it happens with what it tells, or not at all.
// Events exist for what an endpoint of the product subscribes to, and no other.
func (t *tx) emit(kind string, object map[string]any) {
	one := &event{ID: newID("evt_"), Type: kind}
	body, err := json.Marshal(map[string]any{
		"id": one.ID, "object": "event", "api_version": apiVersion, "created": t.at, "type": kind, "livemode": false,
		"pending_webhooks": 1, "request": map[string]any{"id": nil, "idempotency_key": nil}, "data": map[string]any{"object": object},
	})
	if err != nil { // maps of strings and numbers can always be written
		return
	}
	one.Body = body
	t.change.Events = append(t.change.Events, one)
}

// Webhooks is how many events there were, and what became of them.
type Webhooks struct {
	Made      int `json:"made"`
	Delivered int `json:"delivered"`
	Lost      int `json:"lost"`
	Refused   int `json:"refused"` // deliveries, not events
	Waiting   int `json:"waiting"`
}

// deliverer delivers events. Each one is a goroutine that waits for its turn; how many
// there can be is bounded by what the book keeps.
type deliverer struct {
	server *Server
	client *http.Client
	slots  chan struct{}
	ctx    context.Context //nolint:containedctx // the lifetime of all deliveries
	stop   context.CancelFunc
	wake   chan struct{} // closed to wake those that wait; replaced under mu

	running sync.WaitGroup

	mu     sync.Mutex
	counts Webhooks
	lost   []*event
	// deferred is an event that comes after the next one.
	deferred *event
}

func newDeliverer(s *Server) *deliverer {
	ctx, stop := context.WithCancel(context.Background())
	return &deliverer{
		server: s, slots: make(chan struct{}, maxConcurrentDeliveries), ctx: ctx, stop: stop, wake: make(chan struct{}),
		// No proxy of the environment: what is sent stays on this machine.
		client: &http.Client{
			Transport:     &http.Transport{MaxIdleConnsPerHost: maxConcurrentDeliveries, IdleConnTimeout: time.Minute},
			Timeout:       deliveryTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// enqueue decides what becomes of an event. It does not wait.
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
		// Long enough for the one that overtook it to arrive.
		p.send(followed, minRetryDelay, false)
	}
}

// sendDeferred lets an event go that waits for a next one which does not come.
func (p *deliverer) sendDeferred() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.deferred != nil && p.ctx.Err() == nil {
		p.send(p.deferred, 0, false)
		p.deferred = nil
	}
}

// redeliver sends everything at once that waits or was lost.
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
	p.markDone(one) // nobody wants it
}

// sleep waits, or until somebody wants everything at once.
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

// attempt tries once.
func (p *deliverer) attempt(one *event, garbled bool) bool {
	b := p.server.book
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

// markDone writes down that an event was taken.
func (p *deliverer) markDone(one *event) {
	b := p.server.book
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.begin()
	t.change.Done = []string{one.ID}
	if err := t.commit(); err != nil {
		p.server.opts.Logger.Error("the sandbox's Stripe can't write its journal", "error", err)
	}
}

func (p *deliverer) close() {
	p.mu.Lock() // after this nothing is sent any more
	p.stop()
	p.mu.Unlock()
	p.running.Wait()
	p.client.CloseIdleConnections()
}

// Sign makes the value of Stripe-Signature.
func Sign(body []byte, secret string, at time.Time) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
	return fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)))
}
