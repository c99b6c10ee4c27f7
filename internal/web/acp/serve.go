package acp

import (
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
	"github.com/dotkontor/dotkontor/internal/registrar/quota"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

// The headers of the protocol.
const (
	versionHeader  = "Api-Version"
	keyHeader      = "Idempotency-Key"
	replayedHeader = "Idempotent-Replayed"
	requestHeader  = "Request-Id"
)

// serve is what happens to every request.
func (h *Handler) serve(op operation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Cache-Control", "no-store")
		for _, name := range []string{requestHeader, keyHeader} {
			if value, ok := single(r, name); ok && printable(value) {
				header.Set(name, value)
			}
		}
		if version, _ := single(r, versionHeader); version != "" {
			if _, known := shapeOf(version); known {
				header.Set(versionHeader, version)
			}
		}
		out, err := h.handle(w, r, op)
		if p := asProblem(err); p != nil {
			wire.Annotate(w, p)
			out = p.answer()
		} else if err != nil { // problems are all that handle returns
			wire.Annotate(w, err)
			out = refuse(http.StatusInternalServerError, codeInternal, sentenceInternal, "").answer()
		}
		for name, value := range out.header {
			header.Set(name, value)
		}
		wire.WriteBytes(w, out.status, typeJSON, out.body)
	}
}

var typeJSON = []string{"application/json"}

// handle lets a request in and has it carried out.
func (h *Handler) handle(w http.ResponseWriter, r *http.Request, op operation) (answer, error) {
	if !h.inService() {
		return answer{}, h.closed(r, op)
	}
	within := readWithin
	ctx := r.Context()
	if op.read != nil {
		within = workWithin
		ctx = context.WithoutCancel(ctx) // a charge does not depend on somebody listening
		// What has no deadline is a test.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(workWithin + writeWithin))
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()

	who, body, err := h.authenticate(ctx, w, r, op)
	if err != nil {
		return answer{}, err
	}
	c := &call{
		op: op, id: r.PathValue("id"), language: language(r.Header.Get("Accept-Language")),
		actor: registrar.Actor{Kind: registrar.ActorAgent, Through: who.ID, Address: h.cfg.Address(r)},
		until: time.Now().Add(order.CompletionWait), gone: r.Context().Done(),
	}
	key, err := c.readTransport(r, body)
	if err != nil {
		return answer{}, h.orNotFound(ctx, c, err)
	}
	if key == "" {
		return h.carryOut(ctx, c)
	}
	return h.once(ctx, w, r, c, key, body)
}

// closed is the answer where checkout is not in service. A completion without a
// good signature is refused as it always is.
func (h *Handler) closed(r *http.Request, op operation) error {
	if op.completing {
		timestamp, _ := single(r, signing.TimestampHeader)
		signature, _ := single(r, signing.SignatureHeader)
		_, err := signing.Verify(h.now(), nil, timestamp, signature, nil)
		return unauthenticated(err, true)
	}
	p := refuse(http.StatusServiceUnavailable, codeOutOfService, sentenceClosed, "")
	p.retryAfter = closedFor
	return p
}

// single is a header that was sent once. Two of a kind are meant for two readers,
// and none of them is believed.
func single(r *http.Request, name string) (string, bool) {
	values := r.Header.Values(name)
	if len(values) > 1 {
		return "", false
	}
	return r.Header.Get(name), true
}

func printable(text string) bool {
	return text != "" && len(text) <= idempotency.MaxKey && !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' })
}

// authenticate says who asks. The body is read because it is signed. An address that
// is over its budget is refused before anything is read, computed or looked up.
func (h *Handler) authenticate(ctx context.Context, w http.ResponseWriter, r *http.Request, op operation) (agent.Agent, []byte, error) {
	credentials := agent.Credentials{
		Method: r.Method, Path: r.URL.RequestURI(), Address: h.cfg.Address(r), Completing: op.completing,
	}
	authorization, one := single(r, "Authorization")
	timestamp, two := single(r, signing.TimestampHeader)
	signature, three := single(r, signing.SignatureHeader)
	credentials.Timestamp, credentials.Signature, credentials.Bearer = timestamp, signature, bearerOf(authorization)
	if d := h.cfg.BadSignatures.Admit(credentials.Address, keyOf(credentials)); !d.Allowed {
		return agent.Agent{}, nil, limited(d.RetryAfter)
	}
	if !one || !two || !three {
		return agent.Agent{}, nil, h.notLetIn(credentials, op, errRepeatedHeader)
	}
	if authorization != "" && credentials.Bearer == "" {
		return agent.Agent{}, nil, h.notLetIn(credentials, op, errNotBearer)
	}
	if signature == "" && (op.completing || credentials.Bearer == "") {
		return agent.Agent{}, nil, h.notLetIn(credentials, op, signing.ErrMissing) // without waiting for a body
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largestBody))
	if err != nil { // a body that is not whole can't be verified
		return agent.Agent{}, nil, invalid(codeBody, sentenceBody, "")
	}
	credentials.Body = body
	if credentials.Bearer == "" {
		// Those that arrived together were all admitted; each is asked again when its
		// turn comes, after the failures of those before it were counted.
		select {
		case h.unkeyed <- struct{}{}:
			defer func() { <-h.unkeyed }()
		case <-ctx.Done():
			return agent.Agent{}, nil, fault(&registrar.Error{Kind: registrar.KindUpstream, Code: registrar.FaultBusy, Err: ctx.Err()})
		}
		if d := h.cfg.BadSignatures.Admit(credentials.Address, ""); !d.Allowed {
			return agent.Agent{}, nil, limited(d.RetryAfter)
		}
	}
	who, err := h.cfg.Agents.Authenticate(ctx, credentials)
	if err != nil {
		return agent.Agent{}, nil, h.notLetIn(credentials, op, err)
	}
	h.cfg.BadSignatures.Prove(keyOf(credentials))
	return who, body, nil
}

