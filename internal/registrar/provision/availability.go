package provision

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/ttlcache"
)

const (
	defaultCacheTTL  = 10 * time.Second
	defaultMaxCached = 20_000
	// staleTTL is how long a cached answer is shown, with its time, while the registry
	// is unreachable.
	staleTTL = 15 * time.Minute
)

// availabilityKey is everything that a registry's answer depends on. Customers do not
// share answers, so response times reveal nothing about other customers' queries.
type availabilityKey struct {
	account, customer, name string
	kind                    Kind
	years                   int
	code                    [sha256.Size]byte
}

func newAvailabilityKey(account, customer string, query AvailabilityQuery) availabilityKey {
	key := availabilityKey{account: account, customer: customer, name: query.Name, kind: query.Kind, years: query.Years}
	if query.Code != "" {
		key.code = sha256.Sum256([]byte(query.Code))
	}
	return key
}

// checkAvailability returns the registry's verdict: nil or its refusal. The error says why
// the registry could not be queried; for ForDisplay the result is then the last known one.
// Answers obtained for other purposes are cached for display.
func (s *Service) checkAvailability(ctx context.Context, registry Account, key availabilityKey, request QuoteRequest, query AvailabilityQuery) (ttlcache.Result[error], error) {
	fetch := func(ctx context.Context) (verdict error, unavailable error) {
		err := registry.CheckAvailability(ctx, query)
		if err != nil && registrar.IsTransient(err) {
			return nil, err
		}
		return err, nil
	}
	if request.Purpose == registrar.ForDisplay {
		return s.availability.Get(ctx, key, request.Admit, fetch)
	}
	verdict, err := fetch(ctx)
	if err != nil {
		return ttlcache.Result[error]{}, err
	}
	s.availability.Set(key, verdict)
	return ttlcache.Result[error]{Value: verdict, FetchedAt: s.items.Now()}, nil
}
