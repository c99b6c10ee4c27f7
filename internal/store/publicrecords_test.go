package store

import (
	"reflect"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/publicrecord"
)

func TestPublicDomain_HasRecordAndRegistrantsCountry(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna, bert, service := t.Context(), newCustomer(t, db, "anna"), newCustomer(t, db, "bert"), newPortfolioService(t, db)
		ids := make(map[string]string)
		for _, domain := range []struct {
			customer, label string
			status          registrar.DomainStatus
		}{
			{anna, "whole", registrar.DomainActive},
			{bert, "bare", registrar.DomainActive},
			{anna, "returned", registrar.DomainTransferredOut},
			{bert, "returned", registrar.DomainRedemption},
			{anna, "gone", registrar.DomainTransferredOut},
		} {
			added, err := service.Add(ctx, operatorActor(), portfolio.AddParams{
				Customer: domain.customer, Name: registrar.NewName(domain.label, ".com"), Status: domain.status, PaidUntil: testTime,
			})
			if err != nil {
				t.Fatal(err)
			}
			ids[domain.label+" "+string(domain.status)] = added.ID
		}
		if err := db.UpdateCustomers(ctx, func(tx account.Tx) error {
			return tx.PutRegistrant(ctx, anna, account.Registrant{Kind: account.Person, Name: "Anna", Street: "Weg 1", City: "Ulm", State: "BW", Country: "DE", UpdatedAt: testTime})
		}); err != nil {
			t.Fatal(err)
		}
		record := domainchange.Record{
			Statuses: []string{"ok"}, Nameservers: []domainchange.Nameserver{{Name: "ns1.example.net"}}, DS: []domainchange.DS{{KeyTag: 1, Digest: "AB"}},
			Created: testTime, Expires: testTime.AddDate(1, 0, 0), ReadAt: testTime.Add(time.Hour),
		}
		// The registry sync stores the whole record with the domain.
		was, _, err := db.DomainByName(ctx, "whole.com")
		if err != nil {
			t.Fatal(err)
		}
		now := was
		now.RegistryStatus, now.RegistryExpires, now.SyncedAt, now.Record = []string{"ok"}, testTime.AddDate(2, 0, 0), testTime, &record
		if stored, err := db.UpdateDomainFromRegistry(ctx, was, now, nil); err != nil || !stored {
			t.Fatalf("%t, %v", stored, err)
		}

		stored := record
		stored.ReadAt = time.Time{} // is in the domain
		want := publicrecord.Domain{
			ID: ids["whole active"], Name: "whole.com", TLD: ".com", Status: "active", PaidUntil: testTime, RegistryStatus: []string{"ok"},
			RegistryExpires: testTime.AddDate(2, 0, 0), ReadAt: record.ReadAt, Record: &stored, State: "BW", Country: "DE",
		}
		got, found, err := db.FindPublicDomain(ctx, "whole.com")
		if err != nil || !found || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v, %v", got, want, err)
		}
		if byID, found, err := db.GetPublicDomain(ctx, want.ID); err != nil || !found || !reflect.DeepEqual(byID, want) {
			t.Errorf("by id: got %+v, want %+v, %v", byID, want, err)
		}
		if bare, found, err := db.FindPublicDomain(ctx, "bare.com"); err != nil || !found || bare.Record != nil || bare.Country != "" || bare.ReadAt.IsZero() {
			t.Errorf("without a record and registrant: %+v, %t, %v", bare, found, err)
		}
		if returned, found, err := db.FindPublicDomain(ctx, "returned.com"); err != nil || !found || returned.ID != ids["returned redemption"] {
			t.Errorf("a domain that came back: %+v, %t, %v", returned, found, err)
		}
		for _, name := range []string{"gone.com", "unknown.com", "", "WHOLE.COM"} {
			if other, found, err := db.FindPublicDomain(ctx, name); err != nil || found {
				t.Errorf("%q: %+v, %v", name, other, err)
			}
		}
		if other, found, err := db.GetPublicDomain(ctx, "dom_\x00"); err != nil || found {
			t.Errorf("an id that can't be stored: %+v, %v", other, err)
		}
	})
}
