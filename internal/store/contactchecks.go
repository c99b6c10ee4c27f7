package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/contactcheck"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

var _ contactcheck.Store = (*DB)(nil)

// linkContact is the kind of links that confirm a registrant's address.
const linkContact = account.LinkKind(registrar.MailContactCheck)

// maxAddressChecks bounds the checks of one address that are read.
const maxAddressChecks = 100

// maxHeldDomains bounds the domains of a check that are counted for a mail.
const maxHeldDomains = 10_000

func contactCheckOf(row query.ContactCheck) contactcheck.Check {
	return contactcheck.Check{
		ID: row.ID, Customer: row.CustomerID, Email: row.Email, State: contactcheck.State(row.State), Notices: int(row.Notices),
		OpenedAt: fromMicros(row.OpenedAt), DueAt: fromMicros(row.DueAt), StepAt: fromMicros(row.StepAt), WaitsFor: registrar.Code(row.WaitsFor),
		ResentAt: fromMicros(row.ResentAt), Language: row.Language, SuspendedAt: fromMicros(row.SuspendedAt), EndedAt: fromMicros(row.EndedAt),
		ConfirmedBy: contactcheck.Means(row.ConfirmedBy), ConfirmedFrom: row.ConfirmedFrom, Note: row.Note,
	}
}

// ListUncheckedDomains returns domains whose contact check is not opened yet.
func (db *DB) ListUncheckedDomains(ctx context.Context, guestsSince time.Time, after string, limit int) ([]contactcheck.Domain, error) {
	return rowsAs(func(row query.ListUncheckedDomainsRow) contactcheck.Domain {
		return contactcheck.Domain{
			ID: row.ID, Customer: row.CustomerID, Name: row.Name, TLD: row.Tld, Registrant: row.Registrant, Email: cmp.Or(fromJSON[registrar.Registrant](row.Registrant).Email, row.Email),
			Since: fromMicros(row.RegistrantSince), Hold: row.ContactHold,
		}
	})(db.read().ListUncheckedDomains(ctx, query.ListUncheckedDomainsParams{GuestsSince: micros(guestsSince), AfterID: after, MaxRows: int32(limit)}))
}

// OpenContactCheck gives a domain the contact check of its address. The account's row is the lock
// for the checks of its addresses.
func (db *DB) OpenContactCheck(ctx context.Context, domain contactcheck.Domain, opening contactcheck.Opening) (opened bool, err error) {
	stored, err := db.swap(ctx, func(q *query.Queries) error {
		if err := q.LockCustomer(ctx, domain.Customer); err != nil {
			return err
		}
		joined, err := joinableCheck(ctx, q, domain, opening.Check)
		if err != nil {
			return err
		}
		id := joined.ID
		if err := swapped(q.SetContactCheck(ctx, query.SetContactCheckParams{
			ContactCheck: id, ID: domain.ID, CustomerID: domain.Customer, Registrant: domain.Registrant,
		})); err != nil || id == "" {
			return err
		}
		if id != opening.Check.ID {
			return nameInMail(ctx, q, joined, domain.Name, opening)
		}
		check := opening.Check
		if err := q.InsertContactCheck(ctx, query.InsertContactCheckParams{
			ID: check.ID, CustomerID: check.Customer, Email: check.Email, EmailKey: emailKey(check.Email), State: string(check.State),
			Notices: int64(check.Notices), OpenedAt: micros(check.OpenedAt), DueAt: micros(check.DueAt), StepAt: micros(check.StepAt),
		}); err != nil {
			return err
		}
		opened = true
		return recordEffects(ctx, q, &opening.Event, &opening.Mail, opening.At)
	})
	return opened && stored, err
}

