package store

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ lifecycle.Store = (*DB)(nil)

func termOf(row query.TermEnd) lifecycle.Term {
	return lifecycle.Term{
		Domain: row.DomainID, Customer: row.CustomerID, Name: row.Name, TLD: row.Tld, Account: row.Account, End: fromMicros(row.TermEnd),
		State: lifecycle.State(row.State), StepAt: fromMicros(row.StepAt), DueAt: fromMicros(row.DueAt), Node: row.Node,
		Attempts: int(row.Attempts), WaitsFor: registrar.Code(row.WaitsFor), HeldAt: fromMicros(row.HeldAt),
		DeletedAt: fromMicros(row.DeletedAt), EndedAt: fromMicros(row.EndedAt), UpdatedAt: fromMicros(row.UpdatedAt),
		Cause: registrar.Code(row.Cause),
	}
}

// ListDueTerms returns unpaid terms whose step is due, the longest overdue first.
func (db *DB) ListDueTerms(ctx context.Context, now, clock time.Time, stopped bool, limit int) ([]lifecycle.Term, error) {
	return rowsAs(termOf)(db.read().ListDueTermEnds(ctx, query.ListDueTermEndsParams{
		Now: micros(now), Clock: micros(clock), Stopped: boolToInt(stopped), MaxRows: int32(limit),
	}))
}

// ListPlannedTerms returns unpaid and held terms whose step is due and that don't wait.
func (db *DB) ListPlannedTerms(ctx context.Context, now time.Time, limit int) ([]lifecycle.Term, error) {
	return rowsAs(termOf)(db.read().ListPlannedTermEnds(ctx, micros(now), int32(limit)))
}

// ListWaitingTerms returns unpaid terms that wait for an operator.
func (db *DB) ListWaitingTerms(ctx context.Context, limit int) ([]lifecycle.Term, error) {
	return rowsAs(termOf)(db.read().ListWaitingTermEnds(ctx, int32(limit)))
}

// ListCustomerTerms returns unpaid terms of a customer, ended ones included.
func (db *DB) ListCustomerTerms(ctx context.Context, customer string, limit int) ([]lifecycle.Term, error) {
	return rowsAs(termOf)(db.read().ListCustomerTermEnds(ctx, customer, int32(limit)))
}

// ListFormerDomains returns a customer's domains that were deleted for good or handed over to their
// registry. The rows of others that left are still there.
func (db *DB) ListFormerDomains(ctx context.Context, customer string, limit int) (former []portfolio.Former, err error) {
	terms, err := db.ListCustomerTerms(ctx, customer, limit)
	for _, term := range terms {
		if term.State != lifecycle.Closed || term.DeletedAt.IsZero() {
			continue
		}
		former = append(former, portfolio.Former{
			ID: term.Domain, Name: term.Name, TLD: term.TLD, PaidUntil: term.End, EndedAt: term.EndedAt,
			HandedOver: lifecycle.NewEndedDomain(term.TLD, term.EndedAt).HandedOver, Refunded: term.Cause == lifecycle.CauseRefund,
		})
	}
	return former, err
}

// ListOverdueDomains returns expired domains whose term had ended before the first run.
func (db *DB) ListOverdueDomains(ctx context.Context, startedAt time.Time, limit int) ([]lifecycle.Domain, error) {
	return rowsAs(func(row query.ListOverdueDomainsRow) lifecycle.Domain {
		return lifecycle.Domain{ID: row.ID, Customer: row.CustomerID, Name: row.Name, TLD: row.Tld, PaidUntil: fromMicros(row.PaidUntil)}
	})(db.read().ListOverdueDomains(ctx, micros(startedAt), int32(limit)))
}

// GetTerm returns an unpaid term.
func (db *DB) GetTerm(ctx context.Context, domain string, end time.Time) (lifecycle.Term, bool, error) {
	return rowAs(termOf)(db.read().GetTermEnd(ctx, domain, micros(end)))
}

// IsLocked reports whether a domain has a lock in force.
func (db *DB) IsLocked(ctx context.Context, domain string) (bool, error) {
	locks, err := db.read().CountDomainLocks(ctx, domain)
	return locks > 0, err
}

// GetOpenTerm returns the unpaid term of a domain that has not ended.
func (db *DB) GetOpenTerm(ctx context.Context, domain string) (lifecycle.Term, bool, error) {
	return rowAs(termOf)(db.read().GetOpenTermEnd(ctx, domain))
}

// GetDomainHandle returns the registrant's contact of a domain; empty if there is none.
func (db *DB) GetDomainHandle(ctx context.Context, domain string) (string, error) {
	handle, _, err := foundValue(db.read().GetDomainHandle(ctx, domain))
	return handle, err
}

