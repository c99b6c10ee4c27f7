package order

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
)

const (
	spendingWindow = 30 * 24 * time.Hour
	// verificationKeyTTL is how long starting a verification uses the same idempotency
	// key. A provider may return a failure under that key for a day. An extra
	// verification is harmless, because its URL is never given out.
	verificationKeyTTL = 5 * time.Minute
)

// needsIdentity reports whether the identity must be verified before payment: a TLD
// requires it (verify), or the total of recent payments and this order is too high. For an order that has
// just started to be paid, added is 0, because its payment counts. Each is summed after being
// stored, so at least the last one of several concurrent payments sees them all.
//
// Automatic renewals are exempt, also when the customer pays one by hand after a decline:
// they order nothing that the customer does not hold already, and a domain must not expire
// because renewals of many add up. What they cost counts for later orders.
func (s *Service) needsIdentity(ctx context.Context, o Order, buyer Buyer, added registrar.Cents, verify bool) (bool, error) {
	if o.Channel == ChannelRenewal {
		return false, nil
	}
	if !verify {
		spent, err := s.cfg.Store.SpentSince(ctx, o.Customer, o.Email, s.now().Add(-spendingWindow))
		if err != nil || spent.Total()+added <= s.cfg.VerifyOver {
			return false, err
		}
	}
	identity, _, err := s.cfg.Store.GetIdentity(ctx, o.Customer)
	return !identity.matches(buyer), err
}

// IdentityCheck is whether an order that does not exist yet would require a verified identity.
type IdentityCheck struct {
	Needed bool
	Over   registrar.Cents // the gross of 30 days above which it does; zero if an extension requires it
}

// VerifyOver is the gross of 30 days above which an identity must be verified.
func (s *Service) VerifyOver() registrar.Cents { return s.cfg.VerifyOver }

// ExpectedIdentityCheck returns whether a basket of that gross would require the visitor to
// verify an identity before payment, so that they know before they order; verify means that
// one of its extensions requires it. A visitor who is not signed in is a new customer.
func (s *Service) ExpectedIdentityCheck(ctx context.Context, actor registrar.Actor, gross registrar.Cents, verify bool) (check IdentityCheck, err error) {
	if !verify {
		check.Over = s.cfg.VerifyOver
	}
	if actor.Customer == "" {
		check.Needed = verify || gross > s.cfg.VerifyOver
		return check, nil
	}
	buyer, err := s.cfg.Store.GetBuyer(ctx, actor.Customer)
	if err == nil {
		check.Needed, err = s.needsIdentity(ctx, Order{Customer: actor.Customer, Email: buyer.Email}, buyer, gross, verify)
	}
	return check, err
}

// AwaitsAddress reports whether an order waits for its customer's address, which decides the VAT and so
// whether the identity has to be verified.
func AwaitsAddress(state State, vatRule string) bool {
	return state == AwaitingVerification && vatRule == string(billing.RuleUnknownCountry)
}

// Retax sets the VAT of an unpaid order to that of its customer today, as opening it does: the address
// may have been entered, or changed, since its prices were stored. An order that waited for the address
// then waits for its payment, until its prices say whether the identity has to be verified.
func (o *Order) Retax(tax billing.Assessment) (err error) {
	if !o.State.waiting() || tax.Rule == billing.RuleUnknownCountry {
		return nil
	}
	if AwaitsAddress(o.State, o.Totals.Rule) {
		o.State = AwaitingPayment
	}
	o.Items = slices.Clone(o.Items)
	nets := make([]registrar.Cents, len(o.Items))
	for i, item := range o.Items {
		nets[i] = item.Net
	}
	if tax.VAT, err = billing.SplitVAT(nets, tax.RateBasisPoints); err != nil {
		return err
	}
	return o.setPrices(nets, tax)
}

func (i Identity) matches(buyer Buyer) bool {
	return !i.VerifiedAt.IsZero() && buyer.HasRegistrant && registrar.SameName(i.Name, buyer.Name)
}

func (i Identity) open() bool { return i.Session != "" && i.URL != "" }

// undecided reports whether the provider may have news: after a failed attempt its page
// stays open for another one.
func (i Identity) undecided() bool { return i.open() || i.Session != "" && i.Failure != "" }

