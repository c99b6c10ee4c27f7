package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ renewal.DetachmentStore = (*DB)(nil)

// PutPaymentMethod saves a payment method as the customer's default.
func (db *DB) PutPaymentMethod(ctx context.Context, customer string, method order.PaymentMethod, now time.Time) error {
	return db.write(ctx, func(q *query.Queries) error { return putPaymentMethod(ctx, q, customer, method, now) })
}

// putPaymentMethod saves the payment method of an order as the default. One without an id only
// sets the provider's customer, and keeps a default of the same provider customer.
func putPaymentMethod(ctx context.Context, q *query.Queries, customer string, method order.PaymentMethod, now time.Time) error {
	if method.ID == "" {
		if err := q.PutProviderCustomer(ctx, query.PutProviderCustomerParams{CustomerID: customer, ProviderCustomer: method.ProviderCustomer, UpdatedAt: micros(now)}); err != nil {
			return err
		}
		methods, err := q.HasPaymentMethod(ctx, customer)
		if err != nil || methods > 0 {
			return err
		}
		return endConsentsOf(ctx, q, customer, renewal.EndNoMethod, now) // another provider customer replaced the method of the former one
	}
	if err := q.LockOrInsertMethods(ctx, customer, micros(now)); err != nil {
		return err
	}
	state, err := methodsState(ctx, q, customer, "")
	if err != nil {
		return err
	}
	update, _ := renewal.PlaceMethod(state.Saved, method, true, true, now)
	return applyMethods(ctx, q, customer, update)
}

// GetPaymentMethod returns a customer's default payment method; false if there is none.
func (db *DB) GetPaymentMethod(ctx context.Context, customer string) (order.PaymentMethod, bool, error) {
	row, err := db.read().GetPaymentMethod(ctx, customer)
	ok, err := found(err)
	return order.PaymentMethod{ProviderCustomer: row.ProviderCustomer, ID: row.Method, Label: row.Label}, ok && row.Method != "", err
}

// BeginMethodSetup stores the id of a setup and returns what the provider needs.
func (db *DB) BeginMethodSetup(ctx context.Context, customer, setup string, asDefault bool, now time.Time) (known renewal.SetupCustomer, err error) {
	err = db.write(ctx, func(q *query.Queries) error {
		if err := rowOr(noSuchCustomer())(q.LockBuyer(ctx, customer)); err != nil {
			return err
		}
		if err := q.PutPaymentMethodSetup(ctx, query.PutPaymentMethodSetupParams{
			CustomerID: customer, Setup: setup, SetupDefault: boolToInt(asDefault), UpdatedAt: micros(now),
		}); err != nil {
			return err
		}
		buyer, err := buyerOf(ctx, q, customer)
		known = renewal.SetupCustomer{Email: buyer.Email, Language: buyer.Language, ProviderCustomer: buyer.ProviderCustomer}
		return err
	})
	return known, err
}

// GetMethods returns the saved payment methods and the domains that renew with the default.
func (db *DB) GetMethods(ctx context.Context, customer string, limit int) (result renewal.Methods, err error) {
	method, saved, err := db.GetPaymentMethod(ctx, customer)
	if err != nil {
		return result, err
	}
	rows, err := db.read().ListSavedMethods(ctx, customer, maxSavedMethods)
	if err != nil {
		return result, err
	}
	result.Saved = savedMethodsOf(rows, method.ID)
	if saved && result.Default().ID == "" { // of an earlier program
		result.Saved = slices.Insert(result.Saved, 0, renewal.SavedMethod{PaymentMethod: method, Default: true})
	}
	if limit == 0 || !saved {
		return result, nil
	}
	names, err := db.read().ListRenewingDomains(ctx, customer, int32(limit+1))
	if len(names) > limit {
		names, result.More = names[:limit], true
	}
	result.Renewing = names
	return result, err
}

// maxSavedMethods bounds what is read: more than there can be.
const maxSavedMethods = 2 * renewal.MaxMethods

// savedMethodsOf returns the methods with the default first.
func savedMethodsOf(rows []query.SavedMethod, defaultID string) []renewal.SavedMethod {
	saved := make([]renewal.SavedMethod, 0, len(rows))
	for _, row := range rows {
		saved = append(saved, renewal.SavedMethod{
			PaymentMethod: order.PaymentMethod{
				ProviderCustomer: row.ProviderCustomer, ID: row.Method, Label: row.Label, Fingerprint: row.Fingerprint, Expires: row.Expires,
			},
			Default: row.Method == defaultID,
		})
	}
	slices.SortStableFunc(saved, func(a, b renewal.SavedMethod) int { return cmp.Compare(boolToInt(b.Default), boolToInt(a.Default)) })
	return saved
}

