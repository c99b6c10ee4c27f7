package store

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ provision.Store = (*DB)(nil)

func provisionItemOf(row query.ProvisionItem) provision.Item {
	return provision.Item{
		ID: row.ID, Customer: row.CustomerID, Name: row.Name, TLD: row.Tld, Kind: provision.Kind(row.Kind),
		Years: int(row.Years), Payment: row.Payment, State: provision.State(row.State), Failure: registrar.Code(row.Failure),
		RefundDue: row.RefundDue != 0, Automatic: row.Automatic != 0, Account: row.Account, Domain: row.DomainID, Handle: row.Handle, SealedCode: row.CodeSealed,
		Fee: moneyOf(row.Fee), PremiumFee: moneyOf(row.PremiumFee), RenewFrom: fromMicros(row.RenewFrom), Registrant: fromJSON[registrar.Registrant](row.Registrant), Holder: row.HolderID,
		RequestedAt: fromMicros(row.RequestedAt), DueAt: fromMicros(row.DueAt), Node: row.Node, Attempts: int(row.Attempts),
		CreatedAt: fromMicros(row.CreatedAt), UpdatedAt: fromMicros(row.UpdatedAt),
	}
}

// GetRegistrant returns the registrant of a customer's domains.
func (db *DB) GetRegistrant(ctx context.Context, customer string) (registrar.Registrant, bool, error) {
	return rowAs(registrantOfRow)(db.read().GetRegistrantWithEmail(ctx, customer))
}

func registrantOfRow(row query.GetRegistrantWithEmailRow) registrar.Registrant {
	return registrar.Registrant{
		Name: row.Name, Organisation: row.Organisation, Street: row.Street, PostalCode: row.PostalCode, City: row.City,
		State: row.State, Country: row.Country, Phone: row.Phone, Email: row.Email,
	}
}

// AddProvisionItem stores a paid item, or returns the existing one of the same payment.
func (db *DB) AddProvisionItem(ctx context.Context, item provision.Item, event registrar.AuditEvent) (provision.Item, error) {
	stored := item
	err := db.write(ctx, func(q *query.Queries) error {
		if err := rowOr(noSuchCustomer())(q.LockConfirmedCustomer(ctx, item.Customer)); err != nil {
			return err
		}
		known, ok, err := rowAs(provisionItemOf)(q.GetProvisionItemByPayment(ctx, item.Payment, item.Name))
		if err != nil {
			return err
		}
		if ok {
			stored = known
			return nil
		}
		// The name may also have another open item.
		if added, err := changed(insertProvisionItem(ctx, q, item)); err != nil || !added {
			return cmp.Or(err, nameHeld())
		}
		return insertAuditEvent(ctx, q, event)
	})
	return stored, err
}

// insertProvisionItem inserts no row if the name is held, or a renewed domain is not. The
// renewed domain is locked, so that its deletion does not begin meanwhile.
func insertProvisionItem(ctx context.Context, q *query.Queries, item provision.Item) (int64, error) {
	if item.Kind.ForHeldDomain() {
		if locked, err := found(ignoreRow(q.LockDomain(ctx, item.Domain))); err != nil || !locked {
			return 0, err
		}
		return q.InsertRenewalProvisionItem(ctx, query.InsertRenewalProvisionItemParams{
			ID: item.ID, Kind: string(item.Kind), Years: int64(item.Years), Payment: item.Payment, Account: item.Account, Automatic: boolToInt(item.Automatic),
			PremiumFee: item.PremiumFee.String(), Now: micros(item.CreatedAt), DueAt: micros(item.DueAt), DomainID: item.Domain, CustomerID: item.Customer,
		})
	}
	return q.InsertProvisionItem(ctx, query.InsertProvisionItemParams{
		ID: item.ID, CustomerID: item.Customer, Name: item.Name, Tld: item.TLD, Kind: string(item.Kind), Years: int64(item.Years),
		Payment: item.Payment, Account: item.Account, CodeSealed: item.SealedCode, Registrant: optionalJSON(item.Registrant), HolderID: item.Holder,
		PremiumFee: item.PremiumFee.String(), Now: micros(item.CreatedAt), DueAt: micros(item.DueAt),
	})
}

// ProvisionItemByID returns an item.
func (db *DB) ProvisionItemByID(ctx context.Context, id string) (provision.Item, bool, error) {
	return rowAs(provisionItemOf)(db.read().GetProvisionItem(ctx, id))
}

// ProvisionItemByPayment returns the item of a payment; nil if there is none.
func (db *DB) ProvisionItemByPayment(ctx context.Context, payment, name string) (*provision.Item, error) {
	item, ok, err := rowAs(provisionItemOf)(db.read().GetProvisionItemByPayment(ctx, payment, name))
	if !ok {
		return nil, err
	}
	return &item, nil
}

