package acp

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/stripe"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// A client of one version completes a purchase, and every response has its shape.
func TestCheckout_EachAPIVersionBuysInItsOwnShape(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	for _, test := range []struct{ version, create, update, complete string }{
		{
			"", `{"items":[{"id":"register:laden-eins.de"}]}`, `{` + buyerJSON + `,"fulfillment_address":` + addressJSON + `}`, payWith("spt_ok_1"),
		},
		{
			"2025-09-29", `{"items":[{"id":"register:laden-zwei.de","quantity":1}]}`, `{` + buyerJSON + `,"fulfillment_address":` + addressJSON + `}`,
			`{"payment_data":{"token":"spt_ok_2","provider":"stripe","billing_address":{"name":"Firma Zahlt","line_one":"Kassenweg 9","city":"Bonn","state":"NW","country":"DE","postal_code":"53111"}}}`,
		},
		{
			"2026-04-17", `{"line_items":[{"id":"register:laden-drei.de"}],"currency":"eur","capabilities":{}}`,
			`{` + buyerJSON + `,"fulfillment_details":{"address":` + addressJSON + `}}`,
			`{"payment_data":{"handler_id":"card_tokenized","instrument":{"type":"card","credential":{"type":"spt","token":"spt_ok_3"}}}}`,
		},
	} {
		with := func(key string) map[string]string {
			if test.version == "" {
				return nil
			}
			return map[string]string{"API-Version": test.version, "Idempotency-Key": test.version + key, "Authorization": "Bearer " + s.linked.Key}
		}
		made := s.doRequest(acpRequest{path: sessionsPath, body: test.create, header: with("a")})
		s.wantSchema(test.version, "CheckoutSession", made)
		path := sessionsPath + "/" + made.body.ID
		if made.status != http.StatusCreated || made.body.Status != "not_ready_for_payment" {
			t.Fatalf("%q: create: %d %s", test.version, made.status, made.text)
		}
		for _, field := range []string{"first_name", "last_name", "email", "phone_number", "line_one", "postal_code", "city", "country"} {
			if !strings.Contains(made.text, field) {
				t.Errorf("%q: %s is missing without a message: %s", test.version, field, made.text)
			}
		}
		early := s.doRequest(acpRequest{path: path + "/complete", body: "{}", header: with("b")})
		s.wantSchema(test.version, "Error", early)
		s.wantError(test.version+" too early", early, http.StatusUnprocessableEntity, "missing")
		updated := s.doRequest(acpRequest{path: path, body: test.update, header: with("c")})
		s.wantSchema(test.version, "CheckoutSession", updated)
		if updated.status != http.StatusOK || updated.body.Status != "ready_for_payment" {
			t.Fatalf("%q: update: %d %s", test.version, updated.status, updated.text)
		}
		paid := s.doRequest(acpRequest{path: path + "/complete", body: test.complete, header: with("d")})
		if test.version != "2025-09-29" { // its schema of a completed session is unsatisfiable
			s.wantSchema(test.version, "CheckoutSessionWithOrder", paid)
		}
		s.wantSchema(test.version, "CheckoutSession", paid)
		if strings.Contains(paid.text, "Kassenweg") {
			t.Errorf("%q: the payer became the registrant: %s", test.version, paid.text)
		}
		if paid.status != http.StatusOK || paid.body.Status != "completed" {
			t.Fatalf("%q: complete: %d %s", test.version, paid.status, paid.text)
		}
		if status := s.waitForOrder(made.body.ID); status != "completed" {
			t.Errorf("%q: the order is %s", test.version, status)
		}
		s.wantSchema(test.version, "CheckoutSession", s.doRequest(acpRequest{method: http.MethodGet, path: path, header: with("")}))
		late := s.doRequest(acpRequest{path: path + "/cancel", header: with("e")})
		s.wantSchema(test.version, "Error", late)
		s.wantError(test.version+" too late", late, http.StatusMethodNotAllowed, "conflict")
	}
	s.reconcile()
}

