package publicrecord

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
)

var day = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// memory holds domains by name and counts the queries.
type memory struct {
	domains []Domain
	queries int
	err     error
}

func (m *memory) FindPublicDomain(_ context.Context, name string) (Domain, bool, error) {
	return m.find(func(d Domain) bool { return d.Name == name })
}

func (m *memory) GetPublicDomain(_ context.Context, id string) (Domain, bool, error) {
	return m.find(func(d Domain) bool { return d.ID == id })
}

func (m *memory) find(matches func(Domain) bool) (Domain, bool, error) {
	m.queries++
	if at := slices.IndexFunc(m.domains, matches); at >= 0 {
		return m.domains[at], true, m.err
	}
	return Domain{}, false, m.err
}

func newService(t *testing.T, domains ...Domain) (*Service, *memory) {
	t.Helper()
	seal, err := registrar.NewSeal(registrar.SealKey{7})
	if err != nil {
		t.Fatal(err)
	}
	store := &memory{domains: domains}
	service, err := New(store, seal)
	if err != nil {
		t.Fatal(err)
	}
	return service, store
}

func TestDomain_OnlySponsoredDomainsArePublic(t *testing.T) {
	for status, want := range map[registrar.DomainStatus]bool{
		registrar.DomainActive: true, registrar.DomainExpired: true, registrar.DomainRedemption: true,
		registrar.DomainPending: false, registrar.DomainTransit: false, registrar.DomainTransferredOut: false, "new": false,
	} {
		service, _ := newService(t, Domain{ID: "dom_1", Name: "a.com", Status: status})
		_, err := service.Domain(t.Context(), "a.com")
		if found := err == nil; found != want || !want && registrar.CodeOf(err) != NotFound {
			t.Errorf("%s: found %v, %v", status, found, err)
		}
		handle := service.seal.SealFixed(registrar.RDAPHandlePurpose, "dom_1")
		if _, err := service.Registrant(t.Context(), handle); (err == nil) != want {
			t.Errorf("%s: the registrant's record is %v", status, err)
		}
	}
}

func TestDomain_RecordComesFromNewestStoredData(t *testing.T) {
	stored := &domainchange.Record{
		Statuses: []string{"clientTransferProhibited"}, Nameservers: []domainchange.Nameserver{{Name: "ns1.example.net"}},
		DS: []domainchange.DS{{KeyTag: 1, Algorithm: 13, DigestType: 2, Digest: "AB"}}, Created: day, Updated: day.AddDate(0, 1, 0), Expires: day.AddDate(1, 0, 0), Handle: "DK1",
	}
	service, store := newService(t,
		Domain{ID: "dom_1", Name: "read.com", TLD: ".com", Status: "active", RegistryStatus: []string{"ok"}, RegistryExpires: day.AddDate(2, 0, 0), PaidUntil: day.AddDate(2, 0, 1), Record: stored, ReadAt: day, State: "BY", Country: "DE"},
		Domain{ID: "dom_2", Name: "unread.com", Status: "active", RegistryStatus: []string{"serverHold"}},
		Domain{ID: "dom_3", Name: "undated.com", Status: "active", Record: stored},
		Domain{ID: "dom_4", Name: "unchanged.com", Status: "active", Record: &domainchange.Record{Created: day, Updated: day}},
	)
	record, err := service.Domain(t.Context(), "read.com")
	if err != nil {
		t.Fatal(err)
	}
	handle := record.Handle
	want := Record{
		Name: "read.com", TLD: ".com", Handle: handle, Statuses: []string{"client transfer prohibited"}, Registered: day, Changed: day.AddDate(0, 1, 0),
		Expires: day.AddDate(2, 0, 0), PaidUntil: day.AddDate(2, 0, 1), ReadAt: day, Delegated: true, Nameservers: stored.Nameservers, DS: stored.DS, State: "BY", Country: "DE",
	}
	if !reflect.DeepEqual(record, want) {
		t.Errorf("got %+v, want %+v", record, want)
	}
	if store.queries != 1 {
		t.Errorf("one lookup took %d queries", store.queries)
	}
	if unread, err := service.Domain(t.Context(), "unread.com"); err != nil || unread.Delegated || !slices.Equal(unread.Statuses, []string{"server hold"}) {
		t.Errorf("without a record: %+v, %v", unread, err)
	}
	if undated, err := service.Domain(t.Context(), "undated.com"); err != nil || !undated.Expires.Equal(stored.Expires) {
		t.Errorf("without a synced date: %+v, %v", undated, err)
	}
	if unchanged, err := service.Domain(t.Context(), "unchanged.com"); err != nil || !unchanged.Changed.IsZero() {
		t.Errorf("never changed: %+v, %v", unchanged, err)
	}
}