// methodsState reads what a change is decided on. The caller has locked the customer's
// payment_methods.
func methodsState(ctx context.Context, q *query.Queries, customer, setup string) (state renewal.MethodsState, err error) {
	if err := q.KeepDefaultMethod(ctx, customer); err != nil {
		return state, err
	}
	row, err := q.GetMethodSetup(ctx, customer)
	if _, err := found(err); err != nil {
		return state, err
	}
	state.SetupOpen, state.SetupDefault = setup != "" && row.Setup == setup, row.SetupDefault != 0
	rows, err := q.ListSavedMethods(ctx, customer, maxSavedMethods)
	if err != nil {
		return state, err
	}
	state.Saved = savedMethodsOf(rows, row.Method)
	charging, err := q.CountUnpaidRenewalsInFlight(ctx, customer)
	state.Charging = charging > 0
	return state, err
}

// UpdateMethods changes a customer's payment methods as decide says.
func (db *DB) UpdateMethods(ctx context.Context, customer, setup string, decide func(renewal.MethodsState) (renewal.MethodUpdate, error)) error {
	return db.write(ctx, func(q *query.Queries) error {
		// The account first, as when a charge begins. A closed account has no methods, and the
		// one of its last setup is detached.
		if _, err := q.LockBuyer(ctx, customer); err != nil {
			return err
		}
		if err := q.LockMethods(ctx, customer); err != nil {
			return err
		}
		state, err := methodsState(ctx, q, customer, setup)
		if err != nil {
			return err
		}
		update, err := decide(state)
		if err != nil {
			return err
		}
		return applyMethods(ctx, q, customer, update)
	})
}

func applyMethods(ctx context.Context, q *query.Queries, customer string, update renewal.MethodUpdate) error {
	if update.EndSetup {
		if err := q.EndMethodSetup(ctx, customer); err != nil {
			return err
		}
	}
	for _, id := range update.Remove {
		if err := q.DeleteSavedMethod(ctx, customer, id); err != nil {
			return err
		}
	}
	for _, one := range update.Detach {
		if err := q.InsertMethodDetachment(ctx, one.Method, micros(one.DueAt)); err != nil {
			return err
		}
	}
	if method := update.Save; method != nil {
		if err := q.PutSavedMethod(ctx, query.PutSavedMethodParams{
			CustomerID: customer, Method: method.ID, ProviderCustomer: method.ProviderCustomer, Label: method.Label,
			Fingerprint: method.Fingerprint, Expires: method.Expires, AddedAt: micros(update.Now),
		}); err != nil {
			return err
		}
		if err := q.DeleteMethodDetachment(ctx, method.ID); err != nil {
			return err
		}
	}
	if method := update.Default; method != nil {
		if err := q.SetDefaultMethod(ctx, query.SetDefaultMethodParams{
			ProviderCustomer: method.ProviderCustomer, Method: method.ID, Label: method.Label, UpdatedAt: micros(update.Now), CustomerID: customer,
		}); err != nil {
			return err
		}
	}
	if update.EndConsents {
		if err := q.ClearDefaultMethod(ctx, micros(update.Now), customer); err != nil {
			return err
		}
		if err := endConsentsOf(ctx, q, customer, renewal.EndNoMethod, update.Now); err != nil {
			return err
		}
	}
	return recordEffects(ctx, q, update.AuditEvent, update.Mail, update.At)
}

// deleteMethods ends all payment methods of an account that is being closed.
func deleteMethods(ctx context.Context, q *query.Queries, customer string, now time.Time) error {
	if err := q.KeepDefaultMethod(ctx, customer); err != nil {
		return err
	}
	if err := q.DetachMethodsOfCustomer(ctx, micros(now), customer); err != nil {
		return err
	}
	return inOrder(ctx, customer, q.DeleteSavedMethodsOfCustomer, q.DeletePaymentMethod)
}

// ClaimDueDetachments leases payment methods that have to be detached at the provider.
func (db *DB) ClaimDueDetachments(ctx context.Context, now, lease time.Time, limit int) (claimed []renewal.Detachment, err error) {
	err = db.write(ctx, func(q *query.Queries) (err error) {
		claimed, err = rowsAs(func(row query.MethodDetachment) renewal.Detachment {
			return renewal.Detachment{Method: row.Method, DueAt: fromMicros(row.DueAt), Attempts: int(row.Attempts)}
		})(q.ClaimDueMethodDetachments(ctx, query.ClaimDueMethodDetachmentsParams{Lease: micros(lease), Now: micros(now), MaxRows: int32(limit)}))
		return err
	})
	return claimed, err
}

// PostponeDetachment ends a lease.
func (db *DB) PostponeDetachment(ctx context.Context, one renewal.Detachment, due time.Time) error {
	return db.single().PostponeMethodDetachment(ctx, query.PostponeMethodDetachmentParams{
		Due: micros(due), Attempts: int64(one.Attempts), Method: one.Method, Lease: micros(one.DueAt),
	})
}

// DeleteDetachment ends the work on a method that is detached.
func (db *DB) DeleteDetachment(ctx context.Context, method string) error {
	return db.single().DeleteMethodDetachment(ctx, method)
}

// CountRetryingDetachments counts the removed methods that the provider has not detached yet
// although it was asked to.
func (db *DB) CountRetryingDetachments(ctx context.Context) (int, error) {
	count, err := db.read().CountRetryingMethodDetachments(ctx)
	return int(count), err
}