// joinableCheck returns the check that a domain waits for: a zero one if its address is confirmed, and
// otherwise one that was opened lately, or the new one.
func joinableCheck(ctx context.Context, q *query.Queries, domain contactcheck.Domain, opening contactcheck.Check) (none contactcheck.Check, err error) {
	confirmed, err := q.IsConfirmedAddress(ctx, domain.Customer, emailKey(domain.Email))
	if err != nil || confirmed {
		return none, err
	}
	checks, err := rowsAs(contactCheckOf)(q.ListChecksOfAddress(ctx, query.ListChecksOfAddressParams{
		CustomerID: domain.Customer, EmailKey: emailKey(domain.Email), Limit: maxAddressChecks,
	}))
	if err != nil {
		return none, err
	}
	joined := opening
	for _, check := range checks {
		switch {
		case check.State == contactcheck.Confirmed:
			return none, nil
		case check.State == contactcheck.Pending && check.Notices == opening.Notices:
			joined = check
		}
	}
	return joined, nil
}

// AwaitsConfirmation reports whether an address is not confirmed, so that a registrant who has it is asked.
func (db *DB) AwaitsConfirmation(ctx context.Context, customer, email string) (bool, error) {
	asked := contactcheck.Check{ID: contactcheck.IDPrefix}
	check, err := joinableCheck(ctx, db.read(), contactcheck.Domain{Customer: customer, Email: email}, asked)
	return check.ID != "", err
}

// nameInMail names another domain in a queued mail of a check, or in another mail if all are sent.
func nameInMail(ctx context.Context, q *query.Queries, check contactcheck.Check, name string, opening contactcheck.Opening) error {
	// A mail that waits because of the one before it is not sent earlier.
	delay := max(opening.Mail.Delay, check.ResentAt.Sub(opening.Event.At))
	for _, id := range []string{contactcheck.FirstMailID(check.ID), contactcheck.AgainMailID(check)} {
		row, err := q.LockQueuedMail(ctx, id, string(opening.Mail.Kind))
		if ok, err := found(err); err != nil {
			return err
		} else if !ok {
			continue
		}
		var queued map[string]string
		if err := json.Unmarshal([]byte(row), &queued); err != nil {
			return fmt.Errorf("store: decode data of mail %s: %w", id, err)
		}
		_, err = q.ReplaceQueuedMail(ctx, query.ReplaceQueuedMailParams{
			ID: id, Kind: string(opening.Mail.Kind), Data: jsonText(contactcheck.AddToMail(queued, opening.Mail.Data, name)), Due: micros(opening.At.Add(delay)),
		})
		return err
	}
	domains, err := rowsAs(domainOfCheck)(q.ListDomainsOfCheck(ctx, query.ListDomainsOfCheckParams{ContactCheck: check.ID, MaxRows: maxHeldDomains}))
	if err != nil {
		return err
	}
	next, mail := opening.Again(check, domains)
	return updateContactCheck(ctx, q, contactcheck.Transition{From: check, To: next, Mails: []registrar.Mail{mail}, At: opening.At})
}

// ListDueChecks returns contact checks whose step is due.
func (db *DB) ListDueChecks(ctx context.Context, now time.Time, stopped bool, limit int) ([]contactcheck.Check, error) {
	return rowsAs(contactCheckOf)(db.read().ListDueContactChecks(ctx, query.ListDueContactChecksParams{
		Now: micros(now), Stopped: boolToInt(stopped), LastNotice: contactcheck.LastNotice, MaxRows: int32(limit),
	}))
}

// ListPlannedSuspensions returns the domains that would be suspended now.
func (db *DB) ListPlannedSuspensions(ctx context.Context, now time.Time, limit int) ([]contactcheck.Planned, error) {
	return rowsAs(func(row query.ListPlannedSuspensionsRow) contactcheck.Planned {
		return contactcheck.Planned{
			Domain:  contactcheck.Domain{ID: row.ID, Customer: row.CustomerID, Name: row.Name, TLD: row.Tld},
			Account: row.Account, DueAt: fromMicros(row.DueAt),
		}
	})(db.read().ListPlannedSuspensions(ctx, query.ListPlannedSuspensionsParams{
		Now: micros(now), LastNotice: contactcheck.LastNotice, MaxRows: int32(limit),
	}))
}