// 401, 404, 400, 422, 422, 200 with a link, 402, 200.
func TestComplete_ErrorsFollowDocumentedPrecedence(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	other := s.addAgent("Andere")
	bare := s.doRequest(acpRequest{path: sessionsPath, body: `{"items":[{"id":"register:reihenfolge.de"}]}`})
	path := sessionsPath + "/" + bare.body.ID
	const broken = `{"payment_data":{"token":"spt_ok","provider":"elsewhere"}}`
	s.wantError("unsigned", s.doRequest(acpRequest{path: path + "/complete", body: broken, unsigned: true}), 401, "signature_required")
	s.wantError("a key is no signature", s.doRequest(acpRequest{
		path: path + "/complete", body: broken, unsigned: true, header: map[string]string{"Authorization": "Bearer " + s.linked.Key},
	}), 401, "signature_required")
	s.wantError("another agent", s.doRequest(acpRequest{path: path + "/complete", body: broken, agent: &other}), 404, "not_found")
	s.wantError("another agent reads", s.doRequest(acpRequest{method: "GET", path: path, agent: &other}), 404, "not_found")
	s.wantError("another agent cancels", s.doRequest(acpRequest{path: path + "/cancel", agent: &other}), 404, "not_found")
	s.wantError("no session", s.doRequest(acpRequest{path: sessionsPath + "/ord_x/complete", body: broken}), 404, "not_found")
	s.wantError("provider", s.completeSession(bare.body.ID, broken), 400, "unsupported_provider")
	s.wantError("data", s.completeSession(bare.body.ID, payWith("spt_declined")), 422, "missing")

	first, second := s.createSession("register:begehrt.de"), s.createSession("register:begehrt.de")
	for label, test := range map[string]struct{ body, code string }{
		"nothing": {"", ""}, "no token": {`{}`, ""}, "the bank asks": {payWith("spt_human_1"), "requires_3ds"},
	} {
		got := s.completeSession(second.body.ID, test.body)
		if got.status != http.StatusOK || got.body.Status != "not_ready_for_payment" || !strings.HasPrefix(got.body.PaymentURL, s.base+"/checkout/") {
			t.Errorf("%s: got %d %s", label, got.status, got.text)
		}
		if test.code != "" && !strings.Contains(got.text, test.code) {
			t.Errorf("%s: no message %s: %s", label, test.code, got.text)
		}
	}
	for _, token := range []string{"spt_declined_1", "spt_expired_1", "spt_small_1"} {
		s.wantError(token, s.completeSession(second.body.ID, payWith(token)), 402, "payment_declined")
	}
	if got := s.completeSession(first.body.ID, payWith("spt_ok_first")); got.status != 200 || got.body.Status != "completed" {
		t.Fatalf("the first one: %d %s", got.status, got.text)
	}
	s.waitForOrder(first.body.ID)
	s.wantError("the name is taken meanwhile", s.completeSession(second.body.ID, payWith("spt_ok_second")), 422, "out_of_stock")
	if got := s.completeSession(first.body.ID, payWith("spt_ok_third")); got.status != 200 || got.body.Status != "completed" {
		t.Errorf("completed again: %d %s", got.status, got.text)
	}
	if got := s.doRequest(acpRequest{path: sessionsPath + "/" + second.body.ID + "/cancel"}); got.status != 200 || got.body.Status != "canceled" {
		t.Errorf("cancel: %d %s", got.status, got.text)
	}
	s.wantError("taken at once", s.doRequest(acpRequest{path: sessionsPath, body: `{"items":[{"id":"register:begehrt.de"}]}`}), 400, "out_of_stock")
	s.reconcile()
}

