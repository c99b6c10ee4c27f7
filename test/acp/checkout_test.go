package acp

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/stripe"
)

// A client that knows one shape only buys with it, and every answer keeps to it.
func TestAnAgentBuysInTheShapeThatItKnows(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, test := range []struct{ version, create, update, complete string }{
		{
			"", `{"items":[{"id":"register:laden-eins.de"}]}`, `{` + person + `,"fulfillment_address":` + place + `}`, payWith("spt_ok_1"),
		},
		{
			"2025-09-29", `{"items":[{"id":"register:laden-zwei.de","quantity":1}]}`, `{` + person + `,"fulfillment_address":` + place + `}`,
			`{"payment_data":{"token":"spt_ok_2","provider":"stripe","billing_address":{"name":"Firma Zahlt","line_one":"Kassenweg 9","city":"Bonn","state":"NW","country":"DE","postal_code":"53111"}}}`,
		},
		{
			"2026-04-17", `{"line_items":[{"id":"register:laden-drei.de"}],"currency":"eur","capabilities":{}}`,
			`{` + person + `,"fulfillment_details":{"address":` + place + `}}`,
			`{"payment_data":{"handler_id":"card_tokenized","instrument":{"type":"card","credential":{"type":"spt","token":"spt_ok_3"}}}}`,
		},
	} {
		with := func(key string) map[string]string {
			if test.version == "" {
				return nil
			}
			return map[string]string{"API-Version": test.version, "Idempotency-Key": test.version + key, "Authorization": "Bearer " + s.linked.Key}
		}
		made := s.do(ask{path: sessions, body: test.create, header: with("a")})
		s.fits(test.version, "CheckoutSession", made)
		path := sessions + "/" + made.body.ID
		if made.status != http.StatusCreated || made.body.Status != "not_ready_for_payment" {
			t.Fatalf("%q: create: %d %s", test.version, made.status, made.text)
		}
		for _, field := range []string{"first_name", "last_name", "email", "phone_number", "line_one", "postal_code", "city", "country"} {
			if !strings.Contains(made.text, field) {
				t.Errorf("%q: %s is missing, and nothing says so: %s", test.version, field, made.text)
			}
		}
		early := s.do(ask{path: path + "/complete", body: "{}", header: with("b")})
		s.fits(test.version, "Error", early)
		s.refused(test.version+" too early", early, http.StatusUnprocessableEntity, "missing")
		told := s.do(ask{path: path, body: test.update, header: with("c")})
		s.fits(test.version, "CheckoutSession", told)
		if told.status != http.StatusOK || told.body.Status != "ready_for_payment" {
			t.Fatalf("%q: update: %d %s", test.version, told.status, told.text)
		}
		paid := s.do(ask{path: path + "/complete", body: test.complete, header: with("d")})
		if test.version != "2025-09-29" { // whose schema of a completed session nothing satisfies
			s.fits(test.version, "CheckoutSessionWithOrder", paid)
		}
		s.fits(test.version, "CheckoutSession", paid)
		if strings.Contains(paid.text, "Kassenweg") {
			t.Errorf("%q: who pays has become the holder: %s", test.version, paid.text)
		}
		if paid.status != http.StatusOK || paid.body.Status != "completed" {
			t.Fatalf("%q: complete: %d %s", test.version, paid.status, paid.text)
		}
		if status := s.carriedOut(made.body.ID); status != "completed" {
			t.Errorf("%q: the order is %s", test.version, status)
		}
		s.fits(test.version, "CheckoutSession", s.do(ask{method: http.MethodGet, path: path, header: with("")}))
		late := s.do(ask{path: path + "/cancel", header: with("e")})
		s.fits(test.version, "Error", late)
		s.refused(test.version+" too late", late, http.StatusMethodNotAllowed, "conflict")
	}
	s.books()
}

