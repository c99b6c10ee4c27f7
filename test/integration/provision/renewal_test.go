package provision

import (
	"slices"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
)

// registerDomain registers a name for the customer.
func (s *env) registerDomain(t *testing.T, label, tld string) provision.Domain {
	t.Helper()
	item, err := s.service.CreateItem(t.Context(), operator, provision.PaidItem{
		Customer: customerID, Name: registrar.NewName(label, tld), Kind: provision.Register, Payment: "manual:first",
	})
	if err != nil {
		t.Fatal(err)
	}
	s.waitForState(t, item.ID, provision.StateActive)
	return s.storedDomain(t, item.Name)
}

func (s *env) storedDomain(t *testing.T, name string) provision.Domain {
	t.Helper()
	domain, found, err := s.db.DomainByName(t.Context(), name)
	if err != nil || !found {
		t.Fatal(name, found, err)
	}
	return domain
}

func (s *env) renewDomain(t *testing.T, label, tld, payment string) provision.Item {
	t.Helper()
	item, err := s.service.CreateItem(t.Context(), operator, provision.PaidItem{
		Customer: customerID, Name: registrar.NewName(label, tld), Kind: provision.Renew, Payment: "manual:" + payment,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.waitForState(t, item.ID, provision.StateActive, provision.StateFailed)
}

// registryExpiry returns the registry's expiry date.
func (s *env) registryExpiry(t *testing.T, name string) time.Time {
	t.Helper()
	for _, domain := range s.world.Sponsored(registry.ProductAccount).Domains {
		if domain.Name == name {
			return domain.Expires
		}
	}
	t.Fatalf("registry does not have %s for us", name)
	return time.Time{}
}

func TestRenew_ExtendsPaidTermAndRegistry(t *testing.T) {
	t.Parallel()
	for _, tld := range []string{".com", ".org"} {
		t.Run(tld, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t)
			before := s.registerDomain(t, "verlaengert", tld)
			if item := s.renewDomain(t, "verlaengert", tld, "second"); item.State != provision.StateActive || !item.RenewFrom.Equal(before.RegistryExpires) {
				t.Fatalf("item = %+v", item)
			}
			after := s.storedDomain(t, before.Name)
			if want := before.PaidUntil.AddDate(1, 0, 0); !after.PaidUntil.Equal(want) || after.Status != "active" {
				t.Errorf("paid until %s, want %s", after.PaidUntil, want)
			}
			if expires := s.registryExpiry(t, before.Name); !expires.Equal(after.RegistryExpires) || expires.Before(after.PaidUntil) {
				t.Errorf("registry expiry %s, stored %s", expires, after.RegistryExpires)
			}
		})
	}
}

func TestRenew_AfterAutoRenewOnlyPaidTermGrows(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	before := s.registerDomain(t, "von-selbst", ".com")
	if err := s.world.Advance(before.PaidUntil.AddDate(0, 0, 3).Sub(s.world.Now())); err != nil {
		t.Fatal(err)
	}
	expires := s.registryExpiry(t, before.Name)
	if !expires.After(before.PaidUntil.AddDate(0, 11, 0)) {
		t.Fatalf("registry did not auto-renew, expiry %s", expires)
	}
	s.renewDomain(t, "von-selbst", ".com", "second")
	if after := s.storedDomain(t, before.Name); !after.PaidUntil.Equal(before.PaidUntil.AddDate(1, 0, 0)) || !s.registryExpiry(t, before.Name).Equal(expires) {
		t.Errorf("paid until %s, registry expiry %s", after.PaidUntil, s.registryExpiry(t, before.Name))
	}
	// The next one is renewed by command again.
	s.renewDomain(t, "von-selbst", ".com", "third")
	if got := s.registryExpiry(t, before.Name); !got.Equal(expires.AddDate(1, 0, 0)) {
		t.Errorf("second renewal: registry expiry %s", got)
	}
}

func TestRenew_ManuallyAddedDomain(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	registered := s.registerDomain(t, "mitgebracht", ".net")
	if err := s.replaceWithManualDomain(t, registered.ID); err != nil {
		t.Fatal(err)
	}
	if item := s.renewDomain(t, "mitgebracht", ".net", "second"); item.State != provision.StateActive || item.Account != "sandbox" {
		t.Errorf("item = %+v", item)
	}
}