// While the first completion waits for the provider, completions with any agent, token
// and key wait for its result.
func TestComplete_ConcurrentCallsGetResultOfFirst(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	made := s.createSession("register:warten.de")
	path := sessionsPath + "/" + made.body.ID
	if err := s.provider.InjectFault(t.Context(), stripe.Fault{On: "intent.confirm", Do: "slow", Delay: "3s", Times: 1}); err != nil {
		t.Fatal(err)
	}
	key := map[string]string{"Idempotency-Key": "first"}
	asks := []acpRequest{
		{path: path + "/complete", body: payWith("spt_ok_first"), header: key},
		{path: path + "/complete", body: payWith("spt_ok_first"), header: key},
		{path: path + "/complete", body: payWith("spt_ok_second"), header: map[string]string{"Idempotency-Key": "second"}},
		{path: path + "/complete", body: payWith("spt_ok_third")},
		{path: path + "/complete", body: payWith("spt_ok_fourth"), header: map[string]string{"API-Version": "2025-09-29"}},
	}
	replies := make([]acpResponse, len(asks))
	var all sync.WaitGroup
	for i, one := range asks {
		all.Go(func() {
			got, err := s.tryRequest(one)
			if err != nil {
				t.Error(err)
			}
			replies[i] = got
		})
	}
	all.Wait()
	for i, got := range replies {
		if got.status != http.StatusOK || got.body.Status != "completed" {
			t.Errorf("completion %d: %d %s", i+1, got.status, got.text)
		}
	}
	if money, err := s.provider.Money(t.Context()); err != nil || len(money.Charges) != 1 {
		t.Errorf("%d charges, %v", len(money.Charges), err)
	}
	s.waitForOrder(made.body.ID)
	s.reconcile()
}

func TestComplete_CanceledSessionIs422OrVersionSpecificStatus(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	made := s.createSession("register:abgesagt.de")
	if got := s.doRequest(acpRequest{path: sessionsPath + "/" + made.body.ID + "/cancel"}); got.body.Status != "canceled" {
		t.Fatalf("cancel: %d %s", got.status, got.text)
	}
	s.wantError("own shape", s.completeSession(made.body.ID, payWith("spt_ok_late")), 422, "conflict")
	for version, definition := range map[string]string{"2025-09-29": "CheckoutSession", "2026-04-17": "CheckoutSessionWithOrder"} {
		body := payWith("spt_ok_late")
		if version == "2026-04-17" {
			body = `{}`
		}
		got := s.doRequest(acpRequest{path: sessionsPath + "/" + made.body.ID + "/complete", body: body, header: map[string]string{"API-Version": version, "Idempotency-Key": "late-" + version}})
		if got.status != 200 || got.body.Status != "canceled" {
			t.Errorf("%s: got %d %s", version, got.status, got.text)
		}
		s.wantSchema(version, definition, got)
	}
	s.reconcile()
}

