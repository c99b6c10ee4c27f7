package acp

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
)

const payBody = `{"payment_data":{"token":"spt_7","provider":"stripe"}}`

func TestComplete_NeedsValidSignature(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC()
	fresh, old, early := now.Format(time.RFC3339), now.Add(-6*time.Minute).Format(time.RFC3339), now.Add(6*time.Minute).Format(time.RFC3339)
	sign := func(who, at, body string) string { return signing.Compute(secretOf(who), at, []byte(body)) }
	good := sign("a", fresh, payBody)
	raw, err := base64.RawURLEncoding.DecodeString(good)
	if err != nil {
		t.Fatal(err)
	}
	with := func(timestamp, signature string) map[string]string {
		set := map[string]string{}
		if timestamp != "" {
			set["Timestamp"] = timestamp
		}
		if signature != "" {
			set["Signature"] = signature
		}
		return set
	}
	for _, test := range []struct {
		label  string
		header map[string]string
		body   string
		add    [2]string
		status int
		code   string
	}{
		{"good", with(fresh, good), payBody, [2]string{}, 200, ""},
		{"padded", with(fresh, base64.URLEncoding.EncodeToString(raw)), payBody, [2]string{}, 200, ""},
		{"hex", with(fresh, hex.EncodeToString(raw)), payBody, [2]string{}, 200, ""},
		{"unix time", with(fmt.Sprint(now.Unix()), sign("a", fmt.Sprint(now.Unix()), payBody)), payBody, [2]string{}, 200, ""},
		{"nothing", nil, payBody, [2]string{}, 401, "signature_required"},
		{"no signature", with(fresh, ""), payBody, [2]string{}, 401, "signature_required"},
		{"no time", with("", good), payBody, [2]string{}, 401, "signature_required"},
		{"a bearer alone", map[string]string{"Authorization": "Bearer key-a"}, payBody, [2]string{}, 401, "signature_required"},
		{"stale", with(old, sign("a", old, payBody)), payBody, [2]string{}, 401, "stale_timestamp"},
		{"early", with(early, sign("a", early, payBody)), payBody, [2]string{}, 401, "stale_timestamp"},
		{"another time", with(now.Add(time.Second).Format(time.RFC3339), good), payBody, [2]string{}, 401, "invalid_signature"},
		{"one byte of the body", with(fresh, good), strings.Replace(payBody, "spt_7", "spt_8", 1), [2]string{}, 401, "invalid_signature"},
		{"one space more", with(fresh, good), payBody + " ", [2]string{}, 401, "invalid_signature"},
		{"another secret", with(fresh, sign("z", fresh, payBody)), payBody, [2]string{}, 401, "invalid_signature"},
		{"another encoding", with(fresh, base64.StdEncoding.EncodeToString([]byte(good))), payBody, [2]string{}, 401, "invalid_signature"},
		{"cut", with(fresh, good[:42]), payBody, [2]string{}, 401, "invalid_signature"},
		{"two signatures", with(fresh, good), payBody, [2]string{"Signature", good}, 401, "invalid_signature"},
		{"two times", with(fresh, good), payBody, [2]string{"Timestamp", fresh}, 401, "invalid_signature"},
		{"an invalid key", map[string]string{"Timestamp": fresh, "Signature": good, "Authorization": "Bearer x"}, payBody, [2]string{}, 401, "invalid_signature"},
		{"another agent's key", map[string]string{"Timestamp": fresh, "Signature": good, "Authorization": "Bearer key-b"}, payBody, [2]string{}, 401, "invalid_signature"},
		{"no bearer", map[string]string{"Timestamp": fresh, "Signature": good, "Authorization": "Basic key-a"}, payBody, [2]string{}, 401, "invalid_signature"},
	} {
		w := newEnv(t)
		got := w.do(testRequest{path: sessionPath + "/complete", body: test.body, unsigned: true, header: test.header, add: test.add})
		if test.status == 200 {
			if got.status != 200 || w.orders.count("complete") != 1 {
				t.Errorf("%s: got %d %s", test.label, got.status, got.text)
			}
			continue
		}
		w.wantProblem(test.label, got, test.status, test.code)
		if len(w.orders.calls) != 0 {
			t.Errorf("%s: the order service was called: %v", test.label, w.orders.calls)
		}
	}
}

