package stripe

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"time"
)

const (
	// apiVersion is the version of webhook objects, and of responses without a
	// requested version.
	apiVersion        = "2026-05-27.dahlia"
	maxIdempotencyKey = 255
)

var versionForm = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(\.[a-z]+)?$`)

// call is one request to the API. The state is locked.
type call struct {
	*tx
	server *Server
	id     string // of the path
	params *params
	expand tree
	key    string
}

// apiOperation executes a call and returns the object to show.
type apiOperation func(*call) (map[string]any, *refusal)

// storedResponse is the response stored under an idempotency key.
type storedResponse struct {
	Key         string          `json:"key"`
	Created     int64           `json:"created"`
	Fingerprint string          `json:"print"` // a hash of the request
	Request     string          `json:"request"`
	Status      int             `json:"status"`
	Body        json.RawMessage `json:"body"`
}

// response is the response to a call.
type response struct {
	status   int
	body     []byte
	original string // id of the first request with this key
}

// routes registers the supported calls, each with its name in fault rules.
func (s *Server) routes(mux *http.ServeMux) {
	for _, route := range []struct {
		pattern, name string
		do            apiOperation
	}{
		{"POST /v1/checkout/sessions", "checkout.create", createSession},
		{"GET /v1/checkout/sessions", "checkout.list", listSessions},
		{"GET /v1/checkout/sessions/{id}", "checkout.retrieve", getSession},
		{"POST /v1/checkout/sessions/{id}/expire", "checkout.expire", expireSession},
		{"POST /v1/payment_intents", "intent.create", createIntent},
		{"POST /v1/payment_intents/{id}/confirm", "intent.confirm", confirmIntent},
		{"POST /v1/payment_intents/{id}/cancel", "intent.cancel", cancelIntent},
		{"GET /v1/payment_intents", "intent.list", listIntents},
		{"GET /v1/payment_intents/{id}", "intent.retrieve", getIntent},
		{"GET /v1/charges", "charge.list", listCharges},
		{"GET /v1/charges/{id}", "charge.retrieve", getCharge},
		{"POST /v1/refunds", "refund.create", createRefund},
		{"GET /v1/refunds", "refund.list", listRefunds},
		{"GET /v1/refunds/{id}", "refund.retrieve", getRefund},
		{"GET /v1/disputes", "dispute.list", listDisputes},
		{"GET /v1/disputes/{id}", "dispute.retrieve", getDispute},
		{"POST /v1/customers", "customer.create", createCustomer},
		{"GET /v1/customers/{id}", "customer.retrieve", getCustomer},
		{"GET /v1/payment_methods", "method.list", listMethods},
		{"GET /v1/payment_methods/{id}", "method.retrieve", getMethod},
		{"POST /v1/payment_methods/{id}/detach", "method.detach", detachMethod},
		{"GET /v1/shared_payment/granted_tokens/{id}", "token.retrieve", getToken},
		{"POST /v1/test_helpers/shared_payment/granted_tokens", "token.create", createToken},
		{"POST /v1/test_helpers/shared_payment/granted_tokens/{id}/revoke", "token.revoke", revokeToken},
		{"POST /v1/identity/verification_sessions", "identity.create", createVerification},
		{"GET /v1/identity/verification_sessions/{id}", "identity.retrieve", getVerification},
		{"POST /v1/identity/verification_sessions/{id}/cancel", "identity.cancel", cancelVerification},
	} {
		mux.HandleFunc(route.pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, route.name, route.do) })
	}
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		s.send(w, r, newID("req_"), errorResponse(&refusal{
			status: http.StatusNotFound, Type: "invalid_request_error",
			Message: "Unrecognized request URL (" + r.Method + ": " + r.URL.Path + "). The sandbox knows the calls that the product makes, and no other.",
		}), "")
	})
}

// serve handles every call: authentication, faults, parameters, idempotency, then
// the operation.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, name string, do apiOperation) {
	request := newID("req_")
	s.calls.Add(1)
	if !sleep(r.Context(), s.opts.Latency) {
		return
	}
	if wrong := s.authenticate(r); wrong != nil {
		s.send(w, r, request, errorResponse(wrong), "")
		return
	}
	fault := s.faults.nextCallFault(name)
	if s.injectBefore(w, r, request, fault) {
		return
	}
	key := ""
	if r.Method == http.MethodPost {
		key = r.Header.Get("Idempotency-Key")
	}
	if len(key) > maxIdempotencyKey {
		s.send(w, r, request, errorResponse(invalid("", "", "Idempotency keys can have 255 characters.")), "")
		return
	}
	params, wrong := readParams(w, r)
	if wrong != nil {
		s.send(w, r, request, errorResponse(wrong), key)
		return
	}
	s.injectAfter(w, r, request, fault, s.executeOnce(r, request, key, params, fault, do), key)
}

func (s *Server) authenticate(r *http.Request) *refusal {
	key, _, basic := r.BasicAuth()
	if !basic {
		key, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	if key == "" {
		return &refusal{status: http.StatusUnauthorized, Type: "invalid_request_error", Message: "You did not provide an API key."}
	}
	if subtle.ConstantTimeCompare([]byte(key), []byte(s.SecretKey())) != 1 {
		return &refusal{status: http.StatusUnauthorized, Type: "invalid_request_error", Message: "Invalid API Key provided."}
	}
	if version := r.Header.Get("Stripe-Version"); version != "" && !versionForm.MatchString(version) {
		return invalid("", "", "Invalid Stripe API version: "+version)
	}
	return nil
}

// executeOnce executes the operation once per idempotency key.
func (s *Server) executeOnce(r *http.Request, request, key string, p *params, fault fault, do apiOperation) response {
	print := hashed(p.fingerprint(r))
	b := s.state
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expireKeys()
	if known := b.keys[key]; key != "" && known != nil {
		if known.Fingerprint != print {
			return errorResponse(&refusal{
				status: http.StatusBadRequest, Type: "idempotency_error",
				Message: "Keys for idempotent requests can only be used with the same parameters they were first used with.",
			})
		}
		return response{known.Status, known.Body, known.Request}
	}
	s.expireSessions()
	c := &call{tx: b.begin(), server: s, id: r.PathValue("id"), params: p, expand: p.expand(), key: key}
	object, wrong := do(c)
	var result response
	if wrong != nil {
		if result = errorResponse(wrong); wrong.undecided {
			return result
		}
		if !wrong.happened {
			c.change = change{} // discard partial changes
		}
	} else {
		result = objectResponse(http.StatusOK, object)
	}
	if key != "" {
		kept := &storedResponse{Key: key, Created: c.at, Fingerprint: print, Request: request, Status: result.status, Body: result.body}
		if fault.do == failStored {
			failed := errorResponse(serverError())
			kept.Status, kept.Body = failed.status, failed.body
		}
		c.change.Keys = append(c.change.Keys, kept)
	}
	if r.Method == http.MethodPost {
		if err := s.commit(c.tx); err != nil {
			s.opts.Logger.ErrorContext(r.Context(), "sandbox stripe journal write failed", "error", err)
			return errorResponse(serverError())
		}
	}
	return result
}

// commit persists a change and sends its events.
func (s *Server) commit(t *tx) error {
	if err := t.commit(); err != nil {
		return err
	}
	for _, one := range t.change.Events {
		s.deliveries.enqueue(one)
	}
	return nil
}

func objectResponse(status int, object map[string]any) response {
	body, err := json.Marshal(object)
	if err != nil { // maps of strings and numbers always encode
		return response{status: http.StatusInternalServerError}
	}
	return response{status: status, body: body}
}

func errorResponse(wrong *refusal) response {
	return objectResponse(wrong.status, map[string]any{"error": wrong})
}

func serverError() *refusal {
	return &refusal{
		status: http.StatusInternalServerError, Type: "api_error",
		Message: "An unknown error occurred", undecided: true,
	}
}

func (s *Server) send(w http.ResponseWriter, r *http.Request, request string, a response, key string) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Request-Id", request)
	header.Set("Cache-Control", "no-cache, no-store")
	version := r.Header.Get("Stripe-Version")
	if version == "" {
		version = apiVersion
	}
	header.Set("Stripe-Version", version)
	if key != "" {
		header.Set("Idempotency-Key", key)
	}
	if a.original != "" {
		header.Set("Idempotent-Replayed", "true")
		header.Set("Original-Request", a.original)
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // shared with repeated calls; the client may have left
}

func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// Limits of a session's expiry, as at Stripe.
const (
	minSessionTTL = 30 * time.Minute
	maxSessionTTL = 24 * time.Hour
)
