package store

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ renewal.ConsentStore = (*DB)(nil)

// GetRenewalDomain returns a domain as far as consents need it.
func (db *DB) GetRenewalDomain(ctx context.Context, customer, domain string) (renewal.Domain, bool, error) {
	return rowAs(func(row query.GetRenewalDomainRow) renewal.Domain {
		return renewal.Domain{
			ID: row.ID, Name: row.Name, TLD: row.Tld, Status: registrar.DomainStatus(row.Status), PaidUntil: fromMicros(row.PaidUntil),
			Choice: renewal.Choice(row.AtTermEnd), Method: row.Method, Premium: row.Premium != 0,
		}
	})(db.read().GetRenewalDomain(ctx, domain, customer))
}

// ListConsents returns a customer's consents to automatic renewal, the newest first.
func (db *DB) ListConsents(ctx context.Context, customer string, limit int) ([]renewal.RecordedConsent, error) {
	return rowsAs(func(row query.RenewalConsent) renewal.RecordedConsent {
		return renewal.RecordedConsent{
			Consent: renewal.Consent{
				ID: row.ID, Domain: row.DomainID, Customer: row.CustomerID, Name: row.Name, Wording: row.Wording, Years: int(row.Years), Gross: registrar.Cents(row.Gross),
				ChargeAt: fromMicros(row.ChargeAt), Method: row.Method, Through: row.Through, Address: row.Address, GivenAt: fromMicros(row.GivenAt),
			},
			EndedAt: fromMicros(row.EndedAt), Reason: renewal.EndReason(row.EndReason),
		}
	})(db.read().ListRenewalConsents(ctx, customer, int32(limit)))
}

// GiveConsent stores a consent with everything that follows from it.
func (db *DB) GiveConsent(ctx context.Context, given renewal.GivenConsent) error {
	return db.write(ctx, func(q *query.Queries) error {
		consent := given.Consent
		// The method is locked before the domain, as when a method is removed.
		if err := lockShownMethod(ctx, q, consent); err != nil {
			return err
		}
		_, open, err := findNotice(ctx, q, consent.Customer, consent.Domain, time.Time{}, withdrawal.Notice.Open)
		if err != nil {
			return err
		}
		if open { // it arrived after the offer
			return &registrar.Error{Kind: registrar.KindConflict, Code: withdrawal.NoticeOpen}
		}
		stored, err := storeConsent(ctx, q, given)
		if err != nil || stored {
			return err
		}
		now, err := q.GetRenewalDomain(ctx, consent.Domain, consent.Customer)
		if ok, err := found(err); !ok {
			return cmp.Or(err, error(&registrar.Error{Kind: registrar.KindNotFound, Code: registrar.NoSuchDomain}))
		}
		if now.AtTermEnd == string(renewal.Renew) { // by another request
			return nil
		}
		return &registrar.Error{Kind: registrar.KindConflict, Code: renewal.OfferChanged}
	})
}

// lockShownMethod locks the payment method, which must be the one that was shown.
func lockShownMethod(ctx context.Context, q *query.Queries, consent renewal.Consent) error {
	noMethod := &registrar.Error{Kind: registrar.KindConflict, Code: renewal.NoPaymentMethod}
	if err := rowOr(noMethod)(q.LockPaymentMethod(ctx, consent.Customer)); err != nil {
		return err
	}
	method, err := q.GetPaymentMethod(ctx, consent.Customer)
	if err == nil && method.Label != consent.Method {
		err = &registrar.Error{Kind: registrar.KindConflict, Code: renewal.OfferChanged}
	}
	return err
}

// storeConsent returns false if the domain renews already, or its term has changed.
func storeConsent(ctx context.Context, q *query.Queries, given renewal.GivenConsent) (bool, error) {
	consent := given.Consent
	chosen, err := changed(q.ChooseRenewal(ctx, query.ChooseRenewalParams{
		UpdatedAt: micros(given.AuditEvent.At), ID: consent.Domain, CustomerID: consent.Customer, PaidUntil: micros(given.PaidUntil),
	}))
	if err != nil || !chosen {
		return false, err
	}
	already := fmt.Errorf("store: give consent: domain %s has one that is in force", consent.Domain)
	if err := rowOr(already)(q.InsertRenewalConsent(ctx, query.InsertRenewalConsentParams{
		ID: consent.ID, DomainID: consent.Domain, CustomerID: consent.Customer, Name: consent.Name, Wording: consent.Wording,
		Years: int64(consent.Years), Gross: int64(consent.Gross), ChargeAt: micros(consent.ChargeAt), Method: consent.Method,
		Through: consent.Through, Address: consent.Address, GivenAt: micros(consent.GivenAt),
	})); err != nil {
		return false, err
	}
	if row := given.Announced; row != nil {
		if err := q.AnnounceConsentedRenewal(ctx, query.AnnounceConsentedRenewalParams{
			DomainID: row.Domain, TermEnd: micros(row.TermEnd), CustomerID: row.Customer, Name: row.Name, Tld: row.TLD, State: string(row.State),
			Years: int64(row.Years), Gross: int64(row.Gross), AnnouncedAt: micros(row.AnnouncedAt), ChargeAt: micros(row.ChargeAt),
		}); err != nil {
			return false, err
		}
	}
	return true, recordEffects(ctx, q, &given.AuditEvent, &given.Mail, given.At)
}