// AdoptTerm stores an unpaid term of an expired domain without one.
func (db *DB) AdoptTerm(ctx context.Context, domain string, stepAt, at time.Time, event registrar.AuditEvent) (bool, error) {
	return db.swap(ctx, func(q *query.Queries) error {
		if err := swapped(q.InsertOverdueTermEnd(ctx, query.InsertOverdueTermEndParams{
			StepAt: micros(stepAt), DueAt: micros(at), UpdatedAt: micros(stepAt), DomainID: domain,
		})); err != nil {
			return err
		}
		return insertAuditEvent(ctx, q, event)
	})
}

func updateTermEnd(ctx context.Context, q *query.Queries, from, to lifecycle.Term) error {
	return swapped(q.UpdateTermEnd(ctx, query.UpdateTermEndParams{
		State: string(to.State), StepAt: micros(to.StepAt), DueAt: micros(to.DueAt), Node: to.Node, Attempts: int64(to.Attempts),
		WaitsFor: string(to.WaitsFor), HeldAt: micros(to.HeldAt), DeletedAt: micros(to.DeletedAt), EndedAt: micros(to.EndedAt),
		UpdatedAt: micros(to.UpdatedAt), DomainID: from.Domain, TermEnd: micros(from.End),
		WasState: string(from.State), WasDue: micros(from.DueAt),
	}))
}

// UpdateTerm stores a transition of an unpaid term with its effect on the domain. The
// domain is locked first, as by a renewal.
func (db *DB) UpdateTerm(ctx context.Context, transition lifecycle.TermTransition) (bool, error) {
	return db.swap(ctx, func(q *query.Queries) error {
		if transition.Close || transition.UnlessPaid {
			if err := requireUnpaid(ctx, q, transition.From); err != nil {
				return err
			}
		}
		if status := transition.DomainStatus; status != "" {
			syncDue := transition.At
			if status == registrar.DomainTransferredOut {
				syncDue = time.Time{}
				if err := endConsent(ctx, q, transition.From.Domain, renewal.EndTransferred, transition.Now); err != nil {
					return err
				}
			}
			if err := q.SetDomainStatus(ctx, query.SetDomainStatusParams{
				Status: string(status), UpdatedAt: micros(transition.Now), SyncDue: micros(syncDue), ID: transition.From.Domain,
			}); err != nil {
				return err
			}
		}
		if transition.DomainStatus == registrar.DomainTransferredOut {
			from := transition.From
			if err := followSyncedTransfer(ctx, q, provision.Domain{ID: from.Domain, Status: transition.DomainStatus, SyncedAt: transition.Now}, from.Account); err != nil {
				return err
			}
		}
		if transition.Close {
			if err := closeDomain(ctx, q, transition.From.Domain, transition.Now); err != nil {
				return err
			}
		}
		if err := updateTermEnd(ctx, q, transition.From, transition.To); err != nil {
			return err
		}
		if err := recordEffects(ctx, q, transition.AuditEvent, transition.Mail, transition.At); err != nil {
			return err
		}
		if err := recordEffects(ctx, q, nil, transition.HolderMail, transition.At); err != nil || transition.ReturnedFee == nil {
			return err
		}
		return insertReturnedFee(ctx, q, *transition.ReturnedFee)
	})
}

// requireUnpaid locks a domain and returns errConflict if it is being paid or renewed.
func requireUnpaid(ctx context.Context, q *query.Queries, term lifecycle.Term) error {
	if _, err := found(ignoreRow(q.LockDomain(ctx, term.Domain))); err != nil {
		return err
	}
	obstacles, err := q.CountTermEndObstacles(ctx, term.Name, term.Domain)
	if err == nil && obstacles.Items+obstacles.Payments > 0 {
		err = errConflict
	}
	return err
}

// closeDomain removes a domain and what refers to it. Its orders, changes, notices and
// audit events stay.
func closeDomain(ctx context.Context, q *query.Queries, domain string, now time.Time) error {
	if err := q.LiftLocksOfDomain(ctx, micros(now), domain); err != nil {
		return err
	}
	if err := endConsent(ctx, q, domain, renewal.EndClosed, now); err != nil {
		return err
	}
	return inOrder(ctx, domain, q.DeleteRegistryRecord, q.DeleteDomain)
}

func ignoreRow[T any](_ T, err error) error { return err }