// ListProvisionItemsByName returns all items of a name, the oldest first.
func (db *DB) ListProvisionItemsByName(ctx context.Context, name string) ([]provision.Item, error) {
	return rowsAs(provisionItemOf)(db.read().ListProvisionItemsByName(ctx, name))
}

// ListTransfers returns a page of a customer's transfers that have ended as active or failed, or
// that are in progress if ended is empty, the newest first.
func (db *DB) ListTransfers(ctx context.Context, customer string, ended provision.State, limit, offset int) ([]provision.Item, error) {
	if ended != "" {
		return rowsAs(endedTransferOf)(db.read().ListEndedTransfers(ctx, query.ListEndedTransfersParams{CustomerID: customer, State: string(ended), MaxRows: int32(limit), SkipRows: int32(offset)}))
	}
	return listRunningTransfers(ctx, db.read(), customer, limit, offset)
}

func listRunningTransfers(ctx context.Context, q *query.Queries, customer string, limit, offset int) ([]provision.Item, error) {
	return rowsAs(provisionItemOf)(q.ListRunningTransfers(ctx, query.ListRunningTransfersParams{CustomerID: customer, MaxRows: int32(limit), SkipRows: int32(offset)}))
}

func endedTransferOf(row query.ListEndedTransfersRow) provision.Item {
	return provision.Item{
		Name: row.Name, TLD: row.Tld, Kind: provision.Transfer, Payment: row.Payment, State: provision.State(row.State), Failure: registrar.Code(row.Failure),
		Domain: row.DomainID, CreatedAt: fromMicros(row.CreatedAt), UpdatedAt: fromMicros(row.UpdatedAt),
	}
}

// CountTransfers counts a customer's transfers by state.
func (db *DB) CountTransfers(ctx context.Context, customer string) (map[provision.State]int, error) {
	rows, err := db.read().CountTransfers(ctx, customer)
	counts := make(map[provision.State]int, len(rows))
	for _, row := range rows {
		if row.Total > 0 {
			counts[provision.State(row.State)] += int(row.Total)
		}
	}
	return counts, err
}

// ListProvisionItemsAfter returns a page of all items, by id.
func (db *DB) ListProvisionItemsAfter(ctx context.Context, id string, limit int) ([]provision.Item, error) {
	return rowsAs(provisionItemOf)(db.read().ListProvisionItems(ctx, id, int32(limit)))
}

// ListDueProvisionItems returns due items of automatic renewals, or the others, the longest
// overdue first.
func (db *DB) ListDueProvisionItems(ctx context.Context, automatic bool, now time.Time, limit int) ([]provision.Item, error) {
	return rowsAs(provisionItemOf)(db.read().ListDueProvisionItems(ctx, query.ListDueProvisionItemsParams{
		Automatic: boolToInt(automatic), Now: micros(now), MaxRows: int32(limit),
	}))
}

// UpdateProvisionItem stores a transition of an item with its effect on the domain.
func (db *DB) UpdateProvisionItem(ctx context.Context, transition provision.Transition) (bool, error) {
	transition.To.SealedCode = db.reseal(registrar.AuthCodePurpose(transition.To.Name), transition.To.SealedCode)
	return db.swap(ctx, func(q *query.Queries) error {
		item := transition.To
		customer, err := q.UpdateProvisionItem(ctx, query.UpdateProvisionItemParams{
			State: string(item.State), Failure: string(item.Failure), RefundDue: boolToInt(item.RefundDue), DomainID: item.Domain,
			Handle: item.Handle, CodeSealed: item.SealedCode, Registrant: optionalJSON(item.Registrant), RenewFrom: micros(item.RenewFrom), Fee: item.Fee.String(),
			RequestedAt: micros(item.RequestedAt), DueAt: micros(item.DueAt), Node: item.Node,
			Attempts: int64(item.Attempts), UpdatedAt: micros(item.UpdatedAt),
			ID: item.ID, WasState: string(transition.From.State), WasDue: micros(transition.From.DueAt),
		})
		if ok, err := found(err); !ok {
			return cmp.Or(err, errConflict)
		}
		if transition.From.State != item.State && transition.From.Attempts > 1 { // what failed before has succeeded
			if err := q.DeleteJobError(ctx, jobErrorKey(admin.JobItem, item.ID)); err != nil {
				return err
			}
		}
		if err := updateItemDomain(ctx, q, transition); err != nil {
			return err
		}
		if transition.Change != "" {
			if err := insertFirstChange(ctx, q, transition, customer); err != nil {
				return err
			}
		}
		if renewal := transition.Renewal; renewal != nil {
			if err := endTermPaid(ctx, q, item, *renewal, transition.At); err != nil {
				return err
			}
			if err := q.ExpireOrdersOfPaidTerms(ctx, query.ExpireOrdersOfPaidTermsParams{
				Now: micros(renewal.At), Clock: micros(transition.At), Name: item.Name, DomainID: renewal.Domain,
			}); err != nil {
				return err
			}
		}
		renews, refunded, err := finishOrderItem(ctx, q, transition)
		if err == nil && renews {
			err = storeOrderedConsent(ctx, q, transition)
		}
		if err != nil {
			return err
		}
		if transition.AuditEvent != nil {
			event := *transition.AuditEvent
			event.Customer = customer // a guest order may have been claimed since the item was read
			if err := insertAuditEvent(ctx, q, event); err != nil {
				return err
			}
		}
		if transition.Charge == nil {
			return nil
		}
		// Last, because other items wait for the rows of the sums.
		if err := insertRegistryCharge(ctx, q, *transition.Charge); err != nil || !refunded {
			return err
		}
		return creditItem(ctx, q, item.ID)
	})
}

