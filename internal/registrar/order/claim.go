package order

import (
	"context"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// claimMailInterval is how often completions that need a human have a letter sent, and
	// claimOnRequest how often a human can ask for another one.
	claimMailInterval       = 24 * time.Hour
	claimMailResendInterval = 10 * time.Minute
)

// ActionClaimed tells that an unclaimed order has become an account's.
const ActionClaimed registrar.Action = "order_claimed"

// claimMail has the link with which an order is claimed. It goes to the address
// that the agent told, which is the shadow account's.
func claimMail(o Order) registrar.Mail {
	return registrar.Mail{
		Kind: registrar.MailClaim, Customer: o.Customer, To: o.Contact.Email, Language: o.Contact.Language,
		Data: mailData(o),
	}
}

// sendClaimMail has the letter sent for an order that is nobody's yet, unless one was
// lately, or its address has got too many: making orders costs an agent nothing, and
// the address need not be its buyer's.
func (s *Service) sendClaimMail(ctx context.Context, o Order, every time.Duration) (Order, error) {
	allowed := sync.OnceValue(func() bool { return s.cfg.AllowMail == nil || s.cfg.AllowMail(o.Contact.Email) })
	return s.updateWithRetry(ctx, o, func(was Order) (Transition, bool) {
		recently := !was.ClaimMailedAt.IsZero() && s.now().Sub(was.ClaimMailedAt) < every
		if was.Claimed || was.Contact.Email == "" || was.State == Canceled || was.State == Expired || recently || !allowed() {
			return Transition{}, false
		}
		now := was.clone()
		now.ClaimMailedAt = s.now()
		return Transition{To: now, Mails: []registrar.Mail{claimMail(now)}}, true
	})
}

// ResendClaimMail sends the letter again to the address that the agent told. Whoever has the
// link to the order may ask for it; they do not learn the address.
func (s *Service) ResendClaimMail(ctx context.Context, _ registrar.Actor, paySecret string) error {
	o, err := s.orderByPayLink(ctx, paySecret)
	if err != nil {
		return err
	}
	_, err = s.sendClaimMail(ctx, o, claimMailResendInterval)
	return err
}

// ClaimableOrder is the newest order that a mailed link is for.
func (s *Service) ClaimableOrder(ctx context.Context, linkSecret string) (Order, error) {
	hash, ok := registrar.HashSecret(registrar.LinkSecret, linkSecret)
	if !ok {
		return Order{}, fail(registrar.KindNotFound, NoSuchClaim)
	}
	o, found, err := s.cfg.Store.ClaimableOrder(ctx, hash, s.clock())
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
	o, err := s.ClaimableOrder(ctx, linkSecret)
	if err != nil {
		return Order{}, err
	}
	hash, _ := registrar.HashSecret(registrar.LinkSecret, linkSecret)
	event := registrar.AuditEvent{Actor: actor, Action: ActionClaimed, Customer: actor.Customer, Object: o.ID, At: s.now()}
	claimed, err := s.cfg.Store.ClaimGuestOrders(ctx, hash, actor.Customer, s.clock(), event, s.checkRegistrant)
	if err != nil {
		return Order{}, err
	}
	if !claimed {
		return Order{}, fail(registrar.KindNotFound, NoSuchClaim)
	}
	s.cfg.Logger.InfoContext(ctx, "an order was claimed", "order", o.ID)
	return s.reload(ctx, o.ID)
}

// checkRegistrant refuses to give paid names to an account whose registrant their extensions do
// not admit: they were approved for the buyer's. What is not paid yet is checked when
// it is paid.
func (s *Service) checkRegistrant(tlds []string, registrant registrar.Registrant, verified string) error {
	if registrant == (registrar.Registrant{}) {
		return nil // the buyer's data, for which the names were approved, become the account's
	}
	return registrar.CheckRegistrant(s.cfg.Extension, tlds, registrant, verified)
}