// bearerOf is the key in an Authorization header; empty if that is of another form.
func bearerOf(authorization string) string {
	scheme, bearer, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(bearer)
}

// keyOf is the agent's key; empty if it can't be one. That costs a checksum and no
// question to the database.
func keyOf(credentials agent.Credentials) string {
	if _, formed := registrar.HashSecret(registrar.AgentKey, credentials.Bearer); !formed {
		return ""
	}
	return credentials.Bearer
}

// notLetIn is why somebody is not let in. Only refusals count against an address.
func (h *Handler) notLetIn(credentials agent.Credentials, op operation, err error) error {
	if registrar.KindOf(err) != registrar.KindUnauthenticated {
		return fault(err)
	}
	key := keyOf(credentials)
	if credentials.Signature != "" && !errors.Is(err, agent.ErrUnknownKey) {
		key = "" // the key may be right: one wrong signature must not lock its agent out
	}
	if d := h.cfg.BadSignatures.Fail(credentials.Address, key); !d.Allowed {
		return limited(d.RetryAfter)
	}
	return unauthenticated(err, op.completing)
}

// What is wrong with the headers before a signature is verified. Both have the code
// of signing.ErrInvalid, because the contract has no other for them.
var (
	errRepeatedHeader = fmt.Errorf("acp: authenticate: repeated header: %w", signing.ErrInvalid)
	errNotBearer      = fmt.Errorf("acp: authenticate: no bearer: %w", signing.ErrInvalid)
)

func unauthenticated(err error, completing bool) error {
	code := registrar.CodeOf(err)
	sentence := signatureSentences[code]
	switch {
	case !completing && errors.Is(err, signing.ErrMissing):
		sentence = sentenceCredentials
	case errors.Is(err, agent.ErrUnknownKey):
		sentence = sentenceUnknownKey
	case errors.Is(err, errRepeatedHeader):
		sentence = sentenceRepeatedHeader
	case errors.Is(err, errNotBearer):
		sentence = sentenceNotBearer
	}
	p := refuse(http.StatusUnauthorized, string(code), orElse(sentence, sentenceCredentials), "")
	p.cause = err
	return p
}

func limited(wait time.Duration) *problem {
	p := refuse(http.StatusTooManyRequests, codeRateLimited, sentenceLimited, "")
	p.retryAfter = wait
	return p
}

// readTransport reads what stands around the request's content.
func (c *call) readTransport(r *http.Request, body []byte) (key string, err error) {
	version, once := single(r, versionHeader)
	known, ok := shapeOf(version)
	if !once || !ok {
		p := invalid(codeVersion, sentenceVersion, "")
		p.body.Versions = versions
		return "", p
	}
	c.shape = known
	if c.op.read == nil {
		return "", nil
	}
	key, once = single(r, keyHeader)
	_, sent := r.Header[keyHeader]
	switch {
	case sent && (!once || !printable(key)):
		return "", invalid(codeKeyInvalid, sentenceKeyInvalid, "")
	case !sent && c.shape.keyRequired:
		return "", invalid(codeKeyRequired, sentenceKeyMissing, "")
	}
	if media := r.Header.Get("Content-Type"); media != "" && len(body) > 0 {
		if kind, _, err := mime.ParseMediaType(media); err != nil || kind != "application/json" {
			return "", invalid(codeContentType, sentenceContentType, "")
		}
	}
	if c.fields, err = parse(body); err != nil {
		return "", err
	}
	return key, nil
}

// orNotFound keeps the order of refusals: before a 400 about a session that is
// not the agent's there is a 404.
func (h *Handler) orNotFound(ctx context.Context, c *call, refusal error) error {
	if p := asProblem(refusal); c.id == "" || p == nil || p.status != http.StatusBadRequest {
		return refusal
	}
	if _, err := h.cfg.Orders.Told(ctx, c.actor, c.id); registrar.KindOf(err) == registrar.KindNotFound && err != nil {
		return refuse(http.StatusNotFound, codeNotFound, sentenceNotFound, "")
	}
	return refusal
}