// BeginAction stores the intent of a hold or deletion.
func (db *DB) BeginAction(ctx context.Context, begin lifecycle.BeginAction) (lifecycle.Verdict, error) {
	verdict := lifecycle.Begun
	updated, err := db.swap(ctx, func(q *query.Queries) (err error) {
		if verdict, err = actionVerdict(ctx, q, begin); err != nil {
			return err
		}
		if verdict != lifecycle.Begun {
			return errConflict // nothing is stored
		}
		if begin.Counted {
			counted, err := q.CountBrakeActions(ctx, query.CountBrakeActionsParams{Day: begin.Day, Added: 1, DayLimit: int64(begin.DayLimit)})
			if err != nil {
				return err
			}
			if counted == 0 {
				verdict = lifecycle.Stopped
				return errConflict
			}
		}
		if err := updateTermEnd(ctx, q, begin.From, begin.To); err != nil {
			return err
		}
		return recordEffects(ctx, q, begin.AuditEvent, nil, time.Time{})
	})
	if err == nil && !updated && verdict == lifecycle.Begun {
		verdict = lifecycle.Changed
	}
	return verdict, err
}

// actionVerdict locks the domain and decides whether it may be held or deleted.
func actionVerdict(ctx context.Context, q *query.Queries, begin lifecycle.BeginAction) (lifecycle.Verdict, error) {
	term := begin.From
	domain, err := q.LockDomain(ctx, term.Domain)
	if exists, err := found(err); err != nil {
		return "", err
	} else if !exists || domain.PaidUntil != micros(term.End) || domain.Status != string(registrar.DomainExpired) {
		return lifecycle.NotUnpaid, nil
	}
	obstacles, err := q.CountTermEndObstacles(ctx, term.Name, term.Domain)
	switch {
	case err != nil:
		return "", err
	case obstacles.Items+obstacles.Payments > 0:
		return lifecycle.Paying, nil
	case obstacles.Locks > 0:
		return lifecycle.Verdict(lifecycle.WaitsForLock), nil
	case begin.Consent && domain.AtTermEnd != string(letExpire):
		return lifecycle.Verdict(lifecycle.WaitsForConsent), nil
	case !begin.Notices:
		return lifecycle.Begun, nil
	}
	// A customer with a consent does not lose the domain because we could not charge it.
	if unsettled, err := q.CountUnsettledRenewals(ctx, term.Domain, micros(term.End)); err != nil {
		return "", err
	} else if unsettled > 0 {
		return lifecycle.Verdict(lifecycle.WaitsForOperator), nil
	}
	notices, err := q.CountTermNotices(ctx, query.CountTermNoticesParams{DomainID: term.Domain, TermEnd: micros(term.End), CustomerID: term.Customer})
	switch {
	case err != nil:
		return "", err
	case notices.BeforeEnd > 0 && notices.AfterEnd > 0:
		return lifecycle.Begun, nil
	case notices.Queued > 0:
		return lifecycle.MailQueued, nil
	default:
		return lifecycle.Verdict(lifecycle.WaitsForNotices), nil
	}
}

// endTermPaid ends the unpaid term of a domain that an item has renewed or restored. The customer
// is notified if the domain was held or deleted; the mail about an order says itself that its domain is
// restored.
func endTermPaid(ctx context.Context, q *query.Queries, item provision.Item, renewal provision.Renewal, clock time.Time) error {
	ended, err := q.EndTermPaid(ctx, query.EndTermPaidParams{Now: micros(renewal.At), Clock: micros(clock), DomainID: renewal.Domain})
	if err != nil {
		return err
	}
	if _, ordered := order.ResultOf(item); ordered && item.Kind == provision.Restore {
		return nil
	}
	for _, term := range ended {
		if term.HeldAt == 0 && term.DeletedAt == 0 {
			continue
		}
		data := map[string]string{
			"domain": item.Name, "paid_until": renewal.Until.UTC().Format(time.DateOnly), "change": "hold",
			registrar.NoticeDomain: renewal.Domain, registrar.NoticeTerm: registrar.NoticeTermText(renewal.Until),
		}
		if term.DeletedAt > 0 {
			data["change"] = "redemption"
		}
		if err := enqueueMail(ctx, q, registrar.Mail{Kind: registrar.MailDomainRestored, Customer: item.Customer, Data: data}, clock); err != nil {
			return err
		}
	}
	return nil
}

// ListEndedDomains returns the domains of an order's items that were deleted or handed over since,
// by the item's id.
func (db *DB) ListEndedDomains(ctx context.Context, order string) (map[string]lifecycle.EndedDomain, error) {
	rows, err := db.read().ListEndedDomainsOfOrder(ctx, order)
	ended := make(map[string]lifecycle.EndedDomain, len(rows))
	for _, row := range rows {
		ended[row.ID] = lifecycle.NewEndedDomain(row.Tld, fromMicros(row.DeletedAt))
	}
	return ended, err
}
