package order

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func (s *Service) addLinks(o *Order) {
	pay, payHash := registrar.NewSecret(registrar.PayLink)
	verify, verifyHash := registrar.NewSecret(registrar.VerifyLink)
	o.PayLink, o.SealedPayLink = payHash, s.cfg.Seal.Seal(registrar.PayLinkPurpose(o.ID), pay)
	o.VerifyLink, o.SealedVerifyLink = verifyHash, s.cfg.Seal.Seal(registrar.VerifyLinkPurpose(o.ID), verify)
}

// PayURL returns the address where the order is paid and viewed.
func (s *Service) PayURL(o Order) (string, error) {
	secret, err := s.cfg.Seal.Open(registrar.PayLinkPurpose(o.ID), o.SealedPayLink)
	return s.cfg.BaseURL + "/checkout/" + secret, err
}

// VerifyURL returns the address where the registrant verifies their identity, if needed.
func (s *Service) VerifyURL(o Order) (string, error) {
	if o.State != AwaitingVerification {
		return "", nil
	}
	secret, err := s.cfg.Seal.Open(registrar.VerifyLinkPurpose(o.ID), o.SealedVerifyLink)
	return s.cfg.BaseURL + "/checkout/verify/" + secret, err
}

// orderByPayLink finds an order for anyone who has its link, ownOrder only for its customer.
func (s *Service) orderByPayLink(ctx context.Context, secret string) (Order, error) {
	hash, ok := registrar.HashSecret(registrar.PayLink, secret)
	if !ok {
		return Order{}, fail(registrar.KindNotFound, NoSuchOrder)
	}
	return existing(s.cfg.Store.OrderByPayLink(ctx, hash))
}

func (s *Service) ownOrder(ctx context.Context, actor registrar.Actor, paySecret string) (Order, error) {
	o, err := s.orderByPayLink(ctx, paySecret)
	if err == nil {
		err = requireOwner(actor, o)
	}
	return o, err
}

func (s *Service) orderByVerifyLink(ctx context.Context, secret string) (Order, error) {
	hash, ok := registrar.HashSecret(registrar.VerifyLink, secret)
	if !ok {
		return Order{}, fail(registrar.KindNotFound, NoSuchOrder)
	}
	return existing(s.cfg.Store.OrderByVerifyLink(ctx, hash))
}

// requireOwner admits only the order's customer in person: the link alone lets one view
// an order, not pay, change or decline it.
func requireOwner(actor registrar.Actor, o Order) error {
	if err := actor.RequireSignedIn(); err != nil {
		return err
	}
	if actor.Customer != o.Customer {
		return fail(registrar.KindForbidden, NotYours)
	}
	return nil
}

func isOwner(actor registrar.Actor, o Order) bool { return requireOwner(actor, o) == nil }