// once carries a request out, or repeats what was answered to its key.
func (h *Handler) once(ctx context.Context, w http.ResponseWriter, r *http.Request, c *call, key string, body []byte) (answer, error) {
	if len(body) == 0 {
		body = []byte("{}")
	}
	run, before, err := h.begin(ctx, c, c.actor.Through+" "+r.URL.Path, key, body)
	switch {
	case err != nil:
		return answer{}, c.keyProblem(err)
	case before != nil && before.Header[versionHeader] != c.shape.version:
		return answer{}, c.keyProblem(&registrar.Error{Kind: registrar.KindConflict, Code: idempotency.Conflict})
	case before != nil:
		w.Header().Set(replayedHeader, "true")
		return answer{status: before.Status, header: before.Header, body: before.Body}, nil
	}
	c.resumed = run.Resumed
	finished := false
	defer func() {
		if !finished {
			_ = run.Drop(ctx) // else the key is free when its lease ends
		}
	}()
	out, err := h.carryOut(ctx, c)
	if err != nil {
		p := asProblem(err)
		if p == nil || !p.kept() {
			return answer{}, err
		}
		wire.Annotate(w, p)
		out = p.answer()
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
	// The request is carried out, so its answer stands even if it can't be stored for a
	// repetition.
	err = run.Finish(ctx, out.status, out.header, out.body)
	if finished = err == nil; !finished {
		wire.Annotate(w, err)
	}
	return out, nil
}

// begin takes the key. A completion that meets one with the same key waits for its
// answer.
func (h *Handler) begin(ctx context.Context, c *call, scope, key string, body []byte) (*idempotency.Run, *idempotency.Stored, error) {
	if !c.op.completing {
		return h.cfg.Answers.Begin(ctx, scope, key, body)
	}
	return h.cfg.Answers.BeginOrWait(ctx, scope, key, body, idempotency.Wait{
		Caller: c.actor.Through, Until: c.until, Gone: c.gone, Closing: h.cfg.Closing,
	})
}

// kept says whether a refusal is the answer to its key for good. What may be
// otherwise a moment later without anything new being asked is not.
func (p *problem) kept() bool {
	return p.status < http.StatusInternalServerError && p.status != http.StatusTooManyRequests && p.status != http.StatusNotFound && p.retryAfter == 0
}

// keyProblem is what is wrong with a key, in the words of the shape.
func (c *call) keyProblem(err error) error {
	switch registrar.CodeOf(err) {
	case idempotency.Conflict:
		if c.shape == v2025 {
			p := refuse(http.StatusConflict, notIdempotent, sentenceKeyConflict, "")
			p.body.Type = notIdempotent
			return p
		}
		return refuse(http.StatusUnprocessableEntity, codeKeyConflict, sentenceKeyConflict, "")
	case idempotency.InFlight:
		p := refuse(http.StatusConflict, codeKeyInFlight, sentenceKeyInFlight, "")
		var e *registrar.Error
		if errors.As(err, &e) {
			p.retryAfter = e.RetryAfter
		}
		return p
	case idempotency.BadKey:
		return invalid(codeKeyInvalid, sentenceKeyInvalid, "")
	default:
		return fault(err)
	}
}

// carryOut reads the content, calls the domain and writes the answer.
func (h *Handler) carryOut(ctx context.Context, c *call) (answer, error) {
	if c.op.counted {
		if d := h.cfg.Creates.Allow(quota.TextKey(c.actor.Through)); !d.Allowed {
			return answer{}, limited(d.RetryAfter)
		}
	}
	if c.op.read != nil {
		asked, err := c.shape.read(c.op.read(c.shape), c.fields)
		if err != nil {
			return answer{}, h.orNotFound(ctx, c, err)
		}
		c.asked = asked
	}
	session, err := c.op.do(ctx, c)
	if err != nil {
		return answer{}, h.orNotFound(ctx, c, c.problemOf(session, err))
	}
	shown := newView(session, c.shape, h.cfg.BaseURL+h.cfg.Permalinks)
	shown.links = h.links(c.shape)
	encoded, err := json.Marshal(c.shape.write(shown, c.op.completing))
	if err != nil { // can't happen with our own types; never answer with half of one
		return answer{}, fault(err)
	}
	return answer{status: c.op.status, body: encoded, pending: c.op.completing && undecided(session)}, nil
}

// undecided reports whether a payment is in progress, however the shape names the
// session's status: the same key must be able to fetch the outcome.
func undecided(session order.Session) bool {
	return session.Status == order.InProgress || session.Problem == order.ProblemPaying
}

// answer is what a refusal sends.
func (p *problem) answer() answer {
	body, err := json.Marshal(p.body)
	if err != nil {
		body = []byte("{}")
	}
	out := answer{status: p.status, body: body, header: make(map[string]string)}
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

// fault is something that is not the agent's doing.
func fault(err error) error {
	p := refuse(http.StatusInternalServerError, codeInternal, sentenceInternal, "")
	kind := registrar.KindOf(err)
	if kind == registrar.KindUpstream || kind == registrar.KindRateLimited || errors.Is(err, context.DeadlineExceeded) {
		p = refuse(http.StatusServiceUnavailable, codeNotYetDecided, sentenceUpstream, "")
		p.retryAfter = retryAfter(err)
	}
	p.cause = err
	return p
}
