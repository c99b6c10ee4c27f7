package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// ResponseTTL is how long a response is stored.
	ResponseTTL = 24 * time.Hour
	// leaseTTL is when another request may take over a key; far longer than any request.
	leaseTTL = time.Minute
	// MaxKey is the maximum length of a key in bytes.
	MaxKey = 255
	// retryAfter is the RetryAfter of InFlight.
	retryAfter = time.Second
	// firstServerError is the lowest status that is never stored.
	firstServerError = 500
	// finishTimeout bounds the final write of a request whose client has disconnected.
	finishTimeout = 10 * time.Second
)

// The codes of this package's errors.
const (
	// Conflict goes with KindConflict: the key was used with another body.
	Conflict registrar.Code = "idempotency_conflict"
	// InFlight goes with KindConflict: the first request with the key is still running.
	InFlight registrar.Code = "idempotency_in_flight"
	// BadKey goes with KindInvalid: empty, or longer than MaxKey.
	BadKey registrar.Code = "bad_idempotency_key"
)

// StoredResponse is the response of an earlier request.
type StoredResponse struct {
	Status int
	// Header has the headers that are part of the response.
	Header map[string]string
	Body   []byte
}

// Attempt is a request with its key. All strings are hashes.
type Attempt struct {
	Scope, Key, Body string
	// Run identifies the execution.
	Run string
	// Now is the start; the key can be taken over after LeaseEnds and is free after
	// ExpiresAt.
	Now, LeaseEnds, ExpiresAt time.Time
}

// KeyState is the state of a key after BeginRun.
type KeyState struct {
	// Acquired means that the attempt owns the key. Otherwise Body is that of the owner
	// and the response is theirs, nil while it is running.
	Acquired bool
	Body     string
	Response *SealedResponse
	// Resumed means that the same request was started before and did not finish.
	Resumed bool
}

// SealedResponse is the stored form of a response.
type SealedResponse struct {
	Status int
	Header map[string]string
	Text   string // sealed
}

// Store stores keys.
type Store interface {
	// BeginRun acquires a key that is new, expired, or abandoned by a dead node.
	BeginRun(ctx context.Context, attempt Attempt) (KeyState, error)
	// FinishRun stores the response; false if the key was taken over meanwhile.
	FinishRun(ctx context.Context, scope, key, run string, response SealedResponse) (bool, error)
	// ReleaseRun frees the key if the run still owns it.
	ReleaseRun(ctx context.Context, scope, key, run string) error
	// DeleteExpiredRuns deletes at most limit expired keys and returns how many.
	DeleteExpiredRuns(ctx context.Context, now time.Time, limit int) (int, error)
}

// Config configures a Service.
type Config struct {
	Store Store
	// Seal encrypts stored responses, which contain links that open orders.
	Seal *registrar.Seal
	// Now is the real time. Default: time.Now.
	Now func() time.Time
	// Log receives background errors. Default: discarded.
	Log *slog.Logger
}

// Service is safe for concurrent use.
type Service struct {
	cfg Config
	// waiters limits the requests that wait for one with the same key.
	waiters jobs.Waiters
}

// New returns a Service. The caller must also call Run.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil || cfg.Seal == nil {
		return nil, errors.New("idempotency: Config.Store and Config.Seal are required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{cfg: cfg, waiters: jobs.Waiters{Max: maxWaiters, MaxPerKey: maxWaitersPerCaller}}, nil
}

// Run is a request being executed. Finish or Release ends it.
type Run struct {
	// Resumed means that the request was interrupted before: its effects may exist.
	Resumed bool

	service           *Service
	scope, key, runID string
}

