package store

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ account.Store = (*DB)(nil)

// accounts reads and changes customers, on the pool or inside one transaction.
type accounts struct{ q *query.Queries }

// ReadCustomers returns queries about customers outside a transaction.
func (db *DB) ReadCustomers() account.Reader { return accounts{db.read()} }

// UpdateCustomers runs change in one transaction.
func (db *DB) UpdateCustomers(ctx context.Context, change func(account.Tx) error) error {
	return db.write(ctx, func(q *query.Queries) error { return change(accounts{q}) })
}

func accountOf(row query.Customer) account.Account {
	return account.Account{
		Customer: account.Customer{
			ID: row.ID, Email: row.Email, Language: row.Language,
			HasPassword: row.PasswordHash != "", HasSecondFactor: row.TotpSealed != "", Operator: row.Operator != 0, Basket: row.Basket,
			CreatedAt: fromMicros(row.CreatedAt), ConfirmedAt: fromMicros(row.ConfirmedAt), DisabledAt: fromMicros(row.DisabledAt),
		},
		EmailKey: row.EmailKey, PasswordHash: row.PasswordHash, UserHandle: row.UserHandle,
		SealedTOTP: row.TotpSealed, TOTPVersion: row.TotpVersion, TOTPStep: row.TotpStep,
	}
}

func (a accounts) AccountByEmail(ctx context.Context, key string) (account.Account, bool, error) {
	return rowAs(accountOf)(a.q.GetCustomerByEmail(ctx, key))
}

func (a accounts) AccountByID(ctx context.Context, id string) (account.Account, bool, error) {
	return rowAs(accountOf)(a.q.GetCustomer(ctx, id))
}

func (a accounts) AccountByHandle(ctx context.Context, handle string) (account.Account, bool, error) {
	return rowAs(accountOf)(a.q.GetCustomerByUserHandle(ctx, handle))
}

func (a accounts) ListAccounts(ctx context.Context, id string, limit int) ([]account.Account, error) {
	return rowsAs(accountOf)(a.q.ListCustomers(ctx, id, int32(limit)))
}

func (a accounts) InsertAccount(ctx context.Context, account account.Account) (bool, error) {
	return changed(a.q.InsertCustomer(ctx, query.InsertCustomerParams{
		ID: account.ID, Email: account.Email, EmailKey: account.EmailKey, UserHandle: account.UserHandle,
		Language: account.Language, CreatedAt: micros(account.CreatedAt), ConfirmedAt: micros(account.ConfirmedAt),
	}))
}

func (a accounts) ConfirmAccount(ctx context.Context, id, passwordHash string, now time.Time) (bool, error) {
	return changed(a.q.ConfirmCustomer(ctx, query.ConfirmCustomerParams{ConfirmedAt: micros(now), PasswordHash: passwordHash, ID: id}))
}

func (a accounts) SetPasswordHash(ctx context.Context, id, hash string) error {
	return a.q.SetPasswordHash(ctx, hash, id)
}

func (a accounts) ReplacePasswordHash(ctx context.Context, seen account.Account, hash string) (bool, error) {
	return changed(a.q.ReplacePasswordHash(ctx, query.ReplacePasswordHashParams{
		PasswordHash: hash, ID: seen.ID, PasswordHash_2: seen.PasswordHash, TotpVersion: seen.TOTPVersion,
		Operator: boolToInt(seen.Operator),
	}))
}

func (a accounts) SetEmail(ctx context.Context, id, email, key string) (bool, error) {
	if err := freezeRegistrants(ctx, a.q, id); err != nil {
		return false, err
	}
	if err := a.q.KeepNoticesOfAddress(ctx, id); err != nil {
		return false, err
	}
	return changed(a.q.SetEmail(ctx, query.SetEmailParams{Email: email, EmailKey: key, ID: id}))
}

func (a accounts) ReplaceBasket(ctx context.Context, id, seen, basket string) (bool, error) {
	rows, err := a.q.ReplaceBasket(ctx, query.ReplaceBasketParams{ID: id, Seen: seen, Basket: basket})
	return rows > 0, err
}

func (a accounts) SetLanguage(ctx context.Context, id, language string) error {
	return a.q.SetLanguage(ctx, language, id)
}

func (a accounts) Disable(ctx context.Context, id string, now time.Time) (bool, error) {
	return changed(a.q.DisableCustomer(ctx, micros(now), id))
}

func (a accounts) Enable(ctx context.Context, id string) (bool, error) {
	return changed(a.q.EnableCustomer(ctx, id))
}

func (a accounts) SetSecondFactor(ctx context.Context, id string, version int64, sealed string, step int64) (bool, error) {
	return changed(a.q.SetSecondFactor(ctx, query.SetSecondFactorParams{TotpSealed: sealed, TotpStep: step, ID: id, TotpVersion: version}))
}

func (a accounts) UseTOTPStep(ctx context.Context, id string, version, step int64) (bool, error) {
	return changed(a.q.UseTOTPStep(ctx, query.UseTOTPStepParams{TotpStep: step, ID: id, TotpVersion: version}))
}

func (a accounts) ReplaceRecoveryCodes(ctx context.Context, id string, hashes []string) error {
	if err := a.q.DeleteRecoveryCodes(ctx, id); err != nil {
		return err
	}
	for _, hash := range hashes {
		if err := a.q.InsertRecoveryCode(ctx, id, hash); err != nil {
			return err
		}
	}
	return nil
}

