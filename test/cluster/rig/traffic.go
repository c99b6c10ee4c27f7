package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/signing"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// kind is what a request does.
type kind string

const (
	restCheck kind = "check"
	mcpCheck  kind = "mcp"
	page      kind = "page"
	create    kind = "create"   // a checkout session
	complete  kind = "complete" // pays it
)

// isLookup reports whether a request spends from the budget of its address.
func (k kind) isLookup() bool { return k == restCheck || k == mcpCheck }

// isOrder reports whether a request can't be served without the database.
func (k kind) isOrder() bool { return k == create || k == complete }

// record is one request as its client saw it.
type record struct {
	Kind   kind
	Client string
	Node   string // empty without a response of a node
	// The node decided about the request between Sent and Answered. Without a response,
	// Answered is when the client gave up.
	Sent, Answered time.Time
	Status         int // 0 without a response
	Limited        bool
	Try            int  // 1, or 2 for the repetition of a failed request
	Faulty         bool // asks for a name whose registry fails
	Order          string
}

// failed reports whether the client got no useful response.
func (r record) failed() bool {
	return !r.Faulty && (r.Status == 0 || r.Status >= http.StatusInternalServerError)
}

// purchase is one order of an agent.
type purchase struct {
	Name, Session string
	// Paid is when a completion was confirmed; zero if none was.
	Paid     time.Time
	Declined int   // payment tokens
	Err      error // the last one
}

// Rates of the traffic per second, before scaling.
const (
	checksPerSecond    = 9
	pagesPerSecond     = 2
	purchasesPerSecond = 0.5
	bursters           = 4
	burstsPerSecond    = 1.2 // of each, which is 72 a minute

	steadyClients = 250             // 9 checks a second are 2.2 a minute for each
	burstLife     = 3 * time.Minute // then another address takes over, before the limit of six hours

	retryAfter      = 2 * time.Second
	lookupTimeout   = 15 * time.Second
	purchaseTimeout = 40 * time.Second
	purchaseWithin  = 3 * time.Minute
)

// traffic sends requests and remembers every one.
type traffic struct {
	base  string
	info  testkit.SandboxInfo
	scale float64

	mu        sync.Mutex
	records   []record
	purchases []*purchase
	faulty    bool // upstreams fail now
	running   sync.WaitGroup
}

// run sends requests until ctx ends, and returns after the last response.
func (t *traffic) run(ctx context.Context) {
	var loops sync.WaitGroup
	every := func(perSecond float64, send func()) {
		loops.Go(func() {
			ticker := time.NewTicker(time.Duration(float64(time.Second) / (perSecond * t.scale)))
			defer ticker.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-ticker.C:
					t.running.Go(send)
				}
			}
		})
	}
	// What was sent is judged, also after the end, so requests don't end with ctx.
	every(checksPerSecond, func() { t.retryOnce(t.randomLookup(loopback(1, rand.IntN(steadyClients)))) }) //nolint:contextcheck // as above
	every(pagesPerSecond, func() { t.retryOnce(t.randomPage(loopback(3, rand.IntN(steadyClients)))) })    //nolint:contextcheck // as above
	every(purchasesPerSecond, t.buy)
	began := time.Now()
	for burster := range bursters {
		every(burstsPerSecond, func() { //nolint:contextcheck // as above
			life := int((time.Since(began) + time.Duration(burster)*burstLife/bursters) / burstLife)
			t.randomLookup(loopback(2, life*bursters+burster))(1)
		})
	}
	loops.Wait()
	t.running.Wait()
}

// loopback returns the n-th address of a group. Linux has the whole of 127.0.0.0/8 without
// configuration, so each client is a network address and not only a header.
func loopback(group, n int) string { return fmt.Sprintf("127.%d.%d.%d", group, n/250, n%250+1) }

// retryOnce repeats a failed request once, as a client would.
func (t *traffic) retryOnce(send func(try int) record) {
	if send(1).failed() {
		time.Sleep(retryAfter)
		send(2)
	}
}

func randomLabel() string { return "rig-" + strconv.FormatUint(rand.Uint64()>>20, 36) }