func TestComplete_SignatureIsBoundToSession(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	at := time.Now().UTC().Format(time.RFC3339)
	set := map[string]string{"Timestamp": at, "Signature": signing.Compute(secretOf("a"), at, []byte(payBody))}
	send := func(path string) testResponse {
		return w.do(testRequest{path: path, body: payBody, unsigned: true, header: set})
	}
	if got := send(sessionPath + "/complete"); got.status != 200 {
		t.Fatalf("got %d %s", got.status, got.text)
	}
	if got := send(sessionPath + "/complete"); got.status != 200 {
		t.Errorf("a repetition on the same path: %d %s", got.status, got.text)
	}
	for _, path := range []string{sessionsPath + "/ord_2/complete", sessionPath + "/complete?x=1", sessionsPath + "/%6Frd_1/complete"} {
		w.wantProblem(path, send(path), 401, "invalid_signature")
	}
}

func TestAuthenticate_KeyOrSignatureOutsideCompletion(t *testing.T) {
	t.Parallel()
	for _, path := range []string{sessionPath, sessionPath + "/cancel"} {
		w := newEnv(t)
		if got := w.do(testRequest{path: path, unsigned: true, header: map[string]string{"Authorization": "bearer key-a"}}); got.status != 200 {
			t.Errorf("%s with a key: %d %s", path, got.status, got.text)
		}
		if got := w.do(testRequest{path: path}); got.status != 200 {
			t.Errorf("%s with a signature: %d %s", path, got.status, got.text)
		}
		w.wantProblem(path+" with nothing", w.do(testRequest{path: path, unsigned: true}), 401, "signature_required")
		w.wantProblem(path+" with another's key", w.do(testRequest{path: path, unsigned: true, header: map[string]string{"Authorization": "Bearer key-b"}}), 404, codeNotFound)
	}
}

func TestUnauthenticated_MessageNamesCause(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC().Format(time.RFC3339)
	for label, test := range map[string]struct {
		header  map[string]string
		add     [2]string
		message string
	}{
		"unknown key":            {map[string]string{"Authorization": "Bearer key-z"}, [2]string{}, "bearer key is unknown"},
		"unknown key and signed": {map[string]string{"Authorization": "Bearer x", "Timestamp": now, "Signature": "x"}, [2]string{}, "bearer key is unknown"},
		"another scheme":         {map[string]string{"Authorization": "Basic key-a"}, [2]string{}, "Bearer KEY"},
		"two keys":               {map[string]string{"Authorization": "Bearer key-a"}, [2]string{"Authorization", "Bearer key-b"}, "only once"},
		"wrong signature":        {map[string]string{"Timestamp": now, "Signature": strings.Repeat("A", 43)}, [2]string{}, "signature does not match"},
	} {
		w := newEnv(t)
		got := w.do(testRequest{method: "GET", path: sessionPath, unsigned: true, header: test.header, add: test.add})
		w.wantProblem(label, got, 401, "invalid_signature")
		if message, _ := got.body["message"].(string); !strings.Contains(message, test.message) {
			t.Errorf("%s: the message is %q", label, message)
		}
	}
}

func TestDeclined_MessageNamesPayLinkOfVersion(t *testing.T) {
	t.Parallel()
	for version, link := range map[string]string{"": "session's payment_url.", "2025-09-29": "link in the session's messages.", "2026-04-17": "session's continue_url."} {
		w := newEnv(t)
		w.orders.err = &registrar.Error{Kind: registrar.KindConflict, Code: order.PaymentDeclined}
		got := w.do(testRequest{path: sessionPath + "/complete", body: "{}", header: versionHeaders(version, "k")})
		w.wantProblem(version, got, 402, codeDeclined)
		if message, _ := got.body["message"].(string); !strings.HasSuffix(message, link) {
			t.Errorf("%q: the message is %q", version, message)
		}
	}
}