// moneyOf reads an amount that this program has written.
func moneyOf(text string) registrar.Money {
	money, err := registrar.ParseMoney(text)
	if err != nil {
		return registrar.Money{}
	}
	return money
}

// insertFirstChange adds the change that sets the contacts of an activated domain, and then locks
// it, due at once. The domain was pending until this transaction, so it has no other change.
func insertFirstChange(ctx context.Context, q *query.Queries, transition provision.Transition, customer string) error {
	item, registrant := transition.To, transition.From.Registrant
	change := domainchange.Change{
		ID: transition.Change, Customer: customer, Domain: item.Domain, Account: item.Account,
		Kind: domainchange.Lock, State: domainchange.StatusOpen, Actor: registrar.Actor{Kind: registrar.ActorSystem, Through: item.ID},
		DueAt: transition.At, CreatedAt: transition.ActivateDomain.UpdatedAt,
	}
	if transition.Contact != "" {
		change.Kind, change.Handle = domainchange.UpdateRegistrant, transition.Contact
		change.Desired = domainchange.DesiredState{Holder: item.Holder, Reason: holder.ReasonTransfer, ThenLock: transition.Lock}
		if registrant != (registrar.Registrant{}) { // an item of an earlier version uses the account's
			change.Desired.Registrant = &registrant
		}
	}
	_, err := insertDomainChange(ctx, q, change)
	return err
}

func updateItemDomain(ctx context.Context, q *query.Queries, transition provision.Transition) error {
	switch {
	case transition.AddDomain != nil:
		domain := transition.AddDomain
		return rowOr(nameHeld())(q.InsertDomain(ctx, query.InsertDomainParams{
			ID: domain.ID, CustomerID: domain.Customer, Name: domain.Name, Tld: domain.TLD, Status: string(domain.Status), Account: domain.Account,
			CreatedAt: micros(domain.UpdatedAt), UpdatedAt: micros(domain.UpdatedAt),
		}))
	case transition.ActivateDomain != nil:
		domain := transition.ActivateDomain
		notPending := fmt.Errorf("store: update provision item %s: domain %s is not pending", transition.To.ID, domain.ID)
		return rowOr(notPending)(q.ActivateDomain(ctx, query.ActivateDomainParams{
			Status: string(domain.Status), PaidUntil: micros(domain.PaidUntil), Handle: domain.Handle, CodeSealed: transition.To.SealedCode,
			RegistryExpires: micros(domain.RegistryExpires), SyncDue: micros(domain.SyncDue), UpdatedAt: micros(domain.UpdatedAt), ID: domain.ID,
			HolderID: transition.From.Holder, Registrant: optionalJSON(transition.From.Registrant), EmailKey: emailKey(transition.From.Registrant.Email),
			Premium: boolToInt(!transition.To.PremiumFee.IsZero()),
		}))
	case transition.Renewal != nil:
		renewal := transition.Renewal
		termChanged := fmt.Errorf("store: update provision item %s: the term of domain %s has changed", transition.To.ID, renewal.Domain)
		if err := rowOr(termChanged)(q.RenewDomain(ctx, query.RenewDomainParams{
			PaidUntil: micros(renewal.Until), RegistryExpires: micros(renewal.RegistryExpires), SyncDue: micros(renewal.SyncDue),
			UpdatedAt: micros(renewal.At), ID: renewal.Domain, WasPaidUntil: micros(renewal.From),
			Premium: boolToInt(!transition.To.PremiumFee.IsZero()),
		})); err != nil {
			return err
		}
		if renewal.Restored || renewal.Released {
			hold := ""
			if renewal.Released {
				hold = " clientHold "
			}
			if err := q.ReleaseRegistryStatus(ctx, hold, renewal.Domain); err != nil {
				return err
			}
		}
		paidBy, _ := order.OrderOfPayment(transition.To.Payment)
		return q.EndRenewalsOfTerm(ctx, query.EndRenewalsOfTermParams{
			OrderID: paidBy, Now: micros(renewal.At), DomainID: renewal.Domain, TermEnd: micros(renewal.From),
		})
	case transition.DropDomain:
		return q.DeletePendingDomain(ctx, transition.To.Domain)
	default:
		return nil
	}
}