func TestComplete_ForgedOrReplayedSignatureIsRefused(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	other := s.addAgent("Andere")
	made := s.createSession("register:unterschrift.de")
	path := sessionsPath + "/" + made.body.ID + "/complete"
	body := payWith("spt_ok_forged")
	now := time.Now()
	good := signatureHeaders(s.linked, body, now)
	raw, err := base64.RawURLEncoding.DecodeString(good["Signature"])
	if err != nil {
		t.Fatal(err)
	}
	swapped := func(signature string) map[string]string {
		return map[string]string{"Timestamp": good["Timestamp"], "Signature": signature}
	}
	with := func(header map[string]string, name, value string) map[string]string {
		more := maps.Clone(header)
		more[name] = value
		return more
	}
	for label, test := range map[string]struct {
		body   string
		header map[string]string
		code   string
	}{
		"missing":             {body, nil, "signature_required"},
		"no time":             {body, map[string]string{"Signature": good["Signature"]}, "signature_required"},
		"unknown secret":      {body, signatureHeaders(agent{Secret: "acp_test_secret"}, body, now), "invalid_signature"},
		"stale":               {body, signatureHeaders(s.linked, body, now.Add(-301*time.Second)), "stale_timestamp"},
		"from the future":     {body, signatureHeaders(s.linked, body, now.Add(310*time.Second)), "stale_timestamp"},
		"one byte more":       {body + " ", good, "invalid_signature"},
		"another token":       {strings.Replace(body, "forged", "stolen", 1), good, "invalid_signature"},
		"another time":        {body, with(good, "Timestamp", now.Add(time.Second).UTC().Format(time.RFC3339)), "invalid_signature"},
		"of another encoding": {body, swapped(hex.EncodeToString([]byte(good["Signature"]))), "invalid_signature"},
		"another agent's key": {body, with(good, "Authorization", "Bearer "+other.Key), "invalid_signature"},
		"an invalid key":      {body, with(good, "Authorization", "Bearer dotkontor_agent_x"), "invalid_signature"},
	} {
		s.wantError(label, s.doRequest(acpRequest{path: path, body: test.body, unsigned: true, header: test.header}), 401, test.code)
	}
	// Another session's completed request, replayed to this one.
	decoy := s.createSession("register:koeder.de")
	if got := s.doRequest(acpRequest{path: sessionsPath + "/" + decoy.body.ID + "/complete", body: body, unsigned: true, header: good}); got.body.Status != "completed" {
		t.Fatalf("the decoy: %d %s", got.status, got.text)
	}
	s.wantError("replayed on another path", s.doRequest(acpRequest{path: path, body: body, unsigned: true, header: good}), 401, "invalid_signature")
	s.wantError("in another spelling", s.doRequest(acpRequest{path: path, body: body, unsigned: true, header: swapped(hex.EncodeToString(raw))}), 401, "invalid_signature")
	if got := s.doRequest(acpRequest{method: http.MethodGet, path: sessionsPath + "/" + made.body.ID}); got.body.Status != "ready_for_payment" {
		t.Errorf("the session is %s", got.body.Status)
	}
	for label, spelling := range map[string]string{"hex": hex.EncodeToString(raw), "padded": base64.URLEncoding.EncodeToString(raw)} {
		if got := s.doRequest(acpRequest{path: sessionsPath + "/" + decoy.body.ID + "/complete", body: body, unsigned: true, header: swapped(spelling)}); got.status != 200 {
			t.Errorf("a repetition in %s: %d %s", label, got.status, got.text)
		}
	}
	s.waitForOrder(decoy.body.ID)
	s.reconcile()
}

func TestComplete_DuplicateKeysAndReusedIdempotencyKeysAreRefused(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	made := s.createSession("register:doppelt.de")
	path := sessionsPath + "/" + made.body.ID
	s.wantError("a key twice", s.completeSession(made.body.ID, `{"payment_data":{"token":"spt_declined_1","token":"spt_ok_1","provider":"stripe"}}`), 400, "duplicate_key")
	s.wantError("two objects", s.completeSession(made.body.ID, payWith("spt_declined")+payWith("spt_ok")), 400, "invalid_body")
	s.wantError("version", s.doRequest(acpRequest{path: path, body: "{}", header: map[string]string{"API-Version": "2020-01-01"}}), 400, "unsupported_api_version")
	s.wantError("no key", s.doRequest(acpRequest{path: path, body: "{}", header: map[string]string{"API-Version": "2026-04-17"}}), 400, "idempotency_key_required")

	key := map[string]string{"Idempotency-Key": "order-1"}
	first := s.doRequest(acpRequest{path: path + "/complete", body: payWith("spt_ok_once"), header: key})
	again := s.doRequest(acpRequest{path: path + "/complete", body: `{ "payment_data": {"provider":"stripe", "token":"spt_ok_once"} }`, header: key})
	if first.body.Status != "completed" || again.text != first.text || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("got %d %s, then %d %s", first.status, first.text, again.status, again.text)
	}
	s.wantError("another body", s.doRequest(acpRequest{path: path + "/complete", body: payWith("spt_ok_twice"), header: key}), 422, "idempotency_conflict")
	old := s.doRequest(acpRequest{path: path + "/complete", body: payWith("spt_ok_twice"), header: map[string]string{"Idempotency-Key": "order-1", "API-Version": "2025-09-29"}})
	s.wantError("another body, first version", old, 409, "request_not_idempotent")
	s.wantSchema("2025-09-29", "Error", old)
	made1 := s.doRequest(acpRequest{path: sessionsPath, body: `{"items":[{"id":"register:nur-einmal.de"}]}`, header: map[string]string{"Idempotency-Key": "new"}})
	made2 := s.doRequest(acpRequest{path: sessionsPath, body: `{"items":[{"id":"register:nur-einmal.de"}]}`, header: map[string]string{"Idempotency-Key": "new"}})
	if made1.status != 201 || made2.status != 201 || made1.body.ID != made2.body.ID {
		t.Errorf("a repeated creation: %s and %s", made1.text, made2.text)
	}
	s.waitForOrder(made.body.ID)
	s.reconcile()
}