var extensions = []string{".de", ".com", ".org", ".net", ".io", ".shop"}

func randomName() string { return randomLabel() + extensions[rand.IntN(len(extensions))] }

// faultyPrefixes are those of names for which every source fails.
var faultyPrefixes = []string{"timeout-", "garbled-", "refused-", "throttled-"}

// faultyShare of the lookups ask for such a name while upstreams fail.
const faultyShare = 0.3

func (t *traffic) setFaulty(faulty bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.faulty = faulty
}

func (t *traffic) randomLookup(client string) func(try int) record {
	t.mu.Lock()
	faulty := t.faulty && rand.Float64() < faultyShare
	t.mu.Unlock()
	name := randomName()
	if faulty {
		name = faultyPrefixes[rand.IntN(len(faultyPrefixes))] + randomLetters() + ".com"
	}
	if rand.IntN(2) == 0 {
		return func(try int) record { return t.check(client, name, faulty, try) }
	}
	return func(try int) record { return t.callMCP(client, name, faulty, try) }
}

func randomLetters() string {
	letters := make([]byte, 10)
	for i := range letters {
		letters[i] = 'a' + byte(rand.IntN(26))
	}
	return string(letters)
}

func (t *traffic) check(client, name string, faulty bool, try int) record {
	r, _ := t.send(record{Kind: restCheck, Client: client, Try: try, Faulty: faulty}, http.MethodPost, "/api/domain/check", fmt.Sprintf(`{"domain":%q}`, name), nil, lookupTimeout,
		func(r *record, _ []byte) { r.Limited = r.Status == http.StatusTooManyRequests })
	return r
}