// 401, then 404, then 400, whatever else is wrong.
func TestRefusals_UnauthenticatedBeforeNotFoundBeforeInvalid(t *testing.T) {
	t.Parallel()
	wrong := map[string]testRequest{
		"broken body":     {body: `{"payment_data":`},
		"wrong provider":  {body: `{"payment_data":{"token":"spt_7","provider":"other"}}`},
		"unknown version": {body: payBody, header: map[string]string{"API-Version": "2024-01-01"}},
		"no key":          {body: payBody, header: map[string]string{"API-Version": "2026-04-17"}},
		"long key":        {body: payBody, header: map[string]string{"Idempotency-Key": strings.Repeat("k", 256)}},
		"content type":    {body: payBody, header: map[string]string{"Content-Type": "text/plain"}},
		"twice":           {body: `{"payment_data":{"token":"spt_7","token":"spt_8"}}`},
		"unknown field":   {body: `{"x":1}`, header: versionHeaders("2025-09-29", "")},
	}
	for label, a := range wrong {
		w := newEnv(t)
		a.path = sessionPath + "/complete"
		if got := w.do(a); got.status != 400 {
			t.Errorf("%s: got %d %s", label, got.status, got.text)
		}
		a.path = sessionsPath + "/ord_2/complete"
		w.wantProblem(label+", no session", w.do(a), 404, codeNotFound)
		a.path, a.agent = sessionPath+"/complete", "b"
		w.wantProblem(label+", another agent's session", w.do(a), 404, codeNotFound)
		a.agent = "z"
		w.wantProblem(label+", anonymous", w.do(a), 401, "invalid_signature")
		if w.orders.count("complete") != 0 {
			t.Errorf("%s: a session was completed", label)
		}
	}
}