// ChangeTermEnd stores a choice that gives no consent.
func (db *DB) ChangeTermEnd(ctx context.Context, change renewal.TermEndChange) (bool, error) {
	return db.swap(ctx, func(q *query.Queries) error {
		// The domain's row is the lock that a charge takes, too.
		if err := swapped(q.ChooseTermEnd(ctx, query.ChooseTermEndParams{
			Choice: string(change.To), UpdatedAt: micros(change.Now), ID: change.Domain, CustomerID: change.Customer, Was: string(change.From),
		})); err != nil {
			return err
		}
		charging, err := q.CountChargingRenewals(ctx, change.Domain)
		switch {
		case err != nil:
			return err
		case charging > 0:
			return &registrar.Error{Kind: registrar.KindConflict, Code: renewal.InProgress}
		}
		if err := endConsent(ctx, q, change.Domain, change.Reason, change.Now); err != nil {
			return err
		}
		return recordEffects(ctx, q, &change.AuditEvent, change.Mail, change.At)
	})
}

// endConsent ends a domain's consent and stops its announced renewal. The caller has
// changed the domain's row.
func endConsent(ctx context.Context, q *query.Queries, domain string, reason renewal.EndReason, now time.Time) error {
	if err := q.EndRenewalConsent(ctx, query.EndRenewalConsentParams{EndedAt: micros(now), EndReason: string(reason), DomainID: domain}); err != nil {
		return err
	}
	return q.StopAnnouncedRenewals(ctx, micros(now), domain)
}

// endConsentsOf ends the automatic renewal of all of a customer's domains.
func endConsentsOf(ctx context.Context, q *query.Queries, customer string, reason renewal.EndReason, now time.Time) error {
	if err := q.ClearRenewalChoices(ctx, micros(now), customer); err != nil {
		return err
	}
	if err := q.EndRenewalConsentsOfCustomer(ctx, query.EndRenewalConsentsOfCustomerParams{
		EndedAt: micros(now), EndReason: string(reason), CustomerID: customer,
	}); err != nil {
		return err
	}
	return q.StopAnnouncedRenewalsOfCustomer(ctx, micros(now), customer)
}

// storeOrderedConsent turns automatic renewal on for a domain that has just become active,
// if its order was paid with a consent that no notice has voided and a payment method was saved.
func storeOrderedConsent(ctx context.Context, q *query.Queries, transition provision.Transition) error {
	item, now := transition.To, transition.To.UpdatedAt
	switch { // business time
	case transition.ActivateDomain != nil:
		now = transition.ActivateDomain.UpdatedAt
	case transition.Renewal != nil:
		now = transition.Renewal.At
	}
	row, err := q.GetOrderedConsent(ctx, item.Domain, item.ID)
	if ok, err := found(err); !ok {
		return err
	}
	// The consent is locked against the removal of the method, whose transaction does not
	// wait for this domain: it does not renew yet.
	if stored, err := changed(rowsOf(q.LockPaymentMethod(ctx, row.CustomerID))); err != nil || !stored {
		return err
	}
	givenAt := fromMicros(row.RenewalAt)
	domain := renewal.Domain{
		ID: item.Domain, Name: row.Name, TLD: row.Tld, Status: registrar.DomainActive, PaidUntil: fromMicros(row.PaidUntil), Method: row.Method,
	}
	// The domains of an order share one mail.
	orderID := strings.TrimPrefix(item.Payment, "order:")
	notice, revoked, err := findNotice(ctx, q, row.CustomerID, item.Domain, givenAt, func(n withdrawal.Notice) bool { return renewal.Revoked(n, givenAt) })
	if err != nil {
		return err
	}
	if revoked {
		mail := renewal.VoidedMail(row.CustomerID, notice, domain)
		mail.ID = "mail_voided_" + orderID
		mail.Join, mail.Delay = mail.ID, orderedConsentDelay
		return enqueueMail(ctx, q, mail, transition.At)
	}
	address, _ := netip.ParseAddr(row.RenewalAddress)
	given := renewal.Give(renewal.ConsentTerms{
		Actor:   registrar.Actor{Kind: registrar.ActorPerson, Customer: row.CustomerID, Through: row.RenewalSession, Address: address},
		Domain:  domain,
		Wording: row.RenewalWording, Years: int(row.RenewalYears), Gross: registrar.Cents(row.RenewalGross), RateBasisPoints: int(row.VatRate),
		GivenAt: givenAt, Now: now, At: transition.At,
	})
	given.Mail.ID = "mail_renewal_" + orderID // the evidence is one per domain
	given.Mail.Join, given.Mail.Delay = given.Mail.ID, orderedConsentDelay
	_, err = storeConsent(ctx, q, given)
	return err
}

// orderedConsentDelay is how long the confirmation of automatic renewal waits for the next
// domain of the order.
const orderedConsentDelay = 5 * time.Second
