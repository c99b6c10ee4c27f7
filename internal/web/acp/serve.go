package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/idempotency"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// Headers of the protocol.
const (
	versionHeader  = "Api-Version"
	keyHeader      = "Idempotency-Key"
	replayedHeader = "Idempotent-Replayed"
	requestHeader  = "Request-Id"
)

func (h *Handler) serve(op operation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Cache-Control", "no-store")
		for _, name := range []string{requestHeader, keyHeader} {
			if value, ok := singleHeader(r, name); ok && printable(value) {
				header.Set(name, value)
			}
		}
		if version, _ := singleHeader(r, versionHeader); version != "" {
			if _, known := shapeOf(version); known {
				header.Set(versionHeader, version)
			}
		}
		out, err := h.handle(w, r, op)
		if p := asProblem(err); p != nil {
			httpjson.RecordError(w, p)
			out = p.response()
		} else if err != nil { // handle returns only problems
			httpjson.RecordError(w, err)
			out = newProblem(http.StatusInternalServerError, codeInternal, messageInternal, "").response()
		}
		for name, value := range out.header {
			header.Set(name, value)
		}
		httpjson.WriteBytes(w, out.status, typeJSON, out.body)
	}
}

var typeJSON = []string{"application/json"}

func (h *Handler) handle(w http.ResponseWriter, r *http.Request, op operation) (response, error) {
	if !h.inService() {
		return response{}, h.outOfService(r, op)
	}
	within := readTimeout
	ctx := r.Context()
	if op.name != opShow {
		within = requestTimeout
		ctx = context.WithoutCancel(ctx) // a charge must not depend on the client's connection
		// Only tests have no deadline.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(requestTimeout + writeTimeout))
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()

	who, body, err := h.authenticate(ctx, w, r, op)
	if err != nil {
		return response{}, err
	}
	c := &call{
		op: op, id: r.PathValue("id"), language: parseLanguage(r.Header.Get("Accept-Language")),
		actor:     registrar.Actor{Kind: registrar.ActorAgent, Through: who.ID, Address: h.cfg.Address(r)},
		waitUntil: time.Now().Add(order.CompletionWait), clientGone: r.Context().Done(),
	}
	key, err := c.readHeaders(r, body)
	if err != nil {
		return response{}, h.preferNotFound(ctx, c, err)
	}
	if key == "" {
		return h.execute(ctx, c)
	}
	return h.executeOnce(ctx, w, r, c, key)
}

// outOfService is the response if checkout is not in service. A completion without a
// valid signature is still rejected.
func (h *Handler) outOfService(r *http.Request, op operation) error {
	if op.name == opComplete {
		timestamp, _ := singleHeader(r, signing.TimestampHeader)
		signature, _ := singleHeader(r, signing.SignatureHeader)
		_, err := signing.Ours.Verify(h.now(), nil, signing.Request{Timestamp: timestamp}, signature)
		return unauthenticated(err, true)
	}
	p := newProblem(http.StatusServiceUnavailable, codeOutOfService, messageClosed, "")
	p.retryAfter = outOfServiceRetryAfter
	return p
}

// singleHeader returns a header that was sent once. Repeated headers are rejected,
// because two parsers could read them differently.
func singleHeader(r *http.Request, name string) (string, bool) {
	values := r.Header.Values(name)
	if len(values) > 1 {
		return "", false
	}
	return r.Header.Get(name), true
}

func printable(text string) bool {
	return text != "" && len(text) <= idempotency.MaxKey && !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' })
}

// authenticate identifies the agent. It reads the body, because it is signed. An
// address over its limit is rejected before anything is read, computed or looked up.
func (h *Handler) authenticate(ctx context.Context, w http.ResponseWriter, r *http.Request, op operation) (agent.Agent, []byte, error) {
	credentials := agent.Credentials{
		Method: r.Method, Path: r.URL.RequestURI(), Address: h.cfg.Address(r), Completing: op.name == opComplete,
	}
	authorization, one := singleHeader(r, "Authorization")
	timestamp, two := singleHeader(r, signing.TimestampHeader)
	signature, three := singleHeader(r, signing.SignatureHeader)
	credentials.Timestamp, credentials.Signature, credentials.Bearer = timestamp, signature, bearerOf(authorization)
	if d := h.cfg.BadSignatures.Admit(credentials.Address, keyOf(credentials)); !d.Allowed {
		return agent.Agent{}, nil, rateLimitProblem(d.RetryAfter)
	}
	if !one || !two || !three {
		return agent.Agent{}, nil, h.rejectCredentials(credentials, op, errRepeatedHeader)
	}
	if authorization != "" && credentials.Bearer == "" {
		return agent.Agent{}, nil, h.rejectCredentials(credentials, op, errNotBearer)
	}
	if signature == "" && (op.name == opComplete || credentials.Bearer == "") {
		return agent.Agent{}, nil, h.rejectCredentials(credentials, op, signing.ErrMissing) // without waiting for a body
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
	if err != nil { // an incomplete body can't be verified
		return agent.Agent{}, nil, newInvalid(codeBody, messageBody, "")
	}
	credentials.Body = body
	if credentials.Bearer == "" {
		// Concurrent requests were all admitted; each is checked again when its turn
		// comes, after the failures before it were counted.
		select {
		case h.unkeyedSlots <- struct{}{}:
			defer func() { <-h.unkeyedSlots }()
		case <-ctx.Done():
			return agent.Agent{}, nil, faultProblem(&registrar.Error{Kind: registrar.KindUpstream, Code: registrar.FaultBusy, Err: ctx.Err()})
		}
		if d := h.cfg.BadSignatures.Admit(credentials.Address, ""); !d.Allowed {
			return agent.Agent{}, nil, rateLimitProblem(d.RetryAfter)
		}
	}
	who, err := h.cfg.Agents.Authenticate(ctx, credentials)
	if err != nil {
		return agent.Agent{}, nil, h.rejectCredentials(credentials, op, err)
	}
	h.cfg.BadSignatures.Trust(keyOf(credentials))
	return who, body, nil
}

// bearerOf returns the key of an Authorization header; empty for another scheme.
func bearerOf(authorization string) string {
	scheme, bearer, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(bearer)
}

// keyOf returns the agent's key; empty if its checksum is wrong. It needs no database
// query.
func keyOf(credentials agent.Credentials) string {
	if _, formed := registrar.HashSecret(registrar.AgentKey, credentials.Bearer); !formed {
		return ""
	}
	return credentials.Bearer
}

// rejectCredentials returns the authentication error. Only rejected credentials count
// against an address.
func (h *Handler) rejectCredentials(credentials agent.Credentials, op operation, err error) error {
	if registrar.KindOf(err) != registrar.KindUnauthenticated {
		return faultProblem(err)
	}
	key := keyOf(credentials)
	if credentials.Signature != "" && !errors.Is(err, agent.ErrUnknownKey) {
		key = "" // the key may be right: one wrong signature must not lock its agent out
	}
	if d := h.cfg.BadSignatures.Fail(credentials.Address, key); !d.Allowed {
		return rateLimitProblem(d.RetryAfter)
	}
	return unauthenticated(err, op.name == opComplete)
}

// Errors in the headers before a signature is verified. Both have the code of
// signing.ErrInvalid, because the contract has no other.
var (
	errRepeatedHeader = fmt.Errorf("acp: authenticate: repeated header: %w", signing.ErrInvalid)
	errNotBearer      = fmt.Errorf("acp: authenticate: no bearer: %w", signing.ErrInvalid)
)

func unauthenticated(err error, completing bool) *problem {
	code := registrar.CodeOf(err)
	message := signatureMessages[code]
	switch {
	case !completing && errors.Is(err, signing.ErrMissing):
		message = messageCredentials
	case errors.Is(err, agent.ErrUnknownKey):
		message = messageUnknownKey
	case errors.Is(err, errRepeatedHeader):
		message = messageRepeatedHeader
	case errors.Is(err, errNotBearer):
		message = messageNotBearer
	}
	p := newProblem(http.StatusUnauthorized, string(code), cmp.Or(message, messageCredentials), "")
	p.cause = err
	return p
}

func rateLimitProblem(wait time.Duration) *problem {
	p := newProblem(http.StatusTooManyRequests, codeRateLimited, messageLimited, "")
	p.retryAfter = wait
	return p
}

func (c *call) readHeaders(r *http.Request, body []byte) (key string, err error) {
	version, once := singleHeader(r, versionHeader)
	known, ok := shapeOf(version)
	if !once || !ok {
		p := newInvalid(codeVersion, messageVersion, "")
		p.body.Versions = versions
		return "", p
	}
	c.shape = known
	if c.op.name == opShow {
		return "", nil
	}
	key, once = singleHeader(r, keyHeader)
	_, sent := r.Header[keyHeader]
	switch {
	case sent && (!once || !printable(key)):
		return "", newInvalid(codeKeyInvalid, messageKeyInvalid, "")
	case !sent && c.shape.keyRequired:
		return "", newInvalid(codeKeyRequired, messageKeyMissing, "")
	}
	if media := r.Header.Get("Content-Type"); media != "" && len(body) > 0 {
		if kind, _, err := mime.ParseMediaType(media); err != nil || kind != "application/json" {
			return "", newInvalid(codeContentType, messageContentType, "")
		}
	}
	if c.fields, err = parse(body); err != nil {
		return "", err
	}
	return key, nil
}

// preferNotFound keeps the order of errors: 404 for a session that is not the agent's
// comes before 400.
func (h *Handler) preferNotFound(ctx context.Context, c *call, refusal error) error {
	if p := asProblem(refusal); c.id == "" || p == nil || p.status != http.StatusBadRequest {
		return refusal
	}
	if _, err := h.cfg.Orders.BuyerContact(ctx, c.actor, c.id); registrar.KindOf(err) == registrar.KindNotFound && err != nil {
		return newProblem(http.StatusNotFound, codeNotFound, messageNotFound, "")
	}
	return refusal
}

// executeOnce executes a request or repeats the stored response of its key.
func (h *Handler) executeOnce(ctx context.Context, w http.ResponseWriter, r *http.Request, c *call, key string) (response, error) {
	run, before, err := h.beginRun(ctx, c, c.actor.Through+" "+r.URL.Path, key)
	switch {
	case err != nil:
		return response{}, c.idempotencyProblem(err)
	case before != nil && before.Header[versionHeader] != c.shape.version:
		return response{}, c.idempotencyProblem(registrar.Conflict(idempotency.Conflict))
	case before != nil:
		w.Header().Set(replayedHeader, "true")
		return response{status: before.Status, header: before.Header, body: before.Body}, nil
	}
	c.resumed = run.Resumed
	finished := false
	defer func() {
		if !finished {
			_ = run.Release(ctx) // otherwise the key is free when its lease ends
		}
	}()
	out, err := h.execute(ctx, c)
	if err != nil {
		p := asProblem(err)
		if p == nil || !p.replayable() {
			return response{}, err
		}
		httpjson.RecordError(w, p)
		out = p.response()
	}
	if out.pending {
		return out, nil
	}
	if out.header == nil {
		out.header = make(map[string]string)
	}
	if c.shape.version != "" {
		out.header[versionHeader] = c.shape.version
	}
	// The request is executed, so its response counts even if it can't be stored.
	err = run.Finish(ctx, out.status, out.header, out.body)
	if finished = err == nil; !finished {
		httpjson.RecordError(w, err)
	}
	return out, nil
}

// beginRun claims the key. A completion waits for another one with the same key.
func (h *Handler) beginRun(ctx context.Context, c *call, scope, key string) (*idempotency.Run, *idempotency.StoredResponse, error) {
	if c.op.name != opComplete {
		return h.cfg.Idempotency.Begin(ctx, scope, key, c.fields)
	}
	return h.cfg.Idempotency.BeginOrWait(ctx, scope, key, c.fields, idempotency.WaitOptions{
		Caller: c.actor.Through, Until: c.waitUntil, ClientGone: c.clientGone, Shutdown: h.cfg.Closing,
	})
}

// replayable reports whether an error is the final response of its key. Errors that may
// disappear without a new request are not.
func (p *problem) replayable() bool {
	return p.status < http.StatusInternalServerError && p.status != http.StatusTooManyRequests && p.status != http.StatusNotFound && p.retryAfter == 0
}

// idempotencyProblem maps an error of the key to the shape.
func (c *call) idempotencyProblem(err error) error {
	switch registrar.CodeOf(err) {
	case idempotency.Conflict:
		if c.shape == v2025 {
			p := newProblem(http.StatusConflict, notIdempotent, messageKeyConflict, "")
			p.body.Type = notIdempotent
			return p
		}
		return newProblem(http.StatusUnprocessableEntity, codeKeyConflict, messageKeyConflict, "")
	case idempotency.InFlight:
		p := newProblem(http.StatusConflict, codeKeyInFlight, messageKeyInFlight, "")
		if e, ok := errors.AsType[*registrar.Error](err); ok {
			p.retryAfter = e.RetryAfter
		}
		return p
	case idempotency.BadKey:
		return newInvalid(codeKeyInvalid, messageKeyInvalid, "")
	default:
		return faultProblem(err)
	}
}

// execute parses the content, calls the domain and writes the response.
func (h *Handler) execute(ctx context.Context, c *call) (response, error) {
	if c.op.name == opCreate {
		if d := h.cfg.CreateLimit.Allow(ratelimit.TextKey(c.actor.Through)); !d.Allowed {
			return response{}, rateLimitProblem(d.RetryAfter)
		}
	}
	if c.op.name != opShow {
		asked, err := c.shape.read(c.op.name, c.fields)
		if err != nil {
			return response{}, h.preferNotFound(ctx, c, err)
		}
		c.request = asked
	}
	session, err := c.op.do(ctx, c)
	if err != nil {
		return response{}, h.preferNotFound(ctx, c, c.toProblem(session, err))
	}
	shown := newView(session, c.shape, h.cfg.BaseURL+h.cfg.OrdersPath)
	shown.links = h.links(c.shape)
	encoded, err := json.Marshal(c.shape.write(shown, c.op.name == opComplete))
	if err != nil { // does not happen with our own types
		return response{}, faultProblem(err)
	}
	// Whatever the shape calls the status, the same key must be able to fetch the outcome.
	paying := session.Status == order.InProgress || session.Problem == order.ProblemPaying
	return response{status: c.op.status, body: encoded, pending: c.op.name == opComplete && paying}, nil
}

// response returns what is sent for a problem.
func (p *problem) response() response {
	body, err := json.Marshal(p.body)
	if err != nil {
		body = []byte("{}")
	}
	out := response{status: p.status, body: body, header: make(map[string]string)}
	if p.retryAfter > 0 {
		out.header["Retry-After"] = seconds(p.retryAfter)
	}
	switch p.status {
	case http.StatusUnauthorized:
		out.header["Www-Authenticate"] = `Bearer realm="checkout"`
	case http.StatusMethodNotAllowed:
		out.header["Allow"] = "OPTIONS, POST" // the path's methods, as OPTIONS lists them
	}
	return out
}

// faultProblem is an error that the agent has not caused.
func faultProblem(err error) *problem {
	p := newProblem(http.StatusInternalServerError, codeInternal, messageInternal, "")
	kind := registrar.KindOf(err)
	if kind == registrar.KindUpstream || kind == registrar.KindRateLimited || errors.Is(err, context.DeadlineExceeded) {
		p = newProblem(http.StatusServiceUnavailable, codeRegistryUnavailable, messageUpstream, "")
		p.retryAfter = retryAfter(err)
	}
	if cause, ok := errors.AsType[*registrar.Cause](err); ok && cause.Part == registrar.PartDatabase && cause.Outage {
		p = newProblem(http.StatusServiceUnavailable, codeOutOfService, messageInternal, "")
		p.retryAfter = outageRetry
	}
	p.cause = err
	return p
}

// outageRetry is when an agent may try again after our database did not respond. A failover takes
// a few seconds.
const outageRetry = 5 * time.Second