// Begin acquires a key. It returns a Run for a request to be executed, or the stored
// response, or an error with one of the codes above. The body is a decoded JSON value, whose
// numbers are of type json.Number.
func (s *Service) Begin(ctx context.Context, scope, key string, body any) (*Run, *StoredResponse, error) {
	if key == "" || len(key) > MaxKey {
		return nil, nil, &registrar.Error{Kind: registrar.KindInvalid, Code: BadKey}
	}
	sum, err := fingerprint(body)
	if err != nil {
		return nil, nil, err
	}
	now := s.cfg.Now()
	attempt := Attempt{
		Scope: hashText([]byte(scope)), Key: hashText([]byte(key)), Body: sum, Run: registrar.NewID("run_", now),
		Now: now, LeaseEnds: now.Add(leaseTTL), ExpiresAt: now.Add(ResponseTTL),
	}
	state, err := s.cfg.Store.BeginRun(ctx, attempt)
	switch {
	case err != nil:
		return nil, nil, err
	case state.Acquired:
		return &Run{Resumed: state.Resumed, service: s, scope: attempt.Scope, key: attempt.Key, runID: attempt.Run}, nil, nil
	case state.Body != attempt.Body:
		return nil, nil, &registrar.Error{Kind: registrar.KindConflict, Code: Conflict}
	case state.Response == nil:
		return nil, nil, &registrar.Error{Kind: registrar.KindConflict, Code: InFlight, RetryAfter: retryAfter}
	}
	text, err := s.cfg.Seal.Open(registrar.ResponsePurpose(attempt.Scope, attempt.Key), state.Response.Text)
	if err != nil {
		return nil, nil, err
	}
	return nil, &StoredResponse{Status: state.Response.Status, Header: state.Response.Header, Body: []byte(text)}, nil
}

// Finish stores the response for later requests; a server error releases the key
// instead. It writes even if the client has disconnected, because the request has been
// executed.
func (r *Run) Finish(ctx context.Context, status int, header map[string]string, body []byte) error {
	if status >= firstServerError {
		return r.Release(ctx)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	sealed := r.service.cfg.Seal.Seal(registrar.ResponsePurpose(r.scope, r.key), string(body))
	_, err := r.service.cfg.Store.FinishRun(ctx, r.scope, r.key, r.runID, SealedResponse{Status: status, Header: header, Text: sealed})
	return err
}

// Release frees the key as if it had never been used. After Finish it does nothing.
func (r *Run) Release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	return r.service.cfg.Store.ReleaseRun(ctx, r.scope, r.key, r.runID)
}

func hashText(text []byte) string {
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

const (
	cleanupInterval = 10 * time.Minute
	cleanupBatch    = 500
)

// Run deletes expired responses until ctx ends.
func (s *Service) Run(ctx context.Context) {
	jobs.RunEvery(ctx, cleanupInterval, s.DeleteExpired, jobs.ErrorLogger(s.cfg.Log, "expired responses"))
}

// DeleteExpired deletes expired keys and their responses.
func (s *Service) DeleteExpired(ctx context.Context) error {
	_, err := jobs.DeleteInBatches(ctx, func(ctx context.Context) (int, error) {
		return s.cfg.Store.DeleteExpiredRuns(ctx, s.cfg.Now(), cleanupBatch)
	})
	return err
}

const (
	// A waiting request polls at these intervals, backing off from the first to the
	// second.
	minPollInterval = 50 * time.Millisecond
	maxPollInterval = time.Second
	// These limit the requests waiting on a node, in total and per caller; further ones
	// get InFlight at once.
	maxWaiters          = 256
	maxWaitersPerCaller = 64
)

// WaitOptions limits the wait for a request in flight.
type WaitOptions struct {
	// Caller identifies the client, to limit its waiting requests.
	Caller string
	// Until ends the wait, as does closing either channel; a nil channel never closes.
	Until                time.Time
	ClientGone, Shutdown <-chan struct{}
}

// BeginOrWait is Begin, but waits while another request with the key is in flight. If
// that one releases its key, this one acquires it.
func (s *Service) BeginOrWait(ctx context.Context, scope, key string, body any, options WaitOptions) (run *Run, stored *StoredResponse, err error) {
	inFlight := func() bool {
		run, stored, err = s.Begin(ctx, scope, key, body)
		return registrar.CodeOf(err) == InFlight
	}
	if !inFlight() {
		return run, stored, err
	}
	leave, ok := s.waiters.Acquire(options.Caller)
	if !ok {
		return run, stored, err
	}
	defer leave()
	waitCtx, cancel := context.WithDeadline(ctx, options.Until)
	defer cancel()
	// However the wait ends, err is that of the last poll.
	_, _ = jobs.Poll(waitCtx, options.ClientGone, options.Shutdown, minPollInterval, maxPollInterval, func() (bool, error) { return !inFlight(), nil })
	return run, stored, err
}