func (t *traffic) callMCP(client, name string, faulty bool, try int) record {
	message := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"domain_check","arguments":{"domain":%q}}}`, name)
	r, _ := t.send(record{Kind: mcpCheck, Client: client, Try: try, Faulty: faulty}, http.MethodPost, "/api/mcp", message,
		http.Header{"Accept": {"application/json, text/event-stream"}}, lookupTimeout, mcpOutcome)
	return r
}

// mcpOutcome sets the status that the same result has over REST, because a tool reports
// errors with status 200.
func mcpOutcome(r *record, body []byte) {
	var answer struct {
		Result struct {
			IsError           bool
			StructuredContent struct{ Code string }
		}
	}
	switch {
	case r.Status != http.StatusOK:
	case json.Unmarshal(body, &answer) != nil:
		r.Status = http.StatusInternalServerError
	case answer.Result.IsError && answer.Result.StructuredContent.Code == "rate_limited":
		r.Limited, r.Status = true, http.StatusTooManyRequests
	case answer.Result.IsError:
		r.Status = http.StatusBadGateway
	}
}

var pages = []string{"/", "/preise", "/en/", "/portal/sign-in", "/hilfe"}

func (t *traffic) randomPage(client string) func(try int) record {
	path := pages[rand.IntN(len(pages))]
	return func(try int) record {
		r, _ := t.send(record{Kind: page, Client: client, Try: try}, http.MethodGet, path, "", nil, lookupTimeout, nil)
		return r
	}
}

// buy orders a name and pays with a token. It repeats requests with their idempotency keys
// until each has a final response.
func (t *traffic) buy() {
	p := &purchase{Name: randomLabel() + extensions[rand.IntN(3)]}
	t.mu.Lock()
	t.purchases = append(t.purchases, p)
	t.mu.Unlock()
	client := loopback(4, rand.IntN(steadyClients))
	wanted, err := json.Marshal(map[string]any{
		"items":               []map[string]any{{"id": "register:" + p.Name, "quantity": 1}},
		"buyer":               map[string]string{"first_name": "Carla", "last_name": "Neu", "email": "carla@" + p.Name, "phone_number": "+4930123456"},
		"fulfillment_address": map[string]string{"name": "Carla Neu", "line_one": "Seeweg 1", "city": "Berlin", "state": "Berlin", "postal_code": "10115", "country": "DE"},
	})
	if err != nil {
		p.Err = err
		return
	}
	var session struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	}
	if err := t.postSession(create, client, "", string(wanted), p, &session); err != nil {
		p.Err = fmt.Errorf("create: %w", err)
		return
	}
	t.mu.Lock()
	p.Session = session.ID
	t.mu.Unlock()
	for {
		token := fmt.Sprintf(`{"payment_data":{"token":"spt_ok_%s","provider":"stripe"}}`, strconv.FormatUint(rand.Uint64(), 36))
		err = t.postSession(complete, client, "/"+session.ID+"/complete", token, p, &session)
		if !errors.Is(err, errDeclined) || p.Declined == maxDeclined {
			break
		}
		p.Declined++
		time.Sleep(retryAfter)
	}
	if err != nil {
		p.Err = fmt.Errorf("complete: %w", err)
		return
	}
	t.mu.Lock()
	p.Paid = time.Now()
	t.mu.Unlock()
}

// errDeclined means that nothing was charged, and that the agent may try another token.
var errDeclined = errors.New("payment declined")

// maxDeclined is how many further tokens an agent tries. A node with a wrong clock takes
// good ones for expired.
const maxDeclined = 5

// postSession sends a signed request until it has a final response.
func (t *traffic) postSession(what kind, client, path, body string, p *purchase, into any) error {
	key := randomLabel()
	deadline := time.Now().Add(purchaseWithin)
	for try := 1; ; try++ {
		at := time.Now().UTC().Format(time.RFC3339Nano)
		r, text := t.send(record{Kind: what, Client: client, Try: try, Order: p.Session}, http.MethodPost, "/api/acp/checkout_sessions"+path, body, http.Header{
			"Authorization":         {"Bearer " + t.info.Agent.Key},
			"Idempotency-Key":       {key},
			signing.TimestampHeader: {at},
			signing.SignatureHeader: {signing.Compute(t.info.Agent.Secret, at, []byte(body))},
		}, purchaseTimeout, nil)
		switch {
		case r.Status >= http.StatusOK && r.Status < http.StatusMultipleChoices:
			return json.Unmarshal(text, into)
		case r.failed(), r.Status == http.StatusConflict, r.Status == http.StatusTooManyRequests:
			if time.Now().After(deadline) {
				return fmt.Errorf("status %d after %d tries: %s", r.Status, try, text)
			}
			time.Sleep(retryAfter)
		case r.Status == http.StatusPaymentRequired:
			return fmt.Errorf("%w: %s", errDeclined, text)
		default:
			return fmt.Errorf("status %d: %s", r.Status, text)
		}
	}
}

// send sends one request and records it. outcome may change the record by the response.
func (t *traffic) send(r record, method, path, body string, header http.Header, timeout time.Duration, outcome func(*record, []byte)) (record, []byte) {
	ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), clientKey{}, r.Client), timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, t.base+path, bytes.NewReader([]byte(body)))
	if err != nil {
		panic(err) // the path is a constant
	}
	for name, values := range header {
		request.Header[http.CanonicalHeaderKey(name)] = values
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	r.Sent = time.Now()
	text, status, answered, err := roundTrip(request)
	r.Answered = time.Now()
	if err == nil {
		r.Status, r.Node = status, answered.Get("X-Node")
		if outcome != nil {
			outcome(&r, text)
		}
	}
	t.mu.Lock()
	t.records = append(t.records, r)
	t.mu.Unlock()
	return r, text
}

// clientKey is the context key of the address from which a request is sent.
type clientKey struct{}

// transport opens a connection for each request, from the client's address.
var transport = &http.Transport{
	DisableKeepAlives: true,
	DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		dialer := net.Dialer{Timeout: 5 * time.Second}
		if client, ok := ctx.Value(clientKey{}).(string); ok {
			dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(client)}
		}
		return dialer.DialContext(ctx, network, address)
	},
}

const maxResponse = 4 << 20

func roundTrip(request *http.Request) (body []byte, status int, header http.Header, err error) {
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil, 0, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(io.LimitReader(response.Body, maxResponse))
	return body, response.StatusCode, response.Header, err
}