// GetContactCheck returns a contact check of any customer.
func (db *DB) GetContactCheck(ctx context.Context, id string) (contactcheck.Check, bool, error) {
	if sqldb.IsUnstorable(id) {
		return contactcheck.Check{}, false, nil
	}
	return rowAs(contactCheckOf)(db.read().GetContactCheck(ctx, id))
}

// IsConfirmedAddress reports whether an address is the confirmed one of an account.
func (db *DB) IsConfirmedAddress(ctx context.Context, customer, email string) (bool, error) {
	return db.read().IsConfirmedAddress(ctx, customer, emailKey(email))
}

func domainOfCheck(row query.ListDomainsOfCheckRow) contactcheck.Domain {
	return contactcheck.Domain{
		ID: row.ID, Customer: row.CustomerID, Name: row.Name, TLD: row.Tld, Hold: row.ContactHold, Held: strings.Contains(row.RegistryStatus, "Hold"),
	}
}

// ListDomainsOfCheck returns domains that wait for a contact check.
func (db *DB) ListDomainsOfCheck(ctx context.Context, check, after string, limit int) ([]contactcheck.Domain, error) {
	return rowsAs(domainOfCheck)(db.read().ListDomainsOfCheck(ctx, query.ListDomainsOfCheckParams{ContactCheck: check, AfterID: after, MaxRows: int32(limit)}))
}

// CountDomainsOfCheck counts the domains that wait for a contact check.
func (db *DB) CountDomainsOfCheck(ctx context.Context, check string) (int, error) {
	domains, err := db.read().CountDomainsOfCheck(ctx, check)
	return int(domains), err
}

func updateContactCheck(ctx context.Context, q *query.Queries, transition contactcheck.Transition) error {
	from, to := transition.From, transition.To
	if err := swapped(q.UpdateContactCheck(ctx, query.UpdateContactCheckParams{
		State: string(to.State), Notices: int64(to.Notices), DueAt: micros(to.DueAt), StepAt: micros(to.StepAt), WaitsFor: string(to.WaitsFor),
		ResentAt: micros(to.ResentAt), SuspendedAt: micros(to.SuspendedAt), EndedAt: micros(to.EndedAt),
		ID: from.ID, WasState: string(from.State), WasNotices: int64(from.Notices), WasStep: micros(from.StepAt), WasResent: micros(from.ResentAt),
	})); err != nil {
		return err
	}
	if err := recordEffects(ctx, q, transition.Event, nil, transition.At); err != nil {
		return err
	}
	return queueMails(ctx, q, transition.Mails, transition.At)
}

// UpdateContactCheck stores a transition of a contact check.
func (db *DB) UpdateContactCheck(ctx context.Context, transition contactcheck.Transition) (bool, error) {
	return db.swap(ctx, func(q *query.Queries) error { return updateContactCheck(ctx, q, transition) })
}

// BeginSuspension stores the intent to suspend the domains of a contact check.
func (db *DB) BeginSuspension(ctx context.Context, suspension contactcheck.Suspension) (contactcheck.Verdict, error) {
	verdict := contactcheck.Begun
	check := suspension.From
	updated, err := db.swap(ctx, func(q *query.Queries) error {
		refuse := func(reason contactcheck.Verdict) error {
			verdict = reason
			return errConflict // nothing is stored
		}
		if suspension.Notices > 0 {
			notices, err := q.CountContactNotices(ctx, query.CountContactNoticesParams{ID: check.ID, CustomerID: check.Customer, Email: check.Email})
			switch {
			case err != nil:
				return err
			case notices.Accepted < int64(suspension.Notices) && notices.Queued > 0:
				return refuse(contactcheck.MailQueued)
			case notices.Accepted < int64(suspension.Notices):
				return refuse(contactcheck.Unaccepted)
			}
			counted, err := q.CountBrakeActions(ctx, query.CountBrakeActionsParams{
				Day: suspension.Day, Added: int64(suspension.Domains), DayLimit: int64(suspension.DayLimit),
			})
			if err != nil {
				return err
			}
			if counted == 0 {
				return refuse(contactcheck.Stopped)
			}
		}
		if err := updateContactCheck(ctx, q, suspension.Transition); err != nil {
			return err
		}
		return q.SetContactHolds(ctx, check.ID)
	})
	if err == nil && !updated && verdict == contactcheck.Begun {
		verdict = contactcheck.Changed
	}
	return verdict, err
}

