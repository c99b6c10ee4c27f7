package store

import (
	"context"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
)

func holderEvent(customer string, action registrar.Action) registrar.AuditEvent {
	return registrar.AuditEvent{Actor: registrar.Actor{Kind: registrar.ActorPerson, Customer: customer}, Action: action, Customer: customer, At: testTime}
}

func newHolder(id, name string) holder.Holder {
	return holder.Holder{ID: id, Kind: account.Company, UpdatedAt: testTime, Registrant: registrar.Registrant{
		Name: name, Organisation: "Teeladen GmbH", Street: "Am Markt 1", PostalCode: "1010", City: "Wien", Country: "AT", Phone: "+43.1234567", Email: "max@teeladen.example",
	}}
}

func putOwnData(t *testing.T, db *DB, customer, city string) {
	t.Helper()
	if err := db.UpdateCustomers(t.Context(), func(tx account.Tx) error {
		return tx.PutRegistrant(t.Context(), customer, account.Registrant{
			Kind: account.Person, Name: "Anna Müller", Street: "Hauptstr. 1", PostalCode: "20457", City: city, Country: "DE", Phone: "+49.4012345", UpdatedAt: testTime,
		})
	}); err != nil {
		t.Fatal(err)
	}
}

func TestHolders_BelongToTheirAccount(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna, bert := t.Context(), newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		for i, want := range []bool{true, true, false} {
			added, err := db.AddHolder(ctx, anna, newHolder(registrar.NewID("hld_", testTime), "Max"), 2, holderEvent(anna, holder.ActionAdded))
			if err != nil || added != want {
				t.Fatalf("holder %d of at most 2: %t, %v", i+1, added, err)
			}
		}
		all, err := db.ListHolders(ctx, anna, 10)
		if err != nil || len(all) != 2 || all[0].Registrant != newHolder("", "Max").Registrant || all[0].Kind != account.Company {
			t.Fatalf("%+v, %v", all, err)
		}
		id := all[0].ID
		if _, known, err := db.GetHolder(ctx, bert, id); known || err != nil {
			t.Errorf("another account finds it: %v", err)
		}
		if changed, err := db.UpdateHolder(ctx, bert, newHolder(id, "Eve"), holderEvent(bert, holder.ActionChanged)); changed || err != nil {
			t.Errorf("another account changes it: %v", err)
		}
		if deleted, err := db.DeleteHolder(ctx, bert, id, holderEvent(bert, holder.ActionDeleted)); deleted || err != nil {
			t.Errorf("another account deletes it: %v", err)
		}
		if changed, err := db.UpdateHolder(ctx, anna, newHolder(id, "Moritz"), holderEvent(anna, holder.ActionChanged)); !changed || err != nil {
			t.Fatal(changed, err)
		}
		if found, _, err := db.GetHolder(ctx, anna, id); err != nil || found.Name != "Moritz" {
			t.Errorf("%+v, %v", found, err)
		}
		if deleted, err := db.DeleteHolder(ctx, anna, id, holderEvent(anna, holder.ActionDeleted)); !deleted || err != nil {
			t.Fatal(deleted, err)
		}
		if _, known, err := db.GetHolder(ctx, anna, id); known || err != nil {
			t.Errorf("it is still there: %v", err)
		}
	})
}

// Before own data change, for the first time or again, domains keep what they had.
func TestOwnDataChange_DomainsKeepTheirRegistrant(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(ctx context.Context, tx account.Tx, id string) error{
		"the address": func(ctx context.Context, tx account.Tx, id string) error {
			return tx.PutRegistrant(ctx, id, account.Registrant{Kind: account.Person, Name: "Anna Berg", City: "Kiel", Country: "US", UpdatedAt: testTime})
		},
		"the email": func(ctx context.Context, tx account.Tx, id string) error {
			_, err := tx.SetEmail(ctx, id, "neu@example.org", "neu@example.org")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachEngine(t, func(t *testing.T, db *DB) {
				ctx, anna := t.Context(), newCustomer(t, db, "anna")
				putOwnData(t, db, anna, "Hamburg")
				id := addHeldDomain(t, db, anna, "eins.org", registrar.DomainActive)
				before, _, err := db.GetRegistrant(ctx, anna)
				if err != nil {
					t.Fatal(err)
				}
				for range 2 {
					if err := db.UpdateCustomers(ctx, func(tx account.Tx) error { return change(ctx, tx, anna) }); err != nil {
						t.Fatal(err)
					}
				}
				domain, _, err := db.GetCustomerDomain(ctx, anna, id)
				if err != nil || domain.Registrant != before || domain.Registrant.City != "Hamburg" {
					t.Errorf("the domain has %+v, %v", domain.Registrant, err)
				}
				all, err := db.ListDomainsOfHolder(ctx, anna, holder.Own, "", 10)
				if err != nil || len(all) != 1 || all[0].Registrant != before {
					t.Errorf("%+v, %v", all, err)
				}
				public, known, err := db.FindPublicDomain(ctx, "eins.org")
				if err != nil || !known || public.Country != "DE" {
					t.Errorf("RDAP publishes %q, %v", public.Country, err)
				}
			})
		})
	}
}

func TestRegistrantChange_KeepsTheFormerOne(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		putOwnData(t, db, anna, "Hamburg")
		id := addHeldDomain(t, db, anna, "eins.org", registrar.DomainActive)
		own, _, err := db.GetRegistrant(ctx, anna)
		if err != nil {
			t.Fatal(err)
		}
		client := newHolder("hld_1", "Max")
		makeChange := func(past, next registrar.Registrant, to string, at time.Time) {
			t.Helper()
			change := newOpenChange(anna, id)
			change.Desired = domainchange.DesiredState{Holder: to, Registrant: &next, Reason: holder.ReasonNewHolder}
			if err := db.AddDomainChange(ctx, change); err != nil {
				t.Fatal(err)
			}
			done := change
			done.State, done.DueAt, done.UpdatedAt, done.Desired.Registrant = domainchange.StatusDone, time.Time{}, at, nil
			if ok, err := db.UpdateDomainChange(ctx, domainchange.Transition{From: change, To: done, Registrant: next, PastRegistrant: past, At: at}); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		later := testTime.Add(time.Hour)
		makeChange(own, client.Registrant, "hld_1", later)
		makeChange(client.Registrant, client.Registrant, "hld_1", later.Add(time.Hour)) // the same again
		domain, _, err := db.GetCustomerDomain(ctx, anna, id)
		if err != nil || domain.Holder != "hld_1" || domain.Registrant != client.Registrant || domain.Handle != "DK2" {
			t.Errorf("%+v, %v", domain, err)
		}
		past, err := db.ListPastRegistrants(ctx, id, 10)
		if err != nil || len(past) != 1 || past[0].Registrant != own || past[0].Holder != "" || past[0].Reason != holder.ReasonNewHolder ||
			!past[0].Since.Equal(testTime) || !past[0].Until.Equal(later) {
			t.Errorf("%+v, %v", past, err)
		}
		changes, err := db.ListDomainChanges(ctx, id, 10)
		if err != nil || len(changes) != 2 || changes[0].Desired.Registrant != nil || changes[0].Desired.Holder != "hld_1" {
			t.Errorf("%+v, %v", changes, err)
		}
	})
}