func TestRenew_ExpiredDomainLeavesHold(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC().Truncate(time.Second)
	paid := now.AddDate(0, 0, -10)
	s := newEnv(t, registry.SeedDomain{
		Name: "stillgelegt.com", Registrar: "dotkontor Sandbox", Statuses: []string{"clientHold", "autoRenewPeriod"},
		Created: paid.AddDate(-3, 0, 0), Expires: paid.AddDate(1, 0, 0), Nameservers: []string{"ns1.example.net"},
	})
	if err := s.db.AddDomain(t.Context(), portfolio.Domain{
		ID: "dom_expired", Customer: customerID, Name: "stillgelegt.com", TLD: ".com", Status: registrar.DomainExpired, PaidUntil: paid,
		CreatedAt: now, UpdatedAt: now,
	}, registrar.AuditEvent{Actor: operator, Action: portfolio.DomainAdded, Customer: customerID, At: now}); err != nil {
		t.Fatal(err)
	}
	onHold := func() bool {
		for _, domain := range s.world.Sponsored(registry.ProductAccount).Domains {
			if domain.Name == "stillgelegt.com" {
				return slices.Contains(domain.Locks, "clientHold")
			}
		}
		t.Fatal("registry does not have the domain")
		return false
	}
	if !onHold() {
		t.Fatal("domain is not on hold")
	}
	was := s.storedDomain(t, "stillgelegt.com")
	synced := was
	synced.RegistryStatus = []string{"autoRenewPeriod", "clientHold"}
	if updated, err := s.db.UpdateDomainFromRegistry(t.Context(), was, synced, nil); err != nil || !updated {
		t.Fatalf("updated %t, %v", updated, err)
	}
	s.renewDomain(t, "stillgelegt", ".com", "second")
	if domain := s.storedDomain(t, "stillgelegt.com"); domain.Status != "active" || slices.Contains(domain.RegistryStatus, "clientHold") || domain.SyncDue.After(time.Now()) || !domain.PaidUntil.Equal(paid.AddDate(1, 0, 0)) || onHold() {
		t.Errorf("%+v, on hold %t", domain, onHold())
	}
	if expires := s.registryExpiry(t, "stillgelegt.com"); !expires.Equal(paid.AddDate(1, 0, 0)) {
		t.Errorf("renewed twice, until %s", expires)
	}
}

func TestRestore_DeletedDomainIsPaidIntoFuture(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC().Truncate(time.Second)
	for name, test := range map[string]struct {
		paid  time.Time
		years int
	}{
		"during the term": {now.AddDate(0, 3, 0), 0},
		"after its end":   {now.AddDate(0, 0, -40), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t, registry.SeedDomain{
				Name: "geloescht.com", Registrar: "dotkontor Sandbox", Statuses: []string{"redemptionPeriod", "pendingDelete"},
				Created: test.paid.AddDate(-3, 0, 0), Expires: test.paid, Nameservers: []string{"ns1.example.net"},
			})
			if err := s.db.AddDomain(t.Context(), portfolio.Domain{
				ID: "dom_deleted", Customer: customerID, Name: "geloescht.com", TLD: ".com", Status: registrar.DomainRedemption, PaidUntil: test.paid,
				CreatedAt: now, UpdatedAt: now,
			}, registrar.AuditEvent{Actor: operator, Action: portfolio.DomainAdded, Customer: customerID, At: now}); err != nil {
				t.Fatal(err)
			}
			request := provision.QuoteRequest{Customer: customerID, Name: registrar.NewName("geloescht", ".com"), Extension: registrar.Extension{TLD: ".com"}, Kind: provision.Renew}
			if _, err := s.service.Quote(t.Context(), request); registrar.CodeOf(err) != provision.NotRenewable {
				t.Errorf("a renewal: %v", err)
			}
			request.Kind = provision.Restore
			if quote, err := s.service.Quote(t.Context(), request); err != nil || quote.Years != test.years || quote.Domain != "dom_deleted" {
				t.Fatalf("quote = %+v, %v", quote, err)
			}
			item, err := s.service.CreateItem(t.Context(), operator, provision.PaidItem{Customer: customerID, Name: request.Name, Kind: provision.Restore, Payment: "manual:restore"})
			if err != nil {
				t.Fatal(err)
			}
			if item = s.waitForState(t, item.ID, provision.StateActive, provision.StateFailed); item.State != provision.StateActive {
				t.Fatalf("item = %+v", item)
			}
			domain, until := s.storedDomain(t, "geloescht.com"), test.paid.AddDate(test.years, 0, 0)
			if domain.Status != registrar.DomainActive || !domain.PaidUntil.Equal(until) || !until.After(now) {
				t.Errorf("restored as %+v", domain)
			}
			if expires := s.registryExpiry(t, "geloescht.com"); !expires.Equal(until) {
				t.Errorf("the registry has it until %s, want %s", expires, until)
			}
			if got := s.service.SyncDomain(t.Context(), domain); got.Err != nil || len(got.Drift) > 0 || got.Domain.Status != registrar.DomainActive {
				t.Errorf("after the restore: %+v", got)
			}
			if _, err := s.service.Quote(t.Context(), request); registrar.CodeOf(err) != provision.NotRestorable {
				t.Errorf("restoring it again: %v", err)
			}
		})
	}
}