// ConfirmAddress confirms all open contact checks of an address.
func (db *DB) ConfirmAddress(ctx context.Context, confirmation contactcheck.Confirmation) (confirmed int, err error) {
	err = db.write(ctx, func(q *query.Queries) (err error) {
		confirmed, err = confirmAddress(ctx, q, confirmation)
		return err
	})
	return confirmed, err
}

func confirmAddress(ctx context.Context, q *query.Queries, confirmation contactcheck.Confirmation) (int, error) {
	rows, err := q.ConfirmAddress(ctx, query.ConfirmAddressParams{
		Now: micros(confirmation.Now), ConfirmedBy: string(confirmation.By), ConfirmedFrom: confirmation.From, Note: confirmation.Note,
		CustomerID: confirmation.Customer, EmailKey: emailKey(confirmation.Email),
	})
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	var offline []string // names
	for _, row := range rows {
		if row.SuspendedAt > 0 {
			held, err := namesOfHeld(ctx, q, row.ID)
			if err != nil {
				return 0, err
			}
			offline = append(offline, held...)
		}
		if err := q.EndContactCheck(ctx, row.ID); err != nil {
			return 0, err
		}
	}
	var mail *registrar.Mail
	if len(offline) > 0 {
		data := map[string]string{}
		maps.Copy(data, confirmation.Mail.Data)
		registrar.NameDomains(data, offline...)
		mail = &confirmation.Mail
		mail.Data = data
	}
	return len(rows), recordEffects(ctx, q, &confirmation.Event, mail, confirmation.At)
}

// namesOfHeld returns the names of the domains of a check that are offline.
func namesOfHeld(ctx context.Context, q *query.Queries, check string) (names []string, err error) {
	domains, err := rowsAs(domainOfCheck)(q.ListDomainsOfCheck(ctx, query.ListDomainsOfCheckParams{ContactCheck: check, MaxRows: maxHeldDomains}))
	for _, domain := range domains {
		if domain.Held {
			names = append(names, domain.Name)
		}
	}
	return names, err
}

// claimedAddress confirms the address of a guest who has used the link from a mail to it.
func claimedAddress(link account.Link, to string, event registrar.AuditEvent) contactcheck.Confirmation {
	event.Action, event.Object, event.Customer = contactcheck.ActionConfirmed, link.Email, to
	return contactcheck.Confirmation{
		Customer: to, Email: link.Email, By: contactcheck.ByClaim, From: addressText(event.Actor.Address), Event: event, Now: event.At, At: event.At,
		Mail: registrar.Mail{Kind: registrar.MailContactConfirmed, Customer: to, Data: map[string]string{"email": link.Email}},
	}
}

// LinkedAddress returns the account and the address of a link that confirms the address.
func (db *DB) LinkedAddress(ctx context.Context, hash registrar.SecretHash, now time.Time) (customer, email string, ok bool, err error) {
	link, ok, err := accounts{db.read()}.GetLink(ctx, hash, linkContact, now)
	return link.Customer, link.Email, ok, err
}

// ListChecksOfAddress returns the contact checks of an address, the newest first.
func (db *DB) ListChecksOfAddress(ctx context.Context, customer, email string, limit int) ([]contactcheck.Check, error) {
	return rowsAs(contactCheckOf)(db.read().ListChecksOfAddress(ctx, query.ListChecksOfAddressParams{
		CustomerID: customer, EmailKey: emailKey(email), Limit: int32(limit),
	}))
}