func TestProblems_OrderErrorsMapToStatus(t *testing.T) {
	t.Parallel()
	conflict := func(code registrar.Code) error { return &registrar.Error{Kind: registrar.KindConflict, Code: code} }
	refused := func(kind registrar.Kind) error {
		return &order.ItemsRefused{Items: []order.RefusedItem{{Name: "kaffee.de", Kind: order.Register, Reason: &registrar.Error{Kind: kind, Code: "name_taken"}}}}
	}
	undecided := &order.ItemsRefused{Items: []order.RefusedItem{{Name: "kaffee.de", Kind: order.Register, Reason: conflict(provision.Undecided)}}}
	unasked := &order.ItemsUnquoted{Items: []order.RefusedItem{{Name: "kaffee.de", Kind: order.Register, Reason: registrar.Fault(registrar.FaultTimeout, "x", nil)}}}
	const create = `{"items":[{"id":"register:kaffee.de"}]}`
	for _, test := range []struct {
		path, body, state string
		err               error
		status            int
		code, kind, param string
	}{
		{sessionPath + "/complete", payBody, "untold", conflict(order.DataMissing), 422, codeMissing, invalidRequest, "$.buyer"},
		{sessionPath + "/complete", payBody, "rejected", conflict(order.DataMissing), 422, codeInvalid, invalidRequest, "$.buyer"},
		{sessionPath + "/complete", payBody, "ready", conflict(order.PriceChanged), 422, codeConflict, invalidRequest, ""},
		{sessionPath + "/complete", payBody, "ready", conflict(registrar.NameHeld), 422, codeOutOfStock, invalidRequest, ""},
		{sessionPath + "/complete", payBody, "ready", refused(registrar.KindConflict), 422, codeOutOfStock, invalidRequest, ""},
		{sessionPath + "/complete", payBody, "ready", conflict(order.PaymentDeclined), 402, codeDeclined, processingError, ""},
		{sessionPath + "/complete", payBody, "ready", conflict(order.TokenExpired), 402, codeDeclined, processingError, ""},
		{sessionPath + "/complete", payBody, "ready", conflict(order.TokenTooSmall), 402, codeDeclined, processingError, ""},
		{sessionPath + "/complete", payBody, "canceled", conflict(order.NotOpen), 422, codeConflict, invalidRequest, ""},
		{sessionPath + "/complete", payBody, "expired", conflict(order.NotOpen), 422, codeConflict, invalidRequest, ""},
		{sessionPath + "/complete", payBody, "paying", conflict(order.PaymentInProgress), 409, codeConflict, invalidRequest, ""},
		{sessionPath + "/complete", payBody, "ready", registrar.Fault(registrar.FaultTimeout, "x", nil), 503, codeRegistryUnavailable, serviceUnavailable, ""},
		{sessionPath + "/complete", payBody, "ready", fmt.Errorf("disk"), 500, codeInternal, processingError, ""},
		{sessionPath + "/cancel", "", "done", conflict(order.NotOpen), 405, codeConflict, invalidRequest, ""},
		{sessionPath, "{}", "done", conflict(order.NotOpen), 409, codeConflict, invalidRequest, ""},
		{sessionsPath, create, "ready", refused(registrar.KindConflict), 400, codeOutOfStock, invalidRequest, "$.items[0].id"},
		{sessionsPath, `{"items":[{"id":"register:Tee.de"},{"id":"register:KAFFEE.de."}]}`, "ready", refused(registrar.KindConflict), 400, codeOutOfStock, invalidRequest, "$.items[1].id"},
		{sessionsPath, create, "ready", refused(registrar.KindUnsupported), 400, codeInvalidItem, invalidRequest, "$.items[0].id"},
		{sessionsPath, create, "ready", refused(registrar.KindUpstream), 503, codeRegistryUnavailable, serviceUnavailable, "$.items[0].id"},
		{sessionsPath, create, "ready", undecided, 503, codeRegistryUnavailable, serviceUnavailable, "$.items[0].id"},
		{sessionsPath, create, "ready", unasked, 503, codeRegistryUnavailable, serviceUnavailable, "$.items[0].id"},
		{sessionsPath, create, "ready", conflict(order.TooManyOpen), 409, codeTooManyOpen, invalidRequest, ""},
		{sessionsPath, create, "ready", &registrar.Error{Kind: registrar.KindInvalid, Code: order.BadItems}, 400, codeInvalidField, invalidRequest, "$.items"},
	} {
		w := newEnv(t)
		w.orders.session, w.orders.err = sessionStates()[test.state], test.err
		got := w.do(testRequest{path: test.path, body: test.body})
		label := fmt.Sprintf("%s, %v", test.path, test.err)
		w.wantProblem(label, got, test.status, test.code)
		if param, _ := got.body["param"].(string); param != test.param || got.body["type"] != test.kind {
			t.Errorf("%s: got %s", label, got.text)
		}
		if (got.header.Get("Retry-After") != "") != (test.status == 503 || registrar.CodeOf(test.err) == order.PaymentInProgress) || (got.header.Get("Allow") == "OPTIONS, POST") != (test.status == 405) {
			t.Errorf("%s: headers %v", label, got.header)
		}
	}
}

func TestParse_AmbiguousBodiesAreRefused(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"", "2025-09-29"} {
		for label, body := range map[string]string{
			"twice":            `{"payment_data":{"token":"spt_7","provider":"stripe"},"payment_data":{"token":"spt_8","provider":"stripe"}}`,
			"twice, escaped":   `{"payment_data":{"token":"spt_7","\u0074oken":"spt_8","provider":"stripe"}}`,
			"trailing":         payBody + `{}`,
			"a list":           `[` + payBody + `]`,
			"null":             `null`,
			"a text":           `{"payment_data":"spt_7"}`,
			"a number":         `{"payment_data":{"token":7,"provider":"stripe"}}`,
			"invalid UTF-8":    "{\"payment_data\":{\"token\":\"spt_\xff\",\"provider\":\"stripe\"}}",
			"a line feed":      `{"payment_data":{"token":"spt_\n7","provider":"stripe"}}`,
			"another case":     `{"Payment_Data":{"token":"spt_7"},"payment_data":{"token":"spt_8","provider":"stripe"}}`,
			"deep":             `{"x":` + strings.Repeat(`{"x":`, 40) + `1` + strings.Repeat(`}`, 41),
			"too large":        `{"x":"` + strings.Repeat("x", maxBodyBytes) + `"}`,
			"too long a token": `{"payment_data":{"token":"` + strings.Repeat("x", 501) + `","provider":"stripe"}}`,
		} {
			w := newEnv(t)
			got := w.do(testRequest{path: sessionPath + "/complete", body: body, header: versionHeaders(version, "")})
			if got.status != 400 || w.orders.count("complete") != 0 {
				t.Errorf("%q, %s: got %d %s", version, label, got.status, got.text)
			}
		}
	}
	// Keys are case-sensitive: this is no token.
	w := newEnv(t)
	w.do(testRequest{path: sessionPath + "/complete", body: `{"payment_data":{"Token":"spt_8"}}`})
	if w.orders.count("complete") != 1 || w.orders.done.Token != "" {
		t.Errorf("the token is %q", w.orders.done.Token)
	}
}

