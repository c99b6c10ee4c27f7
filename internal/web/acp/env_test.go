package acp

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/idempotency"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
)

const (
	base         = "https://domains.example"
	sessionsPath = "/api/acp/checkout_sessions"
	sessionPath  = sessionsPath + "/ord_1"
)

// env is the checkout with agents, idempotency keys and orders in memory.
type env struct {
	t       *testing.T
	handler http.Handler
	orders  *fakeOrders
	agents  *fakeAgents
	store   *memStore
	// closing ends waits, like a draining server.
	closing chan struct{}
}

func newEnv(t *testing.T) *env {
	t.Helper()
	w := &env{t: t, orders: newFakeOrders(), agents: &fakeAgents{seen: map[[32]byte]string{}}, closing: make(chan struct{})}
	w.agents.key, _ = registrar.NewSecret(registrar.AgentKey)
	seal, err := registrar.NewSeal([32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	w.store = &memStore{runs: map[string]*storedRun{}}
	answers, err := idempotency.New(idempotency.Config{Store: w.store, Seal: seal})
	if err != nil {
		t.Fatal(err)
	}
	limiter := func(limit int) *ratelimit.Limiter {
		l, err := ratelimit.New(ratelimit.Config{Windows: []ratelimit.Window{{Limit: limit, Per: time.Minute}}, MaxKeys: 1000})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	gate, err := ratelimit.NewGate(ratelimit.Config{Windows: []ratelimit.Window{{Limit: 30, Per: time.Minute}}, MaxKeys: 1000}, 20)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := New(Config{
		BaseURL: base, Agents: w.agents, Orders: w.orders, Idempotency: answers, OrdersPath: "/portal/orders/",
		SupportsTLD: func(tld string) bool { return tld == ".de" || tld == ".com" },
		CreateLimit: limiter(60), BadSignatures: gate,
		Address: func(r *http.Request) netip.Addr { return netip.MustParseAddrPort(r.RemoteAddr).Addr() },
		Closing: w.closing,
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for _, r := range handler.Routes() {
		mux.HandleFunc(r.Method+" "+r.Path, r.Handler)
	}
	w.handler = mux
	return w
}

// testRequest is one request. Without a signature it carries the agent's key; by
// default a POST is signed by agent a.
type testRequest struct {
	method, path, body string
	agent              string // "" is a
	unsigned           bool
	header             map[string]string
	add                [2]string // an additional header of the same name
	from               string
	ctx                context.Context //nolint:containedctx // nil: the client stays connected
}

type testResponse struct {
	status int
	header http.Header
	text   string
	body   map[string]any
}

func (w *env) do(a testRequest) testResponse {
	w.t.Helper()
	if a.method == "" {
		a.method = http.MethodPost
	}
	request := httptest.NewRequest(a.method, base+a.path, strings.NewReader(a.body))
	if a.ctx != nil {
		request = request.WithContext(a.ctx)
	}
	if a.from != "" {
		request.RemoteAddr = a.from + ":1"
	}
	if !a.unsigned {
		who := a.agent
		if who == "" {
			who = "a"
		}
		timestamp := time.Now().UTC().Format(time.RFC3339Nano)
		request.Header.Set("Timestamp", timestamp)
		request.Header.Set("Signature", signing.Compute(secretOf(who), timestamp, []byte(a.body)))
	}
	for name, value := range a.header {
		request.Header.Set(name, value)
	}
	if a.add[0] != "" {
		request.Header.Add(a.add[0], a.add[1])
	}
	recorder := httptest.NewRecorder()
	w.handler.ServeHTTP(recorder, request)
	got := testResponse{status: recorder.Code, header: recorder.Header()}
	text, err := io.ReadAll(recorder.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	got.text = string(text)
	if err := json.Unmarshal(text, &got.body); err != nil {
		w.t.Fatalf("%s %s: %d with a body that is not an object: %q", a.method, a.path, got.status, text)
	}
	return got
}

// wantProblem checks that a response is an error of the protocol.
func (w *env) wantProblem(label string, got testResponse, status int, code string) {
	w.t.Helper()
	if got.status != status || got.body["code"] != code {
		w.t.Errorf("%s: got %d %s, want %d %s", label, got.status, got.text, status, code)
	}
	for _, field := range []string{"type", "message"} {
		if text, ok := got.body[field].(string); !ok || text == "" {
			w.t.Errorf("%s: no %s in %s", label, field, got.text)
		}
	}
}

func secretOf(who string) string { return "secret-of-agent-" + who }

// fakeAgents are a, b and c with the keys key-a and so on.
type fakeAgents struct {
	// key is agent a's real key; calls counts verifications, and slow delays them.
	key   string
	calls atomic.Int64
	slow  chan struct{}
	mu    sync.Mutex
	seen  map[[32]byte]string
	err   error
}

func (f *fakeAgents) Authenticate(_ context.Context, c agent.Credentials) (agent.Agent, error) {
	f.calls.Add(1)
	if f.slow != nil {
		<-f.slow
	}
	if f.err != nil {
		return agent.Agent{}, f.err
	}
	if c.Bearer == f.key {
		c.Bearer = "key-a"
	}
	names := []string{"a", "b", "c"}
	if c.Bearer != "" {
		name, ok := strings.CutPrefix(c.Bearer, "key-")
		if !ok || !slices.Contains(names, name) {
			return agent.Agent{}, agent.ErrUnknownKey
		}
		if !c.Completing && c.Signature == "" {
			return agent.Agent{ID: "agt_" + name}, nil
		}
		names = []string{name}
	}
	for _, name := range names {
		mac, err := signing.Ours.Verify(time.Now(), []string{secretOf(name)}, signing.Request{Timestamp: c.Timestamp, Body: c.Body}, c.Signature)
		if err == signing.ErrInvalid { //nolint:errorlint // a sentinel of package signing
			continue
		}
		if err != nil {
			return agent.Agent{}, err
		}
		if c.Completing && f.recordSignature(mac, c.Path) != c.Path {
			return agent.Agent{}, signing.ErrInvalid
		}
		return agent.Agent{ID: "agt_" + name}, nil
	}
	return agent.Agent{}, signing.ErrInvalid
}

// recordSignature stores a signature and returns the path of its first use.
func (f *fakeAgents) recordSignature(mac [32]byte, path string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if first, known := f.seen[mac]; known {
		return first
	}
	f.seen[mac] = path
	return path
}

// fakeOrders returns what a test sets and records its calls. ord_1 belongs to agent a.
type fakeOrders struct {
	mu      sync.Mutex
	session order.Session
	err     error
	calls   []string
	created order.SessionRequest
	changed order.SessionChange
	done    order.Completion
	actor   registrar.Actor
	// running, if set, blocks updates until it is closed; takes is the duration of a
	// completion.
	running chan struct{}
	takes   time.Duration
}

func newFakeOrders() *fakeOrders { return &fakeOrders{session: sessionStates()["ready"]} }

func (f *fakeOrders) record(call string, actor registrar.Actor, id string) (order.Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, call)
	f.actor = actor
	if id != "" && (id != "ord_1" || actor.Through != "agt_a") {
		return order.Session{}, &registrar.Error{Kind: registrar.KindNotFound, Code: order.NoSuchOrder}
	}
	return f.session, f.err
}

func (f *fakeOrders) count(call string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, made := range f.calls {
		if made == call {
			n++
		}
	}
	return n
}

func (f *fakeOrders) CreateSession(_ context.Context, actor registrar.Actor, req order.SessionRequest) (order.Session, error) {
	f.created = req
	return f.record("create", actor, "")
}

func (f *fakeOrders) Session(_ context.Context, actor registrar.Actor, id string) (order.Session, error) {
	session, err := f.record("read", actor, id)
	if registrar.KindOf(err) != registrar.KindNotFound {
		err = nil
	}
	return session, err
}

func (f *fakeOrders) BuyerContact(ctx context.Context, actor registrar.Actor, id string) (order.Contact, error) {
	session, err := f.Session(ctx, actor, id)
	return session.Order.Contact, err
}

func (f *fakeOrders) UpdateSession(_ context.Context, actor registrar.Actor, id string, change order.SessionChange) (order.Session, error) {
	if f.running != nil {
		<-f.running
	}
	f.changed = change
	return f.record("update", actor, id)
}

func (f *fakeOrders) CompleteSession(_ context.Context, actor registrar.Actor, id string, done order.Completion) (order.Session, error) {
	time.Sleep(f.takes)
	f.mu.Lock()
	f.done = done
	f.mu.Unlock()
	return f.record("complete", actor, id)
}

func (f *fakeOrders) CancelSession(_ context.Context, actor registrar.Actor, id string) (order.Session, error) {
	return f.record("cancel", actor, id)
}

// memStore stores responses in memory.
type memStore struct {
	mu   sync.Mutex
	runs map[string]*storedRun
}

type storedRun struct {
	attempt idempotency.Attempt
	answer  *idempotency.SealedResponse
	// abandoned means that its process is gone.
	abandoned bool
}

func (s *memStore) BeginRun(_ context.Context, attempt idempotency.Attempt) (idempotency.KeyState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.runs[attempt.Scope+attempt.Key]; ok && known.abandoned {
		s.runs[attempt.Scope+attempt.Key] = &storedRun{attempt: attempt}
		return idempotency.KeyState{Acquired: true, Resumed: true}, nil
	} else if ok {
		return idempotency.KeyState{Body: known.attempt.Body, Response: known.answer}, nil
	}
	s.runs[attempt.Scope+attempt.Key] = &storedRun{attempt: attempt}
	return idempotency.KeyState{Acquired: true}, nil
}

func (s *memStore) FinishRun(_ context.Context, scope, key, _ string, answer idempotency.SealedResponse) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs[scope+key].answer = &answer
	return true, nil
}

func (s *memStore) ReleaseRun(_ context.Context, scope, key, _ string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.runs[scope+key]; ok && known.answer == nil {
		delete(s.runs, scope+key)
	}
	return nil
}

func (s *memStore) DeleteExpiredRuns(context.Context, time.Time, int) (int, error) { return 0, nil }

// sessionStates has a session in every state that an agent can see.
func sessionStates() map[string]order.Session {
	at := time.Date(2026, 11, 15, 9, 0, 0, 123, time.UTC)
	ordered := func(state order.State, first, second order.ItemState) order.Order {
		return order.Order{
			ID: "ord_1", Customer: "cus_1", State: state, Channel: order.ChannelACP, Agent: "agt_a",
			Contact: order.Contact{
				FirstName: "Erika", LastName: "Mustermann", Organisation: "Muster GmbH", VATID: "DE123456789",
				Email: "erika@kundin.example", Phone: "+49.30123456", Street: "Musterweg 1", PostalCode: "10115", City: "Berlin", Country: "DE",
			},
			Items: []order.Item{
				{ID: "itm_1", Name: "kaffee.de", TLD: ".de", Kind: order.Register, Years: 1, Net: 690, VAT: 131, Gross: 821, State: first},
				{ID: "itm_2", Name: "kaffee.com", TLD: ".com", Kind: order.Transfer, Years: 2, Net: 2000, VAT: 380, Gross: 2380, State: second},
			},
			Totals: order.Totals{Net: 2690, VAT: 511, Gross: 3201, RateBasisPoints: 1900, Country: "DE"}, SealedPayLink: "sealed",
			CreatedAt: at, UpdatedAt: at, ExpiresAt: at.Add(time.Hour),
		}
	}
	const pay, verify = base + "/checkout/dotkontor_pay_1", base + "/checkout/verify/dotkontor_verify_1"
	open := ordered(order.AwaitingPayment, order.ItemWaiting, order.ItemWaiting)
	untold := open
	untold.Contact = order.Contact{}
	paid := ordered(order.Provisioning, order.ItemProvisioning, order.ItemProvisioning)
	repaid := ordered(order.PartiallyCompleted, order.ItemActive, order.ItemRefunded)
	repaid.Claimed = true
	repaid.Items[1].Failure = "name_taken"
	repaid.Refunds = []order.Refund{
		{ID: "rfd_1", Payment: "pay_1", Item: "itm_2", Amount: 2380, Provider: "re_1", CreatedAt: at, MadeAt: at.Add(time.Minute)},
		{ID: "rfd_2", Payment: "pay_2", Amount: 3201, CreatedAt: at},
	}
	owed := ordered(order.Failed, order.ItemFailed, order.ItemFailed)
	owed.Items[0].Failure = "name_taken"
	owed.Refunds = []order.Refund{{ID: "rfd_1", Payment: "pay_1", Item: "itm_1", Amount: 821, CreatedAt: at}}
	return map[string]order.Session{
		"ready":    {View: order.View{Order: open}, Status: order.Ready, PayURL: pay},
		"untold":   {View: order.View{Order: untold, Missing: []string{order.MissingRegistrant}}, Status: order.NotReady, PayURL: pay, MissingFields: []string{"city", "email", "first_name", "phone"}},
		"unasked":  {View: order.View{Order: open, Unquoted: true}, Status: order.Ready, PayURL: pay},
		"code":     {View: order.View{Order: open, Missing: []string{order.MissingCode}, MissingByItem: map[string][]string{"itm_2": {order.MissingCode, "trustee"}}}, Status: order.NotReady, PayURL: pay},
		"rejected": {View: order.View{Order: open, Missing: []string{"registrant_name_over_50"}, MissingByItem: map[string][]string{"itm_1": {"registrant_name_over_50"}}}, Status: order.NotReady, PayURL: pay},
		"identity": {View: order.View{Order: open, Missing: []string{order.MissingIdentity}}, Status: order.NotReady, PayURL: pay, VerifyURL: verify, Problem: order.ProblemIdentity},
		"taken":    {View: order.View{Order: open, Refused: map[string]error{"itm_1": &registrar.Error{Kind: registrar.KindConflict, Code: "name_taken"}}}, Status: order.NotReady, PayURL: pay},
		"no token": {View: order.View{Order: open}, Status: order.NotReady, PayURL: pay, Problem: order.ProblemNoPayment},
		"bank":     {View: order.View{Order: open}, Status: order.NotReady, PayURL: pay, Problem: order.ProblemHuman},
		"paying":   {View: order.View{Order: ordered(order.Paying, order.ItemWaiting, order.ItemWaiting)}, Status: order.InProgress},
		"paid":     {View: order.View{Order: paid}, Status: order.SessionCompleted},
		"done":     {View: order.View{Order: ordered(order.Completed, order.ItemActive, order.ItemActive)}, Status: order.SessionCompleted},
		"repaid":   {View: order.View{Order: repaid}, Status: order.SessionCompleted},
		"owed":     {View: order.View{Order: owed}, Status: order.SessionCompleted},
		"canceled": {View: order.View{Order: ordered(order.Canceled, order.ItemWaiting, order.ItemWaiting)}, Status: order.SessionCanceled},
		"expired":  {View: order.View{Order: ordered(order.Expired, order.ItemWaiting, order.ItemWaiting)}, Status: order.SessionExpired},
	}
}
