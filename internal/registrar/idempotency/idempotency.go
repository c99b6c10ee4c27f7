package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/duty"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// Kept is how long an answer is.
	Kept = 24 * time.Hour
	// lease is how long a request may run before another may take its key over. A
	// request has ended long before.
	lease = time.Minute
	// MaxKey bounds a key, in bytes.
	MaxKey = 255
	// askAgain is what those who come while the first one runs are told.
	askAgain = time.Second
	// lowestFault is the first status that is never stored.
	lowestFault = 500
	// settleWithin bounds the last write of a request whose caller has gone.
	settleWithin = 10 * time.Second
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

// Stored is an answer that was given before.
type Stored struct {
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
	Now, LeaseEnds, EndsAt time.Time
}

// Standing is how it stands with a key.
type Standing struct {
	// Began says that the attempt has the key now. Else Body is that of the one who
	// has it, and Answer what was answered; nil: it still runs.
	Began  bool
	Body   string
	Answer *Sealed
	// Resumed says that the same request began before and did not come to its end.
	Resumed bool
}

// Sealed is an answer as it is stored, sealed.
type Sealed struct {
	Status int
	Header map[string]string
	Text   string // what only our key opens
}

// Store keeps keys.
type Store interface {
	// BeginRun takes a key that is new, has ended, or was left by one who died.
	BeginRun(ctx context.Context, attempt Attempt) (Standing, error)
	// FinishRun stores the answer; false if the key was taken over meanwhile.
	FinishRun(ctx context.Context, scope, key, run string, answer Sealed) (bool, error)
	// DropRun frees the key if it still runs.
	DropRun(ctx context.Context, scope, key, run string) error
	// ForgetRuns removes at most limit whose time is over, and says how many.
	ForgetRuns(ctx context.Context, now time.Time, limit int) (int, error)
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
	waiters duty.Waiters
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
		waiters: duty.Waiters{Most: mostWaiters, MostEach: mostWaitersPerCaller},
	}, nil
}

// Run is a request that is carried out. One of Finish and Drop ends it.
type Run struct {
	// Resumed says that the request was interrupted before: what it asks for may have
	// been done already.
	Resumed bool

	service         *Service
	scope, key, run string
}

// Begin takes a key. It returns a Run for a request that must be carried out, or
// the answer that was given before; else an error with one of the codes above.
func (s *Service) Begin(ctx context.Context, scope, key string, body []byte) (*Run, *Stored, error) {
	if key == "" || len(key) > MaxKey {
		return nil, nil, &registrar.Error{Kind: registrar.KindInvalid, Code: BadKey}
	}
	now := s.now()
	attempt := Attempt{
		Scope: hashed([]byte(scope)), Key: hashed([]byte(key)), Body: fingerprint(body), Run: registrar.NewID("run_", now),
		Now: now, LeaseEnds: now.Add(lease), EndsAt: now.Add(Kept),
	}
	standing, err := s.store.BeginRun(ctx, attempt)
	switch {
	case err != nil:
		return nil, nil, err
	case standing.Began:
		return &Run{Resumed: standing.Resumed, service: s, scope: attempt.Scope, key: attempt.Key, run: attempt.Run}, nil, nil
	case standing.Body != attempt.Body:
		return nil, nil, &registrar.Error{Kind: registrar.KindConflict, Code: Conflict}
	case standing.Answer == nil:
		return nil, nil, &registrar.Error{Kind: registrar.KindConflict, Code: InFlight, RetryAfter: askAgain}
	}
	body, err = s.open(attempt.Scope, attempt.Key, standing.Answer.Text)
	if err != nil {
		return nil, nil, err
	}
	return nil, &Stored{Status: standing.Answer.Status, Header: standing.Answer.Header, Body: body}, nil
}

func (s *Service) open(scope, key, sealed string) ([]byte, error) {
	text, err := s.seal.Open(registrar.AnswerPurpose(scope, key), sealed)
	return []byte(text), err
}

// Finish keeps the answer for whoever asks again. One that blames us is dropped.
// It is written also if the caller has gone: what was done was done.
func (r *Run) Finish(ctx context.Context, status int, header map[string]string, body []byte) error {
	if status >= lowestFault {
		return r.Drop(ctx)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWithin)
	defer cancel()
	sealed := r.service.seal.Close(registrar.AnswerPurpose(r.scope, r.key), string(body))
	_, err := r.service.store.FinishRun(ctx, r.scope, r.key, r.run, Sealed{Status: status, Header: header, Text: sealed})
	return err
}

// Drop frees the key, as if nobody had asked. After Finish it does nothing.
func (r *Run) Drop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWithin)
	defer cancel()
	return r.service.store.DropRun(ctx, r.scope, r.key, r.run)
}

func hashed(text []byte) string {
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

const (
	forgetEvery = 10 * time.Minute
	forgetBatch = 500
)

// Run forgets answers whose time is over, until ctx ends.
func (s *Service) Run(ctx context.Context) {
	duty.Regularly(ctx, forgetEvery, s.Forget, duty.Report(s.log, "old answers"))
}

// Forget removes answers whose time is over.
func (s *Service) Forget(ctx context.Context) error {
	_, err := duty.InBatches(ctx, func(ctx context.Context) (int, error) {
		return s.store.ForgetRuns(ctx, s.now(), forgetBatch)
	})
	return err
}