func TestIdempotency_SameKeyReplaysResponse(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"", "2025-09-29"} {
		w := newEnv(t)
		w.orders.session = sessionStates()["paid"]
		first := w.do(testRequest{path: sessionPath + "/complete", body: payBody, header: versionHeaders(version, "k1")})
		w.orders.session = sessionStates()["done"]
		again := w.do(testRequest{path: sessionPath + "/complete", body: `{ "payment_data" : {"provider":"stripe","token":"spt_7"} }`, header: versionHeaders(version, "k1")})
		if first.status != 200 || again.status != 200 || again.text != first.text || w.orders.count("complete") != 1 {
			t.Errorf("%q: got %d, then %d, after %d completions", version, first.status, again.status, w.orders.count("complete"))
		}
		if first.header.Get("Idempotent-Replayed") != "" || again.header.Get("Idempotent-Replayed") != "true" || again.header.Get("Idempotency-Key") != "k1" {
			t.Errorf("%q: headers %v, then %v", version, first.header, again.header)
		}
		other := w.do(testRequest{path: sessionPath + "/complete", body: strings.Replace(payBody, "7", "8", 1), header: versionHeaders(version, "k1")})
		if version == "" {
			w.wantProblem("another body", other, 422, codeKeyConflict)
		} else {
			w.wantProblem("another body", other, 409, notIdempotent)
			if other.body["type"] != notIdempotent {
				t.Errorf("got %s", other.text)
			}
		}
		shape := w.do(testRequest{path: sessionPath + "/complete", body: payBody, header: versionHeaders("2026-04-17", "k1")})
		if shape.status < 400 {
			t.Errorf("%q: a response of another version: %d %s", version, shape.status, shape.text)
		}
		if got := w.do(testRequest{path: sessionPath, body: "{}", header: versionHeaders(version, "k1")}); got.status != 200 || w.orders.count("update") != 1 {
			t.Errorf("%q: the key of another path: %d %s", version, got.status, got.text)
		}
	}
}

func TestIdempotency_RefusalsReplayFaultsDoNot(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.orders.err = &registrar.Error{Kind: registrar.KindConflict, Code: order.PaymentDeclined}
	first := w.do(testRequest{path: sessionPath + "/complete", body: payBody, header: versionHeaders("", "k1")})
	w.orders.err = nil
	again := w.do(testRequest{path: sessionPath + "/complete", body: payBody, header: versionHeaders("", "k1")})
	if first.status != 402 || again.status != 402 || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("got %d, then %d", first.status, again.status)
	}
	w.orders.err = registrar.Fault(registrar.FaultTimeout, "x", nil)
	if got := w.do(testRequest{path: sessionPath + "/complete", body: payBody, header: versionHeaders("", "k2")}); got.status != 503 {
		t.Errorf("got %d", got.status)
	}
	w.orders.err = nil
	if got := w.do(testRequest{path: sessionPath + "/complete", body: payBody, header: versionHeaders("", "k2")}); got.status != 200 || got.header.Get("Idempotent-Replayed") != "" {
		t.Errorf("an internal error used up the key: %d %v", got.status, got.header)
	}
}

