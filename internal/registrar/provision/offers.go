package provision

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/dotkontor/dotkontor/internal/recent"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	defaultReuse     = 10 * time.Second
	defaultMaxReused = 20_000
	// lastKnownFor is how long an answer is shown, with its time, while the registry
	// can't be asked.
	lastKnownFor = 15 * time.Minute
)

// offerKey is everything that a registry's answer to an offer depends on. Customers
// do not share answers, so none learns from a fast one what another looks at.
type offerKey struct {
	account, customer, name string
	kind                    Kind
	years                   int
	code                    [sha256.Size]byte
}

func keyOf(account, customer string, wish Wish) offerKey {
	key := offerKey{account: account, customer: customer, name: wish.Name, kind: wish.Kind, years: wish.Years}
	if wish.Code != "" {
		key.code = sha256.Sum256([]byte(wish.Code))
	}
	return key
}

// offer is what the registry says: nil or its refusal. The error is why it could not
// be asked; the answer beside it is then the last one known, and only ForDisplay has
// one. What is asked for other purposes is shown from then on.
func (s *Service) offer(ctx context.Context, registry Account, key offerKey, wanted Wanted, wish Wish) (recent.Answer[error], error) {
	ask := func(ctx context.Context) (verdict error, unasked error) {
		err := registry.Offer(ctx, wish)
		if err != nil && waits(err) {
			return nil, err
		}
		return err, nil
	}
	if wanted.Purpose == registrar.ForDisplay {
		return s.offers.Ask(ctx, key, wanted.Admit, ask)
	}
	verdict, err := ask(ctx)
	if err != nil {
		return recent.Answer[error]{}, err
	}
	s.offers.Put(key, verdict)
	return recent.Answer[error]{Value: verdict, At: s.clock()}, nil
}
