package order

import (
	"context"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// claimEvery is how often completions that need a human have a letter sent, and
	// claimOnRequest how often a human can ask for another one.
	claimEvery     = 24 * time.Hour
	claimOnRequest = 10 * time.Minute
)

// ActionClaimed tells that an unclaimed order has become an account's.
const ActionClaimed registrar.Action = "order_claimed"

// claimLetter has the link with which an order is claimed. It goes to the address
// that the agent told, which is the shadow account's.
func claimLetter(o Order) registrar.Letter {
	return registrar.Letter{
		Kind: registrar.LetterClaim, Customer: o.Customer, To: o.Contact.Email, Language: o.Contact.Language,
		Facts: factsOf(o),
	}
}

// offerClaim has the letter sent for an order that is nobody's yet, unless one was
// lately, or its address has got too many: making orders costs an agent nothing, and
// the address need not be its buyer's.
func (s *Service) offerClaim(ctx context.Context, o Order, every time.Duration) (Order, error) {
	mayWrite := sync.OnceValue(func() bool { return s.cfg.MayWriteTo == nil || s.cfg.MayWriteTo(o.Contact.Email) })
	return s.change(ctx, o, func(was Order) (Move, bool) {
		lately := !was.ClaimAskedAt.IsZero() && s.now().Sub(was.ClaimAskedAt) < every
		if was.Claimed || was.Contact.Email == "" || was.State == Canceled || was.State == Expired || lately || !mayWrite() {
			return Move{}, false
		}
		now := was.clone()
		now.ClaimAskedAt = s.now()
		return Move{Order: now, Letters: []registrar.Letter{claimLetter(now)}}, true
	})
}

// AskClaim sends the letter again to the address that the agent told. Whoever has the
// link to the order may ask for it; they do not learn the address.
func (s *Service) AskClaim(ctx context.Context, _ registrar.Actor, paySecret string) error {
	o, err := s.byPayLink(ctx, paySecret)
	if err != nil {
		return err
	}
	_, err = s.offerClaim(ctx, o, claimOnRequest)
	return err
}

// Claimable is the newest order that a mailed link is for.
func (s *Service) Claimable(ctx context.Context, linkSecret string) (Order, error) {
	hash, ok := registrar.HashSecret(registrar.LinkSecret, linkSecret)
	if !ok {
		return Order{}, fail(registrar.KindNotFound, NoSuchClaim)
	}
	o, found, err := s.cfg.Store.ClaimableBy(ctx, hash, s.clock())
	if err == nil && !found {
		err = fail(registrar.KindNotFound, NoSuchClaim)
	}
	return o, err
}

// Claim gives an unclaimed order, and the domains that came of it, to the account that
// the actor is signed in to. It needs the mailed link, which works once.
func (s *Service) Claim(ctx context.Context, actor registrar.Actor, linkSecret string) (Order, error) {
	if actor.Kind != registrar.ActorPerson || actor.Customer == "" {
		return Order{}, fail(registrar.KindUnauthenticated, SignInFirst)
	}
	o, err := s.Claimable(ctx, linkSecret)
	if err != nil {
		return Order{}, err
	}
	hash, _ := registrar.HashSecret(registrar.LinkSecret, linkSecret)
	deed := registrar.Deed{Actor: actor, Action: ActionClaimed, Customer: actor.Customer, Object: o.ID, At: s.now()}
	claimed, err := s.cfg.Store.Claim(ctx, hash, actor.Customer, s.clock(), deed, s.admit)
	if err != nil {
		return Order{}, err
	}
	if !claimed {
		return Order{}, fail(registrar.KindNotFound, NoSuchClaim)
	}
	s.cfg.Logger.InfoContext(ctx, "an order was claimed", "order", o.ID)
	return s.again(ctx, o.ID)
}

// admit refuses to give paid names to an account whose registrant their extensions do
// not admit: they were approved for the buyer's. What is not paid yet is checked when
// it is paid.
func (s *Service) admit(tlds []string, holder registrar.Holder, verified string) error {
	if holder == (registrar.Holder{}) {
		return nil // the buyer's data, for which the names were approved, become the account's
	}
	return registrar.CheckHolder(s.cfg.Extension, tlds, holder, verified)
}