func TestIdempotency_KeyInFlightIsConflict(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.orders.running = make(chan struct{})
	replies := make(chan testResponse, 20)
	var all sync.WaitGroup
	for range cap(replies) {
		all.Go(func() { replies <- w.do(testRequest{path: sessionPath, body: "{}", header: versionHeaders("", "k1")}) })
	}
	for range cap(replies) - 1 {
		got := <-replies
		w.wantProblem("meanwhile", got, 409, codeKeyInFlight)
		if got.header.Get("Retry-After") == "" {
			t.Errorf("headers %v", got.header)
		}
	}
	close(w.orders.running)
	all.Wait()
	if got := <-replies; got.status != 200 || w.orders.count("update") != 1 {
		t.Errorf("the first one: %d after %d updates", got.status, w.orders.count("update"))
	}
}

// A completion with a key in use waits for the response, at most 15 s.
func TestComplete_SameKeyWaitsForFirstResponse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		runs time.Duration
		// left is when the client disconnects, draining when the server drains; 0 means
		// never.
		left, draining time.Duration
		fails          error
		took           time.Duration
		status         int
		code           string
		calls          int
	}{
		"answered":      {runs: 4 * time.Second, took: 4 * time.Second, status: 200, calls: 1},
		"released":      {runs: 4 * time.Second, fails: registrar.Fault(registrar.FaultTimeout, "x", nil), took: 8 * time.Second, status: 503, code: codeRegistryUnavailable, calls: 2},
		"still running": {runs: 20 * time.Second, took: 15 * time.Second, status: 409, code: codeKeyInFlight, calls: 1},
		"client leaves": {runs: 20 * time.Second, left: 3 * time.Second, took: 3 * time.Second, status: 409, code: codeKeyInFlight, calls: 1},
		"server drains": {runs: 20 * time.Second, draining: 3 * time.Second, took: 3 * time.Second, status: 409, code: codeKeyInFlight, calls: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newEnv(t)
				w.orders.session, w.orders.err, w.orders.takes = sessionStates()["paid"], test.fails, test.runs
				if test.draining > 0 {
					time.AfterFunc(test.draining, func() { close(w.closing) })
				}
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				if test.left > 0 {
					time.AfterFunc(test.left, leave)
				}
				var all sync.WaitGroup
				first := testResponse{}
				all.Go(func() {
					first = w.do(testRequest{path: sessionPath + "/complete", body: payBody, header: versionHeaders("", "k1")})
				})
				synctest.Wait()
				began := time.Now()
				got := w.do(testRequest{path: sessionPath + "/complete", body: payBody, header: versionHeaders("", "k1"), ctx: ctx})
				if took := time.Since(began).Round(time.Second); got.status != test.status || took < test.took || took > test.took+time.Second {
					t.Errorf("got %d %s after %s", got.status, got.text, took)
				}
				if test.code != "" {
					w.wantProblem("the second", got, test.status, test.code)
					if got.header.Get("Retry-After") == "" {
						t.Errorf("headers %v", got.header)
					}
				}
				all.Wait()
				if test.status == 200 && (got.text != first.text || got.header.Get("Idempotent-Replayed") != "true") {
					t.Errorf("the first got %s, the second %s with %v", first.text, got.text, got.header)
				}
				if n := w.orders.count("complete"); n != test.calls {
					t.Errorf("%d completions", n)
				}
			})
		})
	}
}