// 401, 404, 400, 422, 422, 200 with a link, 402, 200.
func TestACompletionAnswersInTheOrderOfThePromise(t *testing.T) {
	t.Parallel()
	s := open(t)
	other := s.admit("Andere")
	bare := s.do(ask{path: sessions, body: `{"items":[{"id":"register:reihenfolge.de"}]}`})
	path := sessions + "/" + bare.body.ID
	const broken = `{"payment_data":{"token":"spt_ok","provider":"elsewhere"}}`
	s.refused("unsigned", s.do(ask{path: path + "/complete", body: broken, unsigned: true}), 401, "signature_required")
	s.refused("a key is no signature", s.do(ask{
		path: path + "/complete", body: broken, unsigned: true, header: map[string]string{"Authorization": "Bearer " + s.linked.Key},
	}), 401, "signature_required")
	s.refused("another agent", s.do(ask{path: path + "/complete", body: broken, by: &other}), 404, "not_found")
	s.refused("another agent reads", s.do(ask{method: "GET", path: path, by: &other}), 404, "not_found")
	s.refused("another agent cancels", s.do(ask{path: path + "/cancel", by: &other}), 404, "not_found")
	s.refused("no session", s.do(ask{path: sessions + "/ord_x/complete", body: broken}), 404, "not_found")
	s.refused("provider", s.complete(bare.body.ID, broken), 400, "unsupported_provider")
	s.refused("data", s.complete(bare.body.ID, payWith("spt_declined")), 422, "missing")

	first, second := s.create("register:begehrt.de"), s.create("register:begehrt.de")
	for label, test := range map[string]struct{ body, code string }{
		"nothing": {"", ""}, "no token": {`{}`, ""}, "the bank asks": {payWith("spt_human_1"), "requires_3ds"},
	} {
		got := s.complete(second.body.ID, test.body)
		if got.status != http.StatusOK || got.body.Status != "not_ready_for_payment" || !strings.HasPrefix(got.body.PaymentURL, s.base+"/checkout/") {
			t.Errorf("%s: got %d %s", label, got.status, got.text)
		}
		if test.code != "" && !strings.Contains(got.text, test.code) {
			t.Errorf("%s: nothing says %s: %s", label, test.code, got.text)
		}
	}
	for _, token := range []string{"spt_declined_1", "spt_expired_1", "spt_small_1"} {
		s.refused(token, s.complete(second.body.ID, payWith(token)), 402, "payment_declined")
	}
	if got := s.complete(first.body.ID, payWith("spt_ok_first")); got.status != 200 || got.body.Status != "completed" {
		t.Fatalf("the first one: %d %s", got.status, got.text)
	}
	s.carriedOut(first.body.ID)
	s.refused("the name is taken meanwhile", s.complete(second.body.ID, payWith("spt_ok_second")), 422, "out_of_stock")
	if got := s.complete(first.body.ID, payWith("spt_ok_third")); got.status != 200 || got.body.Status != "completed" {
		t.Errorf("completed again: %d %s", got.status, got.text)
	}
	if got := s.do(ask{path: sessions + "/" + second.body.ID + "/cancel"}); got.status != 200 || got.body.Status != "canceled" {
		t.Errorf("cancel: %d %s", got.status, got.text)
	}
	s.refused("taken at once", s.do(ask{path: sessions, body: `{"items":[{"id":"register:begehrt.de"}]}`}), 400, "out_of_stock")
	s.books()
}

