package order

import (
	"context"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// claimMailInterval limits the claim mails sent for completions that need a human,
	// claimMailResendInterval those that a human requests.
	claimMailInterval       = 24 * time.Hour
	claimMailResendInterval = 10 * time.Minute
)

// claimMail carries the claim link to the address that the agent supplied.
func claimMail(o Order) registrar.Mail {
	return registrar.Mail{
		Kind: registrar.MailClaim, Customer: o.Customer, To: o.Contact.Email, Language: o.Contact.Language,
		Data: mailData(o),
	}
}

// sendClaimMail queues the claim mail for an unclaimed order, at most once per interval
// and within the address's mail limit: creating orders costs an agent nothing, and the
// address need not be the buyer's.
func (s *Service) sendClaimMail(ctx context.Context, o Order, every time.Duration) (Order, error) {
	allowed := sync.OnceValue(func() bool { return s.cfg.AllowMail(o.Contact.Email) })
	return s.update(ctx, o, func(m *Transition) bool {
		now := &m.To
		recently := !now.ClaimMailedAt.IsZero() && s.now().Sub(now.ClaimMailedAt) < every
		if now.Claimed || now.Contact.Email == "" || now.State == Canceled || now.State == Expired || recently || !allowed() {
			return false
		}
		now.ClaimMailedAt = s.now()
		m.Mails = []registrar.Mail{claimMail(*now)}
		return true
	})
}

// ResendClaimMail sends the claim mail again. Anyone with the order's link may request
// it; the response does not reveal the address.
func (s *Service) ResendClaimMail(ctx context.Context, _ registrar.Actor, paySecret string) error {
	o, err := s.orderByPayLink(ctx, paySecret)
	if err != nil {
		return err
	}
	_, err = s.sendClaimMail(ctx, o, claimMailResendInterval)
	return err
}

// ClaimableOrder returns the newest order that a claim link is for.
func (s *Service) ClaimableOrder(ctx context.Context, linkSecret string) (Order, error) {
	hash, ok := registrar.HashSecret(registrar.LinkSecret, linkSecret)
	if !ok {
		return Order{}, fail(registrar.KindNotFound, NoSuchClaim)
	}
	o, found, err := s.cfg.Store.ClaimableOrder(ctx, hash, s.worker.Now())
	if err == nil && !found {
		err = fail(registrar.KindNotFound, NoSuchClaim)
	}
	return o, err
}

// Claim moves a guest order and its domains to the account the actor is signed in to.
// The claim link works once.
func (s *Service) Claim(ctx context.Context, actor registrar.Actor, linkSecret string) (Order, error) {
	if err := actor.RequireSignedIn(); err != nil {
		return Order{}, err
	}
	o, err := s.ClaimableOrder(ctx, linkSecret)
	if err != nil {
		return Order{}, err
	}
	hash, _ := registrar.HashSecret(registrar.LinkSecret, linkSecret)
	event := registrar.AuditEvent{Actor: actor, Action: actionClaimed, Customer: actor.Customer, Object: o.ID, At: s.now()}
	claimed, err := s.cfg.Store.ClaimGuestOrders(ctx, hash, actor.Customer, s.worker.Now(), event, s.checkRegistrant)
	if err != nil {
		return Order{}, err
	}
	if !claimed {
		return Order{}, fail(registrar.KindNotFound, NoSuchClaim)
	}
	s.cfg.Logger.InfoContext(ctx, "order claimed", "order", o.ID)
	return s.reload(ctx, o.ID)
}

// checkRegistrant refuses to move paid names to an account whose registrant their TLDs
// do not admit; they were approved for the buyer's. Unpaid names are checked when they
// are paid.
func (s *Service) checkRegistrant(tlds []string, registrant registrar.Registrant, verified string) error {
	if registrant == (registrar.Registrant{}) {
		return nil // the buyer's data, for which the names were approved, become the account's
	}
	return registrar.CheckRegistrant(s.cfg.Extension, tlds, registrant, verified)
}