// The contract has two statuses of a completion; the protocol's versions have more.
func TestComplete_StatusesByVersion(t *testing.T) {
	t.Parallel()
	conflict := func(code registrar.Code) error {
		return &registrar.Error{Kind: registrar.KindConflict, Code: code, RetryAfter: 2 * time.Second}
	}
	human := sessionStates()["paying"]
	human.Problem, human.PayURL = order.ProblemPaying, base+"/checkout/dotkontor_pay_1"
	for name, test := range map[string]struct {
		session    order.Session
		err        error
		ownStatus  int
		own        string // the session's status or the error code
		version    string
		linkInBody bool
		// kept means that the key repeats the response.
		kept, keptOfVersion bool
	}{
		"paid":           {sessionStates()["paid"], nil, 200, "completed", "completed", false, true, true},
		"needs a human":  {sessionStates()["bank"], nil, 200, "not_ready_for_payment", "not_ready_for_payment", true, true, true},
		"human pays":     {human, nil, 200, "not_ready_for_payment", "in_progress", true, false, false},
		"no outcome yet": {sessionStates()["paying"], conflict(order.PaymentInProgress), 409, codeConflict, "in_progress", false, false, false},
		"canceled":       {sessionStates()["canceled"], conflict(order.NotOpen), 422, codeConflict, "canceled", false, true, true},
		"expired":        {sessionStates()["expired"], conflict(order.NotOpen), 422, codeConflict, "canceled", false, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, version := range append([]string{""}, versions...) {
				w := newEnv(t)
				w.orders.session, w.orders.err = test.session, test.err
				a := testRequest{path: sessionPath + "/complete", body: payBody, header: versionHeaders(version, "k1")}
				if version == v2026.version {
					a.body = "{}"
				}
				got := w.do(a)
				status, field, kept := test.ownStatus, "status", test.kept
				word := test.own
				if version != "" {
					status, word, kept = 200, test.version, test.keptOfVersion
				}
				if status != 200 {
					field = "code"
				}
				if got.status != status || got.body[field] != word {
					t.Errorf("%q: got %d %s", version, got.status, got.text)
				}
				if _, link := got.body["payment_url"]; version == "" && link != test.linkInBody {
					t.Errorf("the link in %s", got.text)
				}
				if (got.header.Get("Retry-After") != "") != (status == 409) {
					t.Errorf("%q: headers %v", version, got.header)
				}
				again := w.do(a)
				if replayed := again.header.Get("Idempotent-Replayed") == "true"; replayed != kept || again.text != got.text {
					t.Errorf("%q: repeated %v: %s", version, replayed, again.text)
				}
			}
		})
	}
}

// A retry of an interrupted cancellation that took effect succeeds; any other
// cancellation of a canceled session is too late.
func TestCancel_RetryAfterInterruptionSucceeds(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.orders.session, w.orders.err = sessionStates()["canceled"], &registrar.Error{Kind: registrar.KindConflict, Code: order.NotOpen}
	a := testRequest{path: sessionPath + "/cancel", header: versionHeaders("", "k1")}
	w.wantProblem("too late", w.do(a), 405, codeConflict)
	for _, run := range w.store.runs {
		run.abandoned, run.answer = true, nil
	}
	if got := w.do(a); got.status != 200 || got.body["status"] != "canceled" {
		t.Errorf("the retry: %d %s", got.status, got.text)
	}
	w.orders.session = sessionStates()["paid"]
	for _, run := range w.store.runs {
		run.abandoned, run.answer = true, nil
	}
	w.wantProblem("paid meanwhile", w.do(a), 405, codeConflict)
}