// While the provider takes its time with the first completion, others of any agent,
// token and key wait for its result.
func TestComplete_ConcurrentOnesGetTheResultOfTheFirst(t *testing.T) {
	t.Parallel()
	s := open(t)
	made := s.create("register:warten.de")
	path := sessions + "/" + made.body.ID
	if err := s.provider.Fault(t.Context(), stripe.Fault{On: "intent.confirm", Do: "slow", Delay: "3s", Times: 1}); err != nil {
		t.Fatal(err)
	}
	key := map[string]string{"Idempotency-Key": "first"}
	asks := []ask{
		{path: path + "/complete", body: payWith("spt_ok_first"), header: key},
		{path: path + "/complete", body: payWith("spt_ok_first"), header: key},
		{path: path + "/complete", body: payWith("spt_ok_second"), header: map[string]string{"Idempotency-Key": "second"}},
		{path: path + "/complete", body: payWith("spt_ok_third")},
		{path: path + "/complete", body: payWith("spt_ok_fourth"), header: map[string]string{"API-Version": "2025-09-29"}},
	}
	replies := make([]reply, len(asks))
	var all sync.WaitGroup
	for i, one := range asks {
		all.Go(func() {
			got, err := s.try(one)
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
	s.carriedOut(made.body.ID)
	s.books()
}

func TestComplete_CanceledSessionIs422OrTheVersionsStatus(t *testing.T) {
	t.Parallel()
	s := open(t)
	made := s.create("register:abgesagt.de")
	if got := s.do(ask{path: sessions + "/" + made.body.ID + "/cancel"}); got.body.Status != "canceled" {
		t.Fatalf("cancel: %d %s", got.status, got.text)
	}
	s.refused("own shape", s.complete(made.body.ID, payWith("spt_ok_late")), 422, "conflict")
	for version, definition := range map[string]string{"2025-09-29": "CheckoutSession", "2026-04-17": "CheckoutSessionWithOrder"} {
		body := payWith("spt_ok_late")
		if version == "2026-04-17" {
			body = `{}`
		}
		got := s.do(ask{path: sessions + "/" + made.body.ID + "/complete", body: body, header: map[string]string{"API-Version": version, "Idempotency-Key": "late-" + version}})
		if got.status != 200 || got.body.Status != "canceled" {
			t.Errorf("%s: got %d %s", version, got.status, got.text)
		}
		s.fits(version, definition, got)
	}
	s.books()
}

func TestNoForgedSignatureCompletes(t *testing.T) {
	t.Parallel()
	s := open(t)
	other := s.admit("Andere")
	made := s.create("register:unterschrift.de")
	path := sessions + "/" + made.body.ID + "/complete"
	body := payWith("spt_ok_forged")
	now := time.Now()
	good := signed(s.linked, body, now)
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
		"nobody's":            {body, signed(agent{Secret: "acp_test_secret"}, body, now), "invalid_signature"},
		"stale":               {body, signed(s.linked, body, now.Add(-301*time.Second)), "stale_timestamp"},
		"from the future":     {body, signed(s.linked, body, now.Add(310*time.Second)), "stale_timestamp"},
		"one byte more":       {body + " ", good, "invalid_signature"},
		"another token":       {strings.Replace(body, "forged", "stolen", 1), good, "invalid_signature"},
		"another time":        {body, with(good, "Timestamp", now.Add(time.Second).UTC().Format(time.RFC3339)), "invalid_signature"},
		"of another encoding": {body, swapped(hex.EncodeToString([]byte(good["Signature"]))), "invalid_signature"},
		"another agent's key": {body, with(good, "Authorization", "Bearer "+other.Key), "invalid_signature"},
		"a key that is none":  {body, with(good, "Authorization", "Bearer dotkontor_agent_x"), "invalid_signature"},
	} {
		s.refused(label, s.do(ask{path: path, body: test.body, unsigned: true, header: test.header}), 401, test.code)
	}
	// A completed request of another session, sent to this one.
	decoy := s.create("register:koeder.de")
	if got := s.do(ask{path: sessions + "/" + decoy.body.ID + "/complete", body: body, unsigned: true, header: good}); got.body.Status != "completed" {
		t.Fatalf("the decoy: %d %s", got.status, got.text)
	}
	s.refused("replayed on another path", s.do(ask{path: path, body: body, unsigned: true, header: good}), 401, "invalid_signature")
	s.refused("in another spelling", s.do(ask{path: path, body: body, unsigned: true, header: swapped(hex.EncodeToString(raw))}), 401, "invalid_signature")
	if got := s.do(ask{method: http.MethodGet, path: sessions + "/" + made.body.ID}); got.body.Status != "ready_for_payment" {
		t.Errorf("the session is %s", got.body.Status)
	}
	for label, spelling := range map[string]string{"hex": hex.EncodeToString(raw), "padded": base64.URLEncoding.EncodeToString(raw)} {
		if got := s.do(ask{path: sessions + "/" + decoy.body.ID + "/complete", body: body, unsigned: true, header: swapped(spelling)}); got.status != 200 {
			t.Errorf("a repetition in %s: %d %s", label, got.status, got.text)
		}
	}
	s.carriedOut(decoy.body.ID)
	s.books()
}

func TestBodiesAndKeysThatAreMeantTwiceAreRefused(t *testing.T) {
	t.Parallel()
	s := open(t)
	made := s.create("register:doppelt.de")
	path := sessions + "/" + made.body.ID
	s.refused("a key twice", s.complete(made.body.ID, `{"payment_data":{"token":"spt_declined_1","token":"spt_ok_1","provider":"stripe"}}`), 400, "duplicate_key")
	s.refused("two objects", s.complete(made.body.ID, payWith("spt_declined")+payWith("spt_ok")), 400, "invalid_body")
	s.refused("version", s.do(ask{path: path, body: "{}", header: map[string]string{"API-Version": "2020-01-01"}}), 400, "unsupported_api_version")
	s.refused("no key", s.do(ask{path: path, body: "{}", header: map[string]string{"API-Version": "2026-04-17"}}), 400, "idempotency_key_required")

	key := map[string]string{"Idempotency-Key": "order-1"}
	first := s.do(ask{path: path + "/complete", body: payWith("spt_ok_once"), header: key})
	again := s.do(ask{path: path + "/complete", body: `{ "payment_data": {"provider":"stripe", "token":"spt_ok_once"} }`, header: key})
	if first.body.Status != "completed" || again.text != first.text || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("got %d %s, then %d %s", first.status, first.text, again.status, again.text)
	}
	s.refused("another body", s.do(ask{path: path + "/complete", body: payWith("spt_ok_twice"), header: key}), 422, "idempotency_conflict")
	old := s.do(ask{path: path + "/complete", body: payWith("spt_ok_twice"), header: map[string]string{"Idempotency-Key": "order-1", "API-Version": "2025-09-29"}})
	s.refused("another body, first version", old, 409, "request_not_idempotent")
	s.fits("2025-09-29", "Error", old)
	made1 := s.do(ask{path: sessions, body: `{"items":[{"id":"register:nur-einmal.de"}]}`, header: map[string]string{"Idempotency-Key": "new"}})
	made2 := s.do(ask{path: sessions, body: `{"items":[{"id":"register:nur-einmal.de"}]}`, header: map[string]string{"Idempotency-Key": "new"}})
	if made1.status != 201 || made2.status != 201 || made1.body.ID != made2.body.ID {
		t.Errorf("a repeated creation: %s and %s", made1.text, made2.text)
	}
	s.carriedOut(made.body.ID)
	s.books()
}

func TestFiftyCompletionsAtOnceAreOnePurchase(t *testing.T) {
	t.Parallel()
	s := open(t)
	made := s.create("register:andrang.de", "register:andrang.com")
	const many = 50
	replies := make([]reply, many)
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			// Half of them with tokens of their own, half with one that all share.
			token := "spt_ok_shared"
			if i%2 == 0 {
				token = fmt.Sprint("spt_ok_", i)
			}
			got, err := s.try(ask{path: sessions + "/" + made.body.ID + "/complete", body: payWith(token)})
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
		t.Error("nobody was told that it is completed")
	}
	if status := s.carriedOut(made.body.ID); status != "completed" {
		t.Errorf("the order is %s", status)
	}
	s.books()
}