// StartVerification starts a verification, or finds the open one, and returns the
// provider's page. It returns an empty string if no page is needed: the order does not
// require it any more, or the provider is still processing.
func (s *Service) StartVerification(ctx context.Context, actor registrar.Actor, verifySecret string) (redirect string, err error) {
	o, err := s.orderByVerifyLink(ctx, verifySecret)
	if err != nil {
		return "", err
	}
	if err := requireOwner(actor, o); err != nil || o.State != AwaitingVerification {
		return "", err
	}
	buyer, err := s.cfg.Store.GetBuyer(ctx, o.Customer)
	if err != nil {
		return "", err
	}
	for range maxAttempts {
		identity, found, err := s.refreshIdentity(ctx, o.Customer, s.fetchVerificationCached)
		if err != nil {
			return "", err
		}
		if identity.open() || identity.matches(buyer) {
			return identity.URL, s.advanceVerifiedOrders(ctx, o.Customer)
		}
		url, begun, err := s.openVerification(ctx, identity, found, buyer, s.cfg.BaseURL+"/checkout/verify/"+verifySecret)
		if err != nil {
			return "", err
		}
		if begun {
			return url, s.scheduleIdentityCheck(ctx, o)
		}
	}
	return "", errBusy()
}

// openVerification starts a verification. Concurrent calls and retries after a crash
// use the same key and so find the same verification. The return URL is part of the
// key, because each order has its own.
func (s *Service) openVerification(ctx context.Context, was Identity, found bool, buyer Buyer, back string) (url string, begun bool, err error) {
	sum := sha256.Sum256([]byte(strings.Join([]string{
		buyer.Customer, was.Session, strconv.FormatInt(was.UpdatedAt.UnixMicro(), 10), back, s.worker.Now().Truncate(verificationKeyTTL).UTC().String(),
	}, "\n")))
	key := "idv_" + base64.RawURLEncoding.EncodeToString(sum[:18])
	call, cancel := s.worker.CallContext(ctx)
	session, url, err := s.cfg.Provider.OpenVerification(call, key, buyer.Customer, buyer.Email, buyer.Language, back)
	cancel()
	if err != nil {
		return "", false, err
	}
	now := was
	now.Customer, now.Session, now.URL, now.Failure, now.UpdatedAt = buyer.Customer, session, url, "", s.now()
	var before *Identity
	if found {
		before = &was
	}
	begun, err = s.cfg.Store.UpdateIdentity(ctx, before, now, nil)
	return url, begun, err
}

// scheduleIdentityCheck makes the worker poll, in case the webhook is lost.
func (s *Service) scheduleIdentityCheck(ctx context.Context, o Order) error {
	_, err := s.update(ctx, o, func(m *Transition) bool {
		m.To.Attempts = 1
		s.releaseLease(&m.To)
		return m.From.State == AwaitingVerification && m.From.Attempts == 0
	})
	return err
}

// refreshIdentity returns a customer's identity. If it is undecided, fetch gets the
// provider's status, which is stored first. fetch is fetchVerification or, for page
// views, fetchVerificationCached.
func (s *Service) refreshIdentity(
	ctx context.Context, customer string, fetch func(ctx context.Context, session string) (Verification, error),
) (identity Identity, found bool, err error) {
	for range maxAttempts {
		identity, found, err = s.cfg.Store.GetIdentity(ctx, customer)
		if err != nil || !identity.undecided() {
			return identity, found, err
		}
		status, err := fetch(ctx, identity.Session)
		if registrar.KindOf(err) == registrar.KindNotFound { // unknown at the provider: over
			status, err = Verification{Failed: true, Failure: registrar.CodeOf(err)}, nil
		}
		if err != nil {
			return identity, found, err
		}
		now := identity
		var event *registrar.AuditEvent
		switch {
		case status.Done:
			now.URL, now.Name, now.VerifiedAt, now.Failure = "", status.Name, s.now(), ""
			event = &registrar.AuditEvent{
				Actor: registrar.Actor{Kind: registrar.ActorSystem, Through: identity.Session}, Action: ActionIdentity,
				Customer: customer, Object: customer, At: s.now(),
			}
		case status.Failed:
			now.URL, now.Failure = "", cmp.Or(status.Failure, "not_verified")
			if now == identity {
				return identity, found, nil
			}
		case !identity.open(): // another attempt follows a failed one
			return identity, found, nil
		case status.URL != "" && status.URL != identity.URL:
			now.URL = status.URL // the provider's pages are short-lived
		default:
			return identity, found, nil
		}
		now.UpdatedAt = s.now()
		stored, err := s.cfg.Store.UpdateIdentity(ctx, &identity, now, event)
		if err != nil {
			return identity, found, err
		}
		if stored {
			return now, true, nil
		}
	}
	return identity, found, errBusy()
}