func TestLimits_ReturnRetryAfter(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	for i := range 31 {
		got := w.do(testRequest{path: sessionPath + "/complete", unsigned: true, body: payBody, from: "192.0.2.7"})
		if want := map[bool]int{true: 401, false: 429}[i < 30]; got.status != want {
			t.Fatalf("bad signature %d: %d %s", i+1, got.status, got.text)
		} else if want == 429 && got.header.Get("Retry-After") == "" {
			t.Errorf("429 without Retry-After")
		}
	}
	calls := w.agents.calls.Load()
	if got := w.do(testRequest{path: sessionPath + "/complete", body: payBody, from: "192.0.2.7"}); got.status != 429 || got.header.Get("Retry-After") == "" || w.agents.calls.Load() != calls {
		t.Errorf("without a key behind the same address: %d after %d verifications", got.status, w.agents.calls.Load()-calls)
	}
	keyed := map[string]string{"Authorization": "Bearer " + w.agents.key}
	if got := w.do(testRequest{path: sessionPath + "/complete", body: payBody, from: "192.0.2.7", header: keyed}); got.status != 200 {
		t.Errorf("a good agent with its key behind the same address: %d", got.status)
	}
	if got := w.do(testRequest{path: sessionPath + "/complete", unsigned: true, body: payBody, from: "192.0.2.8"}); got.status != 401 {
		t.Errorf("another address: %d", got.status)
	}
	const create = `{"items":[{"id":"register:kaffee.de"}]}`
	for i := range 61 {
		got := w.do(testRequest{path: sessionsPath, body: create, header: versionHeaders("", fmt.Sprint("k", i))})
		if want := map[bool]int{true: 201, false: 429}[i < 60]; got.status != want {
			t.Fatalf("create %d: %d %s", i+1, got.status, got.text)
		}
	}
	if got := w.do(testRequest{path: sessionsPath, body: create, header: versionHeaders("", "k1")}); got.status != 201 || got.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("a repetition counts: %d", got.status)
	}
	if got := w.do(testRequest{path: sessionsPath, body: create, agent: "b"}); got.status != 201 {
		t.Errorf("another agent: %d", got.status)
	}
	if got := w.do(testRequest{path: sessionPath, method: "GET"}); got.status != 200 {
		t.Errorf("reading: %d", got.status)
	}
}

func TestHeaders_ProtocolHeadersAreEchoed(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	got := w.do(testRequest{path: sessionPath, body: "{}", header: map[string]string{"Request-Id": "r-1", "Idempotency-Key": "k-1", "API-Version": "2025-09-29"}})
	for name, want := range map[string]string{"Request-Id": "r-1", "Idempotency-Key": "k-1", "API-Version": "2025-09-29", "Cache-Control": "no-store"} {
		if got.header.Get(name) != want {
			t.Errorf("%s is %q", name, got.header.Get(name))
		}
	}
	unknown := w.do(testRequest{path: sessionPath, method: "GET", header: map[string]string{"API-Version": "2027-01-01"}})
	w.wantProblem("unknown version", unknown, 400, codeVersion)
	if fmt.Sprint(unknown.body["supported_versions"]) != "[2026-04-17 2025-09-29]" {
		t.Errorf("got %s", unknown.text)
	}
}

func TestOutOfService_Is503WithRetryAfter(t *testing.T) {
	t.Parallel()
	handler, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	w := &env{t: t}
	mux := http.NewServeMux()
	for _, r := range handler.Routes() {
		mux.HandleFunc(r.Method+" "+r.Path, r.Handler)
	}
	w.handler = mux
	for _, path := range []string{sessionsPath, sessionPath, sessionPath + "/cancel"} {
		got := w.do(testRequest{path: path})
		w.wantProblem(path, got, 503, codeOutOfService)
		if got.header.Get("Retry-After") != "3600" {
			t.Errorf("headers %v", got.header)
		}
	}
	w.wantProblem("unsigned", w.do(testRequest{path: sessionPath + "/complete", unsigned: true}), 401, "signature_required")
	w.wantProblem("signed", w.do(testRequest{path: sessionPath + "/complete"}), 401, "invalid_signature")
}

// While our database does not respond, an agent learns that it may repeat the request.
func TestFault_DatabaseOutageIsUnavailable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		outage     bool
		status     int
		code       string
		retryAfter time.Duration
	}{
		{true, http.StatusServiceUnavailable, codeOutOfService, outageRetry},
		{false, http.StatusInternalServerError, codeInternal, 0},
	} {
		p := faultProblem(registrar.DatabaseError(&registrar.Cause{Part: registrar.PartDatabase, Operation: "GetOrder", Class: "connection_refused", Outage: test.outage}))
		if p.status != test.status || p.body.Code != test.code || p.retryAfter != test.retryAfter {
			t.Errorf("outage %v: %d %s after %s, want %d %s after %s", test.outage, p.status, p.body.Code, p.retryAfter, test.status, test.code, test.retryAfter)
		}
	}
}
