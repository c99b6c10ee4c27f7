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
	// ResponseTTL is how long an answer is.
	ResponseTTL = 24 * time.Hour
	// leaseTTL is how long a request may run before another may take its key over. A
	// request has ended long before.
	leaseTTL = time.Minute
	// MaxKey bounds a key, in bytes.
	MaxKey = 255
	// retryAfter is what those who come while the first one runs are told.
	retryAfter = time.Second
	// firstServerError is the first status that is never stored.
	firstServerError = 500
	// finishTimeout bounds the last write of a request whose caller has gone.
	finishTimeout = 10 * time.Second
)

// What can go wrong.
const (
	// Conflict goes with KindConflict: the key came with another body before.
	Conflict registrar.Code = "idempotency_conflict"
	// InFlight goes with KindConflict: the first request with the key still runs.
	InFlight registrar.Code = "idempotency_in_flight"
	// BadKey goes with KindInvalid: empty, or longer than MaxKey.
	BadKey registrar.Code = "bad_idempotency_key"
)

// StoredResponse is an answer that was given before.
type StoredResponse struct {
	Status int
	// Header has those headers that belong to the answer.
	Header map[string]string
	Body   []byte
}

// Attempt is a request with its key. All of its texts are hashes.
type Attempt struct {
	Scope, Key, Body string
	// Run names who carries it out.
	Run string
	// Now is when it begins; until LeaseEnds nobody else takes it over, and after
	// EndsAt the key is free.
	Now, LeaseEnds, ExpiresAt time.Time
}

// KeyState is how it stands with a key.
type KeyState struct {
	// Acquired says that the attempt has the key now. Else Body is that of the one who
	// has it, and Answer what was answered; nil: it still runs.
	Acquired bool
	Body     string
	Response *SealedResponse
	// Resumed says that the same request began before and did not come to its end.
	Resumed bool
}

// SealedResponse is an answer as it is stored, sealed.
type SealedResponse struct {
	Status int
	Header map[string]string
	Text   string // what only our key opens
}

// Store keeps keys.
type Store interface {
	// BeginRun takes a key that is new, has ended, or was left by one who died.
	BeginRun(ctx context.Context, attempt Attempt) (KeyState, error)
	// FinishRun stores the answer; false if the key was taken over meanwhile.
	FinishRun(ctx context.Context, scope, key, run string, response SealedResponse) (bool, error)
	// ReleaseRun frees the key if it still runs.
	ReleaseRun(ctx context.Context, scope, key, run string) error
	// DeleteExpiredRuns removes at most limit whose time is over, and says how many.
	DeleteExpiredRuns(ctx context.Context, now time.Time, limit int) (int, error)
}

// Config is what a Service needs.
type Config struct {
	Store Store
	// Seal closes the stored answers: they hold links that open orders.
	Seal *registrar.Seal
	// Now is the true time. Default: time.Now.
	Now func() time.Time
	// Log gets what goes wrong in the background. Default: nobody.
	Log *slog.Logger
}

// Service is safe for use by many goroutines.
type Service struct {
	store Store
	seal  *registrar.Seal
	now   func() time.Time
	log   *slog.Logger
	// waiters are requests that wait for one with the same key.
	waiters jobs.Waiters
}

// New returns a Service. Whoever calls it also calls Run.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil || cfg.Seal == nil {
		return nil, errors.New("idempotency needs a store and a seal")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{
		store: cfg.Store, seal: cfg.Seal, now: cfg.Now, log: cfg.Log,
		waiters: jobs.Waiters{Max: maxWaiters, MaxPerKey: maxWaitersPerCaller},
	}, nil
}

// Run is a request that is carried out. One of Finish and Drop ends it.
type Run struct {
	// Resumed says that the request was interrupted before: what it asks for may have
	// been done already.
	Resumed bool

	service           *Service
	scope, key, runID string
}

// Begin takes a key. It returns a Run for a request that must be carried out, or
// the answer that was given before; else an error with one of the codes above.
func (s *Service) Begin(ctx context.Context, scope, key string, body []byte) (*Run, *StoredResponse, error) {
	if key == "" || len(key) > MaxKey {
		return nil, nil, &registrar.Error{Kind: registrar.KindInvalid, Code: BadKey}
	}
	now := s.now()
	attempt := Attempt{
		Scope: hashText([]byte(scope)), Key: hashText([]byte(key)), Body: fingerprint(body), Run: registrar.NewID("run_", now),
		Now: now, LeaseEnds: now.Add(leaseTTL), ExpiresAt: now.Add(ResponseTTL),
	}
	state, err := s.store.BeginRun(ctx, attempt)
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
	body, err = s.openResponse(attempt.Scope, attempt.Key, state.Response.Text)
	if err != nil {
		return nil, nil, err
	}
	return nil, &StoredResponse{Status: state.Response.Status, Header: state.Response.Header, Body: body}, nil
}

func (s *Service) openResponse(scope, key, sealed string) ([]byte, error) {
	text, err := s.seal.Open(registrar.ResponsePurpose(scope, key), sealed)
	return []byte(text), err
}

// Finish keeps the answer for whoever asks again. One that blames us is dropped.
// It is written also if the caller has gone: what was done was done.
func (r *Run) Finish(ctx context.Context, status int, header map[string]string, body []byte) error {
	if status >= firstServerError {
		return r.Release(ctx)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	sealed := r.service.seal.Seal(registrar.ResponsePurpose(r.scope, r.key), string(body))
	_, err := r.service.store.FinishRun(ctx, r.scope, r.key, r.runID, SealedResponse{Status: status, Header: header, Text: sealed})
	return err
}

// Release frees the key, as if nobody had asked. After Finish it does nothing.
func (r *Run) Release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	return r.service.store.ReleaseRun(ctx, r.scope, r.key, r.runID)
}

func hashText(text []byte) string {
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

const (
	cleanupInterval = 10 * time.Minute
	cleanupBatch    = 500
)

// Run forgets answers whose time is over, until ctx ends.
func (s *Service) Run(ctx context.Context) {
	jobs.RunEvery(ctx, cleanupInterval, s.DeleteExpired, jobs.ErrorLogger(s.log, "old answers"))
}

// DeleteExpired removes answers whose time is over.
func (s *Service) DeleteExpired(ctx context.Context) error {
	_, err := jobs.DeleteInBatches(ctx, func(ctx context.Context) (int, error) {
		return s.store.DeleteExpiredRuns(ctx, s.now(), cleanupBatch)
	})
	return err
}
