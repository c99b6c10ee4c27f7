package order

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// addLinks gives a new order its two secrets.
func (s *Service) addLinks(o *Order) {
	pay, payHash := registrar.NewSecret(registrar.PayLink)
	verify, verifyHash := registrar.NewSecret(registrar.VerifyLink)
	o.PayLink, o.SealedPayLink = payHash, s.cfg.Seal.Seal(registrar.PayLinkPurpose(o.ID), pay)
	o.VerifyLink, o.SealedVerifyLink = verifyHash, s.cfg.Seal.Seal(registrar.VerifyLinkPurpose(o.ID), verify)
}

// PayURL is where the order is paid, and seen afterwards.
func (s *Service) PayURL(o Order) (string, error) {
	secret, err := s.cfg.Seal.Open(registrar.PayLinkPurpose(o.ID), o.SealedPayLink)
	if err != nil {
		return "", err
	}
	return s.cfg.BaseURL + "/checkout/" + secret, nil
}

// VerifyURL is where the holder shows who they are; empty where nobody has to.
func (s *Service) VerifyURL(o Order) (string, error) {
	if o.State != AwaitingVerification {
		return "", nil
	}
	secret, err := s.cfg.Seal.Open(registrar.VerifyLinkPurpose(o.ID), o.SealedVerifyLink)
	if err != nil {
		return "", err
	}
	return s.cfg.BaseURL + "/checkout/verify/" + secret, nil
}

// orderByPayLink finds the order that a secret opens.
func (s *Service) orderByPayLink(ctx context.Context, secret string) (Order, error) {
	hash, ok := registrar.HashSecret(registrar.PayLink, secret)
	if !ok {
		return Order{}, fail(registrar.KindNotFound, NoSuchOrder)
	}
	o, found, err := s.cfg.Store.OrderByPayLink(ctx, hash)
	if err == nil && !found {
		err = fail(registrar.KindNotFound, NoSuchOrder)
	}
	return o, err
}

func (s *Service) orderByVerifyLink(ctx context.Context, secret string) (Order, error) {
	hash, ok := registrar.HashSecret(registrar.VerifyLink, secret)
	if !ok {
		return Order{}, fail(registrar.KindNotFound, NoSuchOrder)
	}
	o, found, err := s.cfg.Store.OrderByVerifyLink(ctx, hash)
	if err == nil && !found {
		err = fail(registrar.KindNotFound, NoSuchOrder)
	}
	return o, err
}

// requireOwner lets only the order's customer through, in person: who knows a link sees
// an order, but pays, changes or declines nothing by it.
func requireOwner(actor registrar.Actor, o Order) error {
	if actor.Kind != registrar.ActorPerson || actor.Customer == "" {
		return fail(registrar.KindUnauthenticated, SignInFirst)
	}
	if actor.Customer != o.Customer {
		return fail(registrar.KindForbidden, NotYours)
	}
	return nil
}

func isOwner(actor registrar.Actor, o Order) bool { return requireOwner(actor, o) == nil }