// ListDomainsToRelease returns suspended domains that wait for no contact check.
func (db *DB) ListDomainsToRelease(ctx context.Context, after string, limit int) ([]contactcheck.Domain, error) {
	return rowsAs(func(row query.ListDomainsToReleaseRow) contactcheck.Domain {
		return contactcheck.Domain{ID: row.ID, Customer: row.CustomerID, Name: row.Name, Hold: row.ContactHold}
	})(db.read().ListDomainsToRelease(ctx, after, int32(limit)))
}

// ClearContactHold stores that a domain is not suspended any more.
func (db *DB) ClearContactHold(ctx context.Context, domain, check string) error {
	return db.single().ClearContactHold(ctx, domain, check)
}

// IsDomainSuspended reports whether a domain is suspended for an unconfirmed address, which may be
// ending, or kept out of the DNS by an operator's lock.
func (db *DB) IsDomainSuspended(ctx context.Context, domain string) (bool, error) {
	if suspended, err := db.read().IsDomainSuspended(ctx, domain); err != nil || suspended {
		return suspended, err
	}
	return db.read().IsHeldByLock(ctx, domain, "")
}

// GetContactCheckOfDomain returns the contact check that a customer's domain waits for.
func (db *DB) GetContactCheckOfDomain(ctx context.Context, customer, domain string) (contactcheck.Check, bool, error) {
	return rowAs(contactCheckOf)(db.read().GetContactCheckOfDomain(ctx, domain, customer))
}

// ListCustomerContactChecks returns a customer's open contact checks.
func (db *DB) ListCustomerContactChecks(ctx context.Context, customer string, limit int) ([]contactcheck.Check, error) {
	return rowsAs(func(row query.ListCustomerContactChecksRow) contactcheck.Check {
		check := contactCheckOf(row.ContactCheck)
		check.Held = int(row.Held)
		return check
	})(db.read().ListCustomerContactChecks(ctx, customer, int32(limit)))
}

// registrationDelay is more than passes between a registration and its contact check.
const registrationDelay = 2 * contactcheck.GuestDelay

// ListOpenContactChecks returns all open contact checks with the number of their domains, also by
// cause.
func (db *DB) ListOpenContactChecks(ctx context.Context, limit int) ([]contactcheck.Check, error) {
	return rowsAs(func(row query.ListOpenContactChecksRow) contactcheck.Check {
		check := contactCheckOf(row.ContactCheck)
		check.Domains, check.Held = int(row.Domains), int(row.Held)
		for _, one := range []contactcheck.CauseCount{
			{Cause: contactcheck.CauseRegistration, Domains: int(row.Domains - row.Changed - row.Received)},
			{Cause: contactcheck.CauseTransfer, Domains: int(row.Received)},
			{Cause: contactcheck.CauseChange, Domains: int(row.Changed)},
		} {
			if one.Domains > 0 {
				check.Causes = append(check.Causes, one)
			}
		}
		return check
	})(db.read().ListOpenContactChecks(ctx, registrationDelay.Microseconds(), int32(limit)))
}

// IsHeldOtherwise reports whether a domain has to stay on hold although the hold for a dispute, a
// contact check or an operator's lock ends: for another one of them.
func (db *DB) IsHeldOtherwise(ctx context.Context, domain, reference string) (bool, error) {
	if !strings.HasPrefix(reference, contactcheck.IDPrefix) {
		if suspended, err := db.read().IsDomainSuspended(ctx, domain); err != nil || suspended {
			return suspended, err
		}
	}
	if locked, err := db.read().IsHeldByLock(ctx, domain, reference); err != nil || locked {
		return locked, err
	}
	disputes, err := db.read().ListDomainDisputes(ctx, domain)
	return slices.ContainsFunc(disputes, func(row query.Dispute) bool {
		return row.ID != reference && (row.LockState == string(dispute.LockDenying) || row.LockState == string(dispute.LockDenied))
	}), err
}