func (a accounts) UseRecoveryCode(ctx context.Context, id, hash string, now time.Time) (bool, error) {
	return changed(a.q.UseRecoveryCode(ctx, query.UseRecoveryCodeParams{UsedAt: micros(now), CustomerID: id, Hash: hash}))
}

func (a accounts) RecoveryCodesLeft(ctx context.Context, id string) (int, error) {
	left, err := a.q.CountRecoveryCodes(ctx, id)
	return int(left), err
}

func (a accounts) RecordAuditEvent(ctx context.Context, event registrar.AuditEvent) error {
	return insertAuditEvent(ctx, a.q, event)
}

func (a accounts) QueueMail(ctx context.Context, mail registrar.Mail, now time.Time) error {
	return enqueueMail(ctx, a.q, mail, now)
}

// DeleteUnconfirmed deletes accounts whose address was never confirmed, which have no
// sessions, tokens, domains or registrants that refer to them, and guest accounts whose
// orders were never paid.
func (a accounts) DeleteUnconfirmed(ctx context.Context, madeBefore time.Time, limit int) (int, error) {
	ids, err := a.q.ListStaleUnconfirmedCustomers(ctx, micros(madeBefore), int32(limit))
	if err != nil {
		return 0, err
	}
	deleted, err := a.deleteStaleGuests(ctx, madeBefore, limit)
	if err != nil {
		return deleted, err
	}
	for _, id := range ids {
		dropped, err := a.DeleteUnconfirmedAccount(ctx, id)
		if err != nil {
			return deleted, err
		}
		if dropped {
			deleted++
		}
	}
	return deleted, nil
}

// DeleteUnconfirmedAccount deletes the account with its links, mails and audit events. The
// links of a confirmed account stay, because they are still valid.
func (a accounts) DeleteUnconfirmedAccount(ctx context.Context, id string) (bool, error) {
	if err := a.q.DeleteLinksOfUnconfirmed(ctx, id); err != nil {
		return false, err
	}
	dropped, err := changed(a.q.DeleteUnconfirmedCustomer(ctx, id))
	if err != nil || !dropped {
		return false, err
	}
	if err := a.DeleteUnusedLinks(ctx, id, account.LinkConfirm); err != nil {
		return false, err
	}
	return true, a.q.DeleteAuditEventsOfCustomer(ctx, id)
}

// accountlessEventRetention is the retention of audit events without an account, such as a
// reset for an unknown address, which anyone can cause.
const accountlessEventRetention = 30 * 24 * time.Hour

func (a accounts) DeleteExpired(ctx context.Context, now, business time.Time, limit int) (int, error) {
	lists, err := a.q.DeleteExpiredTransferLists(ctx, micros(business), int32(limit))
	if err != nil {
		return 0, err
	}
	total := int(lists)
	for _, sweep := range []func(context.Context, int64, int32) (int64, error){
		a.q.DeleteExpiredSessions, a.q.DeleteExpiredDevices, a.q.DeleteExpiredWebauthnChallenges, a.q.DeleteExpiredLinks,
	} {
		rows, err := sweep(ctx, micros(now), int32(limit))
		if err != nil {
			return total, err
		}
		total += int(rows)
	}
	oldest := registrar.NewID(auditEventPrefix, now.Add(-accountlessEventRetention)) // identifiers sort by their time
	events, err := a.q.DeleteAccountlessAuditEvents(ctx, oldest, int32(limit))
	return total + int(events), err
}

func (a accounts) CountCloseBlockers(ctx context.Context, id string) (account.CloseBlockers, error) {
	row, err := a.q.CountClosureBlockers(ctx, id)
	return account.CloseBlockers{Domains: int(row.Domains), Orders: int(row.Orders), Refunds: int(row.Refunds)}, err
}

// HasOrdered reports whether a customer has or had a domain, or has paid for an order.
func (a accounts) HasOrdered(ctx context.Context, customer string) (bool, error) {
	return a.q.HasOrdered(ctx, customer)
}

// CloseAccount deletes and keeps what the table of package retention says.
func (a accounts) CloseAccount(ctx context.Context, id, closedEmail string, now time.Time) (bool, error) {
	buyer, err := currentInvoiceBuyerJSON(ctx, a.q, id)
	if err != nil {
		return false, err
	}
	if err := a.q.SetPendingInvoiceBuyer(ctx, buyer, id); err != nil {
		return false, err
	}
	closed, err := changed(a.q.CloseCustomer(ctx, query.CloseCustomerParams{ClosedEmail: closedEmail, ClosedAt: micros(now), ID: id}))
	if err != nil || !closed {
		return closed, err
	}
	if err := a.q.RevokePersonalAccessTokensOfCustomer(ctx, micros(now), id); err != nil {
		return false, err
	}
	if err := a.q.RevokeGrantsOfCustomer(ctx, micros(now), id); err != nil {
		return false, err
	}
	if err := endConsentsOf(ctx, a.q, id, renewal.EndClosed, now); err != nil {
		return false, err
	}
	if err := deleteMethods(ctx, a.q, id, now); err != nil {
		return false, err
	}
	err = inOrder(ctx, id, a.q.DeletePasskeysOfCustomer, a.q.DeleteRecoveryCodes, a.q.DeleteRegistrant, a.q.DeleteHoldersOfCustomer, a.q.DeleteIdentity,
		a.q.DeleteTransferList, a.q.DeleteAgentLinksOfCustomer, a.q.DeleteLinksOfCustomer, a.q.DeleteBulkActionsOfCustomer, a.q.ClearDomainLabels, a.q.DeleteHandledInquiriesOfCustomer)
	return err == nil, err
}