func TestComplete_FiftyConcurrentCallsChargeOnce(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	made := s.createSession("register:andrang.de", "register:andrang.com")
	const many = 50
	replies := make([]acpResponse, many)
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			// Half of them have their own token, half share one.
			token := "spt_ok_shared"
			if i%2 == 0 {
				token = fmt.Sprint("spt_ok_", i)
			}
			got, err := s.tryRequest(acpRequest{path: sessionsPath + "/" + made.body.ID + "/complete", body: payWith(token)})
			if err != nil {
				t.Error(err)
			}
			replies[i] = got
		})
	}
	all.Wait()
	completed := 0
	for _, got := range replies {
		switch {
		case got.status == http.StatusOK && got.body.Status == "completed":
			completed++
		case got.status == http.StatusConflict && got.header.Get("Retry-After") != "", got.status == http.StatusServiceUnavailable:
		default:
			t.Errorf("got %d %s", got.status, got.text)
		}
	}
	if completed == 0 {
		t.Error("no response reports completion")
	}
	if status := s.waitForOrder(made.body.ID); status != "completed" {
		t.Errorf("the order is %s", status)
	}
	s.reconcile()
}

// An order created by MCP can be completed by the agent that its customer has linked,
// and by no other.
func TestComplete_LinkedAgentCompletesStartOrderOrder(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	other := s.addAgent("Andere")
	id := s.startOrder("von-start-order.de")
	s.wantError("not linked", s.doRequest(acpRequest{path: sessionsPath + "/" + id + "/complete", body: payWith("spt_ok_x"), agent: &other}), 404, "not_found")
	got := s.completeSession(id, payWith("spt_ok_y"))
	if got.status != 200 || got.body.Status != "completed" {
		t.Fatalf("got %d %s", got.status, got.text)
	}
	for _, personal := range []string{"Petersen", "Elbstraße", "demo@"} {
		if strings.Contains(got.text, personal) {
			t.Errorf("the agent reads %s: %s", personal, got.text)
		}
	}
	if status := s.waitForOrder(id); status != "completed" {
		t.Errorf("the order is %s", status)
	}
	s.reconcile()
}

func (s *env) startOrder(domain string) string {
	s.t.Helper()
	var order struct{ OrderID string }
	failed, err := testkit.MCP{Base: s.base, Token: s.token}.Call(s.t.Context(), "start_order",
		map[string]any{"items": []map[string]string{{"domain": domain, "type": "register"}}}, &order)
	if err != nil || failed || order.OrderID == "" {
		s.t.Fatalf("start_order: %v %+v", err, order)
	}
	return order.OrderID
}

func TestLimits_BadSignaturesAndSessionsPerAgent(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "DOTKONTOR_LIMITS_SESSIONS_PER_AGENT=3", "DOTKONTOR_LIMITS_BAD_SIGNATURES_PER_ADDRESS=5")
	for i := range 6 {
		got := s.doRequest(acpRequest{path: sessionsPath + "/ord_x/complete", unsigned: true})
		if want := map[bool]int{true: 401, false: 429}[i < 5]; got.status != want || (want == 429) != (got.header.Get("Retry-After") != "") {
			t.Errorf("bad signature %d: %d %v", i+1, got.status, got.header)
		}
	}
	keyed := map[string]string{"Authorization": "Bearer " + s.linked.Key} // identifies the agent at an address over its budget
	for i := range 4 {
		got := s.doRequest(acpRequest{path: sessionsPath, body: `{"items":[{"id":"register:vorrat.de"}]}`, header: keyed})
		if want := map[bool]int{true: 201, false: 429}[i < 3]; got.status != want {
			t.Errorf("session %d: %d %s", i+1, got.status, got.text)
		}
	}
}