// An order that a customer's own agent has made is open to the agent that the
// customer has linked, and to no other.
func TestALinkedAgentCompletesAnOrderOfStartOrder(t *testing.T) {
	t.Parallel()
	s := open(t)
	other := s.admit("Andere")
	id := s.startOrder("von-start-order.de")
	s.refused("not linked", s.do(ask{path: sessions + "/" + id + "/complete", body: payWith("spt_ok_x"), by: &other}), 404, "not_found")
	got := s.complete(id, payWith("spt_ok_y"))
	if got.status != 200 || got.body.Status != "completed" {
		t.Fatalf("got %d %s", got.status, got.text)
	}
	for _, personal := range []string{"Petersen", "Elbstraße", "demo@"} {
		if strings.Contains(got.text, personal) {
			t.Errorf("the agent reads %s: %s", personal, got.text)
		}
	}
	if status := s.carriedOut(id); status != "completed" {
		t.Errorf("the order is %s", status)
	}
	s.books()
}

func (s *stage) startOrder(domain string) string {
	s.t.Helper()
	message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"start_order","arguments":{"items":[{"domain":"` + domain + `","type":"register"}]}}}`
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.base+"/api/mcp", bytes.NewReader([]byte(message)))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("Authorization", "Bearer "+s.token)
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	var body struct {
		Result struct {
			StructuredContent struct{ OrderID string }
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil || body.Result.StructuredContent.OrderID == "" {
		s.t.Fatalf("start_order: %v %+v", err, body)
	}
	return body.Result.StructuredContent.OrderID
}

func TestTooManyBadSignaturesAndSessionsAreHeldBack(t *testing.T) {
	t.Parallel()
	s := open(t, "DOTKONTOR_LIMITS_SESSIONS_PER_AGENT=3", "DOTKONTOR_LIMITS_BAD_SIGNATURES_PER_ADDRESS=5")
	for i := range 6 {
		got := s.do(ask{path: sessions + "/ord_x/complete", unsigned: true})
		if want := map[bool]int{true: 401, false: 429}[i < 5]; got.status != want || (want == 429) != (got.header.Get("Retry-After") != "") {
			t.Errorf("bad signature %d: %d %v", i+1, got.status, got.header)
		}
	}
	keyed := map[string]string{"Authorization": "Bearer " + s.linked.Key} // names the agent behind an address that is over its budget
	for i := range 4 {
		got := s.do(ask{path: sessions, body: `{"items":[{"id":"register:vorrat.de"}]}`, header: keyed})
		if want := map[bool]int{true: 201, false: 429}[i < 3]; got.status != want {
			t.Errorf("session %d: %d %s", i+1, got.status, got.text)
		}
	}
}