func (s *Service) fetchVerification(ctx context.Context, session string) (Verification, error) {
	call, cancel := s.worker.CallContext(ctx)
	defer cancel()
	status, err := s.cfg.Provider.FetchVerification(call, session)
	if err == nil {
		s.verifications.Set(session, status)
	}
	return status, err
}

// fetchVerificationCached is for page views, which share a response for RecheckInterval.
func (s *Service) fetchVerificationCached(ctx context.Context, session string) (Verification, error) {
	answer, err := s.verifications.Get(ctx, session, nil, func(ctx context.Context) (Verification, error) {
		return s.fetchVerification(ctx, session)
	})
	return answer.Value, err
}

func (s *Service) checkIdentity(ctx context.Context, customer string) error {
	if _, _, err := s.refreshIdentity(ctx, customer, s.fetchVerification); err != nil {
		return err
	}
	return s.advanceVerifiedOrders(ctx, customer)
}

func (s *Service) handleVerificationEvent(ctx context.Context, session string) error {
	customer, found, err := s.cfg.Store.CustomerByVerification(ctx, session)
	if err != nil || !found {
		return err
	}
	return s.checkIdentity(ctx, customer)
}

// advanceVerifiedOrders moves orders that await a verification that is done.
func (s *Service) advanceVerifiedOrders(ctx context.Context, customer string) error {
	identity, found, err := s.cfg.Store.GetIdentity(ctx, customer)
	if err != nil || !found || identity.VerifiedAt.IsZero() {
		return err
	}
	buyer, err := s.cfg.Store.GetBuyer(ctx, customer)
	if err != nil || !identity.matches(buyer) {
		return err
	}
	waiting, err := s.cfg.Store.ListOrdersAwaitingIdentity(ctx, customer)
	if err != nil {
		return err
	}
	for _, id := range waiting {
		o, err := s.reload(ctx, id)
		if err != nil {
			return err
		}
		_, err = s.update(ctx, o, func(m *Transition) bool {
			s.setState(&m.To, AwaitingPayment)
			return m.From.State == AwaitingVerification
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// VerifyView returns what the page at verification_url shows. For the order's customer
// an open verification is refreshed.
func (s *Service) VerifyView(ctx context.Context, actor registrar.Actor, verifySecret string) (VerifyView, error) {
	o, err := s.orderByVerifyLink(ctx, verifySecret)
	if err != nil {
		return VerifyView{}, err
	}
	if o, err = s.expire(ctx, o); err != nil {
		return VerifyView{}, err
	}
	view := VerifyView{Order: o, IsOwner: isOwner(actor, o), Needed: o.State == AwaitingVerification, Status: IdentityNone}
	buyer, err := s.cfg.Store.GetBuyer(ctx, o.Customer)
	if err != nil && registrar.CodeOf(err) != registrar.NoSuchCustomer { // a closed account keeps its orders
		return VerifyView{}, err
	}
	view.NoRegistrant = !buyer.HasRegistrant
	if !view.IsOwner {
		view.Language = buyer.Language
		return view, nil
	}
	view.Name = buyer.Name
	identity, found, err := s.refreshIdentity(ctx, o.Customer, s.fetchVerificationCached)
	if err != nil {
		return VerifyView{}, err
	}
	if view.Needed && !identity.VerifiedAt.IsZero() {
		if err := s.advanceVerifiedOrders(ctx, o.Customer); err != nil {
			return VerifyView{}, err
		}
		if view.Order, err = s.reload(ctx, o.ID); err != nil {
			return VerifyView{}, err
		}
		view.Needed = view.Order.State == AwaitingVerification
	}
	view.VerifiedAt = identity.VerifiedAt
	switch {
	case !found:
	case identity.open():
		view.Status = IdentityOpen
	case identity.Failure != "":
		view.Status, view.Failure = IdentityFailed, identity.Failure
	case !identity.VerifiedAt.IsZero() && view.Needed:
		view.Status, view.Failure = IdentityFailed, NameMismatch
	case !identity.VerifiedAt.IsZero():
		view.Status = IdentityVerified
	}
	return view, nil
}