func TestRestore_SuspendedDomainLosesStatusesOfDeletion(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC().Truncate(time.Second)
	paid := now.AddDate(0, 3, 0)
	s := newEnv(t, registry.SeedDomain{
		Name: "gesperrt.com", Registrar: "dotkontor Sandbox", Statuses: []string{"clientHold", "redemptionPeriod", "pendingDelete"},
		Created: paid.AddDate(-3, 0, 0), Expires: paid, Nameservers: []string{"ns1.example.net"},
	})
	s.suspended.Store(true)
	if err := s.db.AddDomain(t.Context(), portfolio.Domain{
		ID: "dom_suspended", Customer: customerID, Name: "gesperrt.com", TLD: ".com", Status: registrar.DomainRedemption, PaidUntil: paid,
		CreatedAt: now, UpdatedAt: now,
	}, registrar.AuditEvent{Actor: operator, Action: portfolio.DomainAdded, Customer: customerID, At: now}); err != nil {
		t.Fatal(err)
	}
	was := s.storedDomain(t, "gesperrt.com")
	synced := was
	synced.RegistryStatus = []string{"clientHold", "pendingDelete", "redemptionPeriod"}
	if updated, err := s.db.UpdateDomainFromRegistry(t.Context(), was, synced, nil); err != nil || !updated {
		t.Fatalf("updated %t, %v", updated, err)
	}
	item, err := s.service.CreateItem(t.Context(), operator, provision.PaidItem{
		Customer: customerID, Name: registrar.NewName("gesperrt", ".com"), Kind: provision.Restore, Payment: "manual:restore",
	})
	if err != nil {
		t.Fatal(err)
	}
	if item = s.waitForState(t, item.ID, provision.StateActive, provision.StateFailed); item.State != provision.StateActive {
		t.Fatalf("item = %+v", item)
	}
	if domain := s.storedDomain(t, "gesperrt.com"); !slices.Equal(domain.RegistryStatus, []string{"clientHold"}) || domain.SyncDue.After(time.Now()) {
		t.Errorf("restored with %q, compared on %s", domain.RegistryStatus, domain.SyncDue)
	}
}

// replaceWithManualDomain replaces a domain by one added by an operator.
func (s *env) replaceWithManualDomain(t *testing.T, id string) error {
	t.Helper()
	domain := provision.Domain{}
	all, err := s.db.ListDomainsAfter(t.Context(), "", 10)
	if err != nil {
		return err
	}
	for _, one := range all {
		if one.ID == id {
			domain = one
		}
	}
	gone := domain
	gone.Status = "transferred_out"
	if _, err := s.db.UpdateDomainFromRegistry(t.Context(), domain, gone, nil); err != nil {
		return err
	}
	return s.db.AddDomain(t.Context(), portfolio.Domain{
		ID: "dom_entered", Customer: customerID, Name: domain.Name, TLD: domain.TLD, Status: registrar.DomainActive,
		PaidUntil: domain.PaidUntil, CreatedAt: time.Now(), UpdatedAt: time.Now(),
	}, registrar.AuditEvent{Actor: operator, Action: portfolio.DomainAdded, Customer: customerID, At: time.Now()})
}

func TestQuote_ChecksTheRegistry(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.registerDomain(t, "schon-meins", ".org")
	for _, test := range []struct {
		kind    provision.Kind
		label   string
		tld     string
		code    string
		want    registrar.Code
		years   int
		missing string
		fee     string
	}{
		{kind: provision.Register, label: "noch-frei", tld: ".org", years: 1},
		{kind: provision.Register, label: "google", tld: ".org", want: provision.NameTaken},
		{kind: provision.Register, label: "premium-name", tld: ".org", years: 1, fee: "250.00 EUR"},
		{kind: provision.Register, label: "schon-meins", tld: ".org", want: registrar.NameHeld},
		{kind: provision.Transfer, label: "transfer-haus", tld: ".com", code: "auth-transfer-haus", years: 1},
		{kind: provision.Transfer, label: "transfer-haus", tld: ".com", years: 1, missing: provision.NeedCode},
		{kind: provision.Transfer, label: "transfer-haus", tld: ".com", code: "auth-falsch", want: provision.WrongCode},
		{kind: provision.Transfer, label: "transfer-haus", tld: ".de", code: "auth-transfer-haus", years: 0},
		{kind: provision.Transfer, label: "transfer-haus", tld: ".nl", code: "auth-transfer-haus", years: 0},
		{kind: provision.Transfer, label: "google", tld: ".com", code: "auth-google", want: provision.Locked},
		{kind: provision.Transfer, label: "noch-frei", tld: ".com", code: "egal-was-hier", want: provision.NotRegistered},
		{kind: provision.Transfer, label: "schon-meins", tld: ".org", want: registrar.NameHeld},
		{kind: provision.Renew, label: "schon-meins", tld: ".org", years: 1},
		{kind: provision.Renew, label: "google", tld: ".org", want: provision.NotYours},
	} {
		quote, err := s.service.Quote(t.Context(), provision.QuoteRequest{
			Customer: customerID, Name: registrar.NewName(test.label, test.tld), Kind: test.kind, Code: test.code,
		})
		missing := ""
		if len(quote.Missing) > 0 {
			missing = quote.Missing[0]
		}
		if registrar.CodeOf(err) != test.want || err == nil && (quote.Years != test.years || quote.PremiumFee.String() != test.fee || missing != test.missing || quote.Account != "sandbox") {
			t.Errorf("%s %s%s: %+v, %v", test.kind, test.label, test.tld, quote, err)
		}
	}
}
