package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ customer.Store = (*DB)(nil)

// accounts answers and changes what is about customers, on the pool or inside
// one transaction.
type accounts struct{ q *query.Queries }

// ReadCustomers answers single questions about customers.
func (db *DB) ReadCustomers() customer.Reader { return accounts{db.read()} }

// ChangeCustomers runs change in one transaction.
func (db *DB) ChangeCustomers(ctx context.Context, change func(customer.Tx) error) error {
	return db.write(ctx, func(q *query.Queries) error { return change(accounts{q}) })
}

// found turns the error for a missing row into a boolean.
func found(err error) (bool, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// neverStored says of an id from outside that no row has it. PostgreSQL fails at
// a text with a zero byte or broken UTF-8, where SQLite finds nothing.
func neverStored(id string) bool { return !utf8.ValidString(id) || strings.ContainsRune(id, 0) }

// changed is whether a statement met a row in the state that it starts from.
func changed(rows int64, err error) (bool, error) { return rows > 0, err }

func accountOf(row query.Customer) customer.Account {
	return customer.Account{
		Customer: customer.Customer{
			ID: row.ID, Email: row.Email, Language: row.Language,
			HasPassword: row.PasswordHash != "", HasSecondFactor: row.TotpSealed != "", Operator: row.Operator != 0,
			CreatedAt: fromMicros(row.CreatedAt), ConfirmedAt: fromMicros(row.ConfirmedAt), DisabledAt: fromMicros(row.DisabledAt),
		},
		EmailKey: row.EmailKey, PasswordHash: row.PasswordHash, UserHandle: row.UserHandle,
		SealedTOTP: row.TotpSealed, TOTPVersion: row.TotpVersion, TOTPStep: row.TotpStep,
	}
}

func foundAccount(row query.Customer, err error) (customer.Account, bool, error) {
	ok, err := found(err)
	return accountOf(row), ok, err
}

func (a accounts) AccountByEmail(ctx context.Context, key string) (customer.Account, bool, error) {
	return foundAccount(a.q.CustomerByEmail(ctx, key))
}

func (a accounts) AccountByID(ctx context.Context, id string) (customer.Account, bool, error) {
	return foundAccount(a.q.CustomerByID(ctx, id))
}

func (a accounts) AccountByHandle(ctx context.Context, handle string) (customer.Account, bool, error) {
	return foundAccount(a.q.CustomerByHandle(ctx, handle))
}

func (a accounts) AccountsAfter(ctx context.Context, id string, limit int) ([]customer.Account, error) {
	rows, err := a.q.CustomersAfter(ctx, query.CustomersAfterParams{ID: id, Limit: int32(limit)})
	list := make([]customer.Account, 0, len(rows))
	for _, row := range rows {
		list = append(list, accountOf(row))
	}
	return list, err
}

func (a accounts) InsertAccount(ctx context.Context, account customer.Account) (bool, error) {
	return changed(a.q.InsertCustomer(ctx, query.InsertCustomerParams{
		ID: account.ID, Email: account.Email, EmailKey: account.EmailKey, UserHandle: account.UserHandle,
		Language: account.Language, CreatedAt: micros(account.CreatedAt), ConfirmedAt: micros(account.ConfirmedAt),
	}))
}

func (a accounts) ConfirmAccount(ctx context.Context, id, passwordHash string, now time.Time) (bool, error) {
	return changed(a.q.ConfirmCustomer(ctx, query.ConfirmCustomerParams{ConfirmedAt: micros(now), PasswordHash: passwordHash, ID: id}))
}

func (a accounts) SetPasswordHash(ctx context.Context, id, hash string) error {
	_, err := a.q.SetPasswordHash(ctx, query.SetPasswordHashParams{PasswordHash: hash, ID: id})
	return err
}

func (a accounts) ReplacePasswordHash(ctx context.Context, seen customer.Account, hash string) (bool, error) {
	return changed(a.q.ReplacePasswordHash(ctx, query.ReplacePasswordHashParams{
		PasswordHash: hash, ID: seen.ID, PasswordHash_2: seen.PasswordHash, TotpVersion: seen.TOTPVersion,
		Operator: number(seen.Operator),
	}))
}

func (a accounts) SetEmail(ctx context.Context, id, email, key string) (bool, error) {
	return changed(a.q.SetEmail(ctx, query.SetEmailParams{Email: email, EmailKey: key, ID: id}))
}

func (a accounts) SetLanguage(ctx context.Context, id, language string) error {
	_, err := a.q.SetLanguage(ctx, query.SetLanguageParams{Language: language, ID: id})
	return err
}

func (a accounts) Disable(ctx context.Context, id string, now time.Time) (bool, error) {
	return changed(a.q.DisableCustomer(ctx, query.DisableCustomerParams{DisabledAt: micros(now), ID: id}))
}

func (a accounts) Enable(ctx context.Context, id string) (bool, error) {
	return changed(a.q.EnableCustomer(ctx, id))
}

func (a accounts) SetSecondFactor(ctx context.Context, id string, version int64, sealed string, step int64) (bool, error) {
	return changed(a.q.SetSecondFactor(ctx, query.SetSecondFactorParams{TotpSealed: sealed, TotpStep: step, ID: id, TotpVersion: version}))
}

func (a accounts) UseStep(ctx context.Context, id string, version, step int64) (bool, error) {
	return changed(a.q.UseStep(ctx, query.UseStepParams{TotpStep: step, ID: id, TotpVersion: version}))
}

func (a accounts) ReplaceRecoveryCodes(ctx context.Context, id string, hashes []string) error {
	if err := a.q.DeleteRecoveryCodes(ctx, id); err != nil {
		return err
	}
	for _, hash := range hashes {
		if err := a.q.InsertRecoveryCode(ctx, query.InsertRecoveryCodeParams{CustomerID: id, Hash: hash}); err != nil {
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

func (a accounts) RecordDeed(ctx context.Context, deed registrar.Deed) error {
	return recordDeed(ctx, a.q, deed)
}

func (a accounts) StoreLetter(ctx context.Context, letter registrar.Letter, now time.Time) error {
	return recordLetter(ctx, a.q, letter, now)
}

// DeleteUnconfirmed deletes accounts whose address nobody has confirmed, which
// have no sessions, tokens, domains or registrants that would refer to them; and
// those of buyers without an account whose orders nobody has paid.
func (a accounts) DeleteUnconfirmed(ctx context.Context, madeBefore time.Time, limit int) (int, error) {
	ids, err := a.q.StaleUnconfirmed(ctx, query.StaleUnconfirmedParams{CreatedAt: micros(madeBefore), Limit: int32(limit)})
	if err != nil {
		return 0, err
	}
	deleted, err := a.deleteShadows(ctx, madeBefore, limit)
	if err != nil {
		return deleted, err
	}
	for _, id := range ids {
		dropped, err := a.DropUnconfirmed(ctx, id)
		if err != nil {
			return deleted, err
		}
		if dropped {
			deleted++
		}
	}
	return deleted, nil
}

// DropUnconfirmed deletes the account with the links, the letter and the audit
// that it has. The links of a confirmed account stay: they would open something.
func (a accounts) DropUnconfirmed(ctx context.Context, id string) (bool, error) {
	if err := a.q.DeleteLinksOfUnconfirmed(ctx, id); err != nil {
		return false, err
	}
	dropped, err := changed(a.q.DeleteUnconfirmed(ctx, id))
	if err != nil || !dropped {
		return false, err
	}
	if err := a.VoidLinks(ctx, id, customer.LinkConfirm); err != nil {
		return false, err
	}
	return true, a.q.DeleteDeedsOf(ctx, id)
}

// nobodysDeeds is how long the audit keeps what concerns no account, such as a
// reset that was asked for an unknown address: anybody can have it written.
const nobodysDeeds = 30 * 24 * time.Hour

// DeleteExpired deletes what is over, a batch of each kind.
func (a accounts) DeleteExpired(ctx context.Context, now time.Time, limit int) (int, error) {
	at, batch := micros(now), int32(limit)
	total := 0
	for _, sweep := range []func() (int64, error){
		func() (int64, error) {
			return a.q.DeleteExpiredSessions(ctx, query.DeleteExpiredSessionsParams{ExpiresAt: at, Limit: batch})
		},
		func() (int64, error) {
			return a.q.DeleteExpiredDevices(ctx, query.DeleteExpiredDevicesParams{ExpiresAt: at, Limit: batch})
		},
		func() (int64, error) {
			return a.q.DeleteExpiredCeremonies(ctx, query.DeleteExpiredCeremoniesParams{ExpiresAt: at, Limit: batch})
		},
		func() (int64, error) {
			return a.q.DeleteExpiredLinks(ctx, query.DeleteExpiredLinksParams{ExpiresAt: at, Limit: batch})
		},
		func() (int64, error) { // identifiers sort by their time
			before := registrar.NewID(deedPrefix, now.Add(-nobodysDeeds))
			return a.q.DeleteDeedsOfNobody(ctx, query.DeleteDeedsOfNobodyParams{ID: before, Limit: batch})
		},
	} {
		rows, err := sweep()
		if err != nil {
			return total, err
		}
		total += int(rows)
	}
	return total, nil
}