// Our own deletion is known before the registry is read again.
func TestDomain_DeletedDomainHasStatusesOfRedemption(t *testing.T) {
	service, _ := newService(t, Domain{
		ID: "dom_1", Name: "a.com", Status: registrar.DomainRedemption, Record: &domainchange.Record{Statuses: []string{"clientHold", "clientTransferProhibited"}},
	})
	record, err := service.Domain(t.Context(), "a.com")
	if want := []string{"pending delete", "redemption period"}; err != nil || !slices.Equal(record.Statuses, want) {
		t.Errorf("got %q, want %q, %v", record.Statuses, want, err)
	}
}

// A customer's domains can't be linked by their registrants' handles.
func TestRegistrant_HandlesOfOneOrderHaveNothingInCommon(t *testing.T) {
	now := time.Now()
	one := Domain{ID: registrar.NewID("dom_", now), Name: "one.com", Status: "active", Country: "DE"}
	two := Domain{ID: registrar.NewID("dom_", now), Name: "two.com", Status: "active", Country: "DE"}
	service, store := newService(t, one, two)
	first, err := service.Domain(t.Context(), "one.com")
	if err != nil {
		t.Fatal(err)
	}
	second, err := service.Domain(t.Context(), "two.com")
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(first.Handle) - 5 {
		if part := first.Handle[i : i+6]; strings.Contains(second.Handle, part) || strings.Contains(one.ID, part) {
			t.Errorf("%s is in %s or %s", part, second.Handle, one.ID)
		}
	}
	found, err := service.Registrant(t.Context(), first.Handle)
	if err != nil || found.Name != "one.com" || found.Handle != first.Handle {
		t.Errorf("the handle leads to %+v, %v", found, err)
	}
	store.queries = 0
	for _, guess := range []string{"", "1234", one.ID, two.ID, first.Handle + "A", first.Handle[1:], strings.ToUpper(first.Handle)} {
		if _, err := service.Registrant(t.Context(), guess); registrar.CodeOf(err) != NotFound {
			t.Errorf("%q: %v", guess, err)
		}
	}
	if store.queries != 0 {
		t.Errorf("guesses caused %d queries", store.queries)
	}
}

func TestDomain_DatabaseErrorIsInternal(t *testing.T) {
	service, store := newService(t)
	store.err = errors.New("a driver's text about a.com")
	if _, err := service.Domain(t.Context(), "a.com"); registrar.KindOf(err) != registrar.KindInternal || strings.Contains(err.Error(), "a.com") {
		t.Errorf("got %v", err)
	}
}

func TestPublicStatuses_AreValidCombinations(t *testing.T) {
	for _, test := range []struct {
		epp     string
		deleted bool
		want    string
	}{
		{"", false, "active"},
		{"ok", false, "active"},
		{"connect holderLocked Max", false, "active"}, // a registry's own
		{"ok addPeriod", false, "add period"},
		{"ok clientTransferProhibited", false, "client transfer prohibited"},
		{"inactive clientTransferProhibited clientTransferProhibited", false, "client transfer prohibited,inactive"},
		{"pendingTransfer clientTransferProhibited serverTransferProhibited clientHold", false, "client hold,pending transfer"},
		{"pendingTransfer pendingUpdate", false, "pending transfer"},
		{"pendingDelete redemptionPeriod serverHold", false, "pending delete,redemption period"},
		{"redemptionPeriod", false, "pending delete,redemption period"},
		{"pendingDelete pendingRestore", true, "pending delete,pending restore"},
		{"clientHold clientTransferProhibited", true, "pending delete,redemption period"},
		{"pendingDelete clientDeleteProhibited", false, "pending delete"},
	} {
		if got := strings.Join(publicStatuses(strings.Fields(test.epp), test.deleted), ","); got != test.want {
			t.Errorf("%q, deleted %v: got %q, want %q", test.epp, test.deleted, got, test.want)
		}
	}
}

// RFC 8056 separates EPP's words; only ok has another name.
func TestRDAPStatuses_FollowRFC8056(t *testing.T) {
	for epp, rdap := range rdapStatuses {
		var words strings.Builder
		for _, r := range epp {
			if r >= 'A' && r <= 'Z' {
				words.WriteByte(' ')
				r += 'a' - 'A'
			}
			words.WriteRune(r)
		}
		if want := words.String(); rdap != want && epp != "ok" {
			t.Errorf("%s: %q, want %q", epp, rdap, want)
		}
	}
	if len(rdapStatuses) != 23 {
		t.Errorf("%d statuses, want the 17 of RFC 5731 and 6 of RFC 3915", len(rdapStatuses))
	}
}
