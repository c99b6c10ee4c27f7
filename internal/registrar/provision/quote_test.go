package provision_test

import (
	"slices"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func newQuoteRequest(kind provision.Kind, label, tld string) provision.QuoteRequest {
	return provision.QuoteRequest{
		Customer: "cus_ada", Name: registrar.NewName(label, tld), Kind: kind,
		Extension: registrar.Extension{TLD: tld, MinYears: 2, MaxYears: 10, Requires: "eu_presence"},
	}
}

func TestQuote_StoresNothing(t *testing.T) {
	t.Parallel()
	env := newEnv(t, &fakeRegistry{missing: []string{"eu_presence"}})
	quote, err := env.Quote(t.Context(), newQuoteRequest(provision.Register, "neu", ".org"))
	if err != nil || quote.Account != "registry" || quote.Years != 2 || !slices.Equal(quote.Missing, []string{"eu_presence"}) {
		t.Errorf("%+v, %v", quote, err)
	}
	if len(env.store.items)+len(env.store.events)+len(env.store.domains) > 0 {
		t.Error("Quote wrote to the store")
	}
	query := env.registry.queries[0]
	if query.Name != "neu.org" || query.Requires != "eu_presence" || !query.HasRegistrant || query.Registrant.Country != "DE" {
		t.Errorf("registry query = %+v", query)
	}
}

func TestQuote_TransferTermIsWhatRegistryAdds(t *testing.T) {
	t.Parallel()
	for _, years := range []int{0, 1} {
		env := newEnv(t, &fakeRegistry{rules: provision.Rules{TransferYears: years}})
		quote, err := env.Quote(t.Context(), newQuoteRequest(provision.Transfer, "neu", ".org"))
		if err != nil || quote.Years != years {
			t.Errorf("%+v, %v", quote, err)
		}
		item, err := env.CreateItem(t.Context(), operator, provision.PaidItem{
			Customer: "cus_ada", Name: registrar.NewName("neu", ".org"), Extension: registrar.Extension{MinYears: 2},
			Kind: provision.Transfer, Payment: "manual:1", Code: "secret",
		})
		if err != nil || item.Years != years {
			t.Errorf("item.Years = %d, %v", item.Years, err)
		}
	}
}

func TestQuote_RejectsTermsNotSold(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind  provision.Kind
		years int
		want  registrar.Code
	}{
		{provision.Register, 0, ""},
		{provision.Register, 2, ""}, // the extension's shortest term
		{provision.Register, 1, provision.TermNotSold},
		{provision.Register, 5, ""}, // the registry's longest
		{provision.Register, 6, provision.TermNotSold},
		{provision.Transfer, 1, ""}, // what the registry adds
		{provision.Transfer, 2, provision.TermNotSold},
	} {
		env := newEnv(t, &fakeRegistry{rules: provision.Rules{TransferYears: 1, MaxYears: 5}})
		item := newQuoteRequest(test.kind, "neu", ".org")
		item.Years = test.years
		_, err := env.Quote(t.Context(), item)
		if registrar.CodeOf(err) != test.want || err != nil && registrar.KindOf(err) != registrar.KindInvalid {
			t.Errorf("%s for %d years: %v", test.kind, test.years, err)
		}
		if err != nil && len(env.registry.queries) > 0 {
			t.Errorf("%s for %d years: registry was queried", test.kind, test.years)
		}
	}
}

func TestQuote_HeldNameIsRefused(t *testing.T) {
	t.Parallel()
	for status, want := range map[registrar.DomainStatus]registrar.Code{
		"active": registrar.NameHeld, "pending": registrar.NameHeld, "redemption": registrar.NameHeld, "transferred_out": "",
	} {
		for _, kind := range []provision.Kind{provision.Register, provision.Transfer} {
			env := newEnv(t, &fakeRegistry{})
			env.store.domains["dom_1"] = provision.Domain{ID: "dom_1", Customer: "cus_ada", Name: "neu.org", Status: status}
			if _, err := env.Quote(t.Context(), newQuoteRequest(kind, "neu", ".org")); registrar.CodeOf(err) != want {
				t.Errorf("%s of a name that is %s: %v", kind, status, err)
			}
		}
	}
}

func TestQuote_RenewalNeedsOwnRenewableDomain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		domain provision.Domain
		want   registrar.Code
	}{
		"active":             {provision.Domain{Customer: "cus_ada", Status: "active", Account: "registry"}, ""},
		"expired":            {provision.Domain{Customer: "cus_ada", Status: "expired", Account: "registry"}, ""},
		"no account":         {provision.Domain{Customer: "cus_ada", Status: "active"}, ""},
		"another customer's": {provision.Domain{Customer: "cus_bob", Status: "active"}, provision.NotYours},
		"gone":               {provision.Domain{Customer: "cus_ada", Status: "transferred_out"}, provision.NotYours},
		"in redemption":      {provision.Domain{Customer: "cus_ada", Status: "redemption"}, provision.NotRenewable},
		"pending":            {provision.Domain{Customer: "cus_ada", Status: "pending"}, provision.NotRenewable},
		"removed account":    {provision.Domain{Customer: "cus_ada", Status: "active", Account: "former"}, registrar.NoRegistryAccount},
	} {
		env := newEnv(t, &fakeRegistry{})
		test.domain.ID, test.domain.Name = "dom_1", "neu.org"
		env.store.domains["dom_1"] = test.domain
		quote, err := env.Quote(t.Context(), newQuoteRequest(provision.Renew, "neu", ".org"))
		if registrar.CodeOf(err) != test.want || err == nil && (quote.Domain != "dom_1" || quote.Account != "registry" || quote.Years != 2) {
			t.Errorf("%s: %+v, %v", name, quote, err)
		}
	}
}

func TestQuote_RenewalTermIsUpToRegistrysLongest(t *testing.T) {
	t.Parallel()
	env := newEnv(t, &fakeRegistry{rules: provision.Rules{MaxYears: 5}})
	env.store.domains["dom_1"] = provision.Domain{ID: "dom_1", Name: "neu.org", Customer: "cus_ada", Status: "active", Account: "registry"}
	for years, want := range map[int]int{0: 2, 1: 0, 2: 2, 5: 5, 6: 0, -1: 0} { // the extension's shortest term is 2
		request := newQuoteRequest(provision.Renew, "neu", ".org")
		request.Years = years
		quote, err := env.Quote(t.Context(), request)
		if quote.Years != want || (want == 0) != (registrar.CodeOf(err) == provision.BadTerm) {
			t.Errorf("%d years: %+v, %v", years, quote, err)
		}
	}
}

// A domain may lie on hold for years until an operator decides.
func TestQuote_RenewalEndsInTheFuture(t *testing.T) {
	t.Parallel()
	env := newEnv(t, &fakeRegistry{rules: provision.Rules{MaxYears: 10}})
	env.store.domains["dom_1"] = provision.Domain{
		ID: "dom_1", Name: "neu.org", Customer: "cus_ada", Status: "expired", Account: "registry", PaidUntil: time.Now().AddDate(-2, 0, -20),
	}
	for years, want := range map[int]int{0: 4, 2: 0, 3: 0, 4: 4, 5: 5} { // the extension's shortest term is 2
		request := newQuoteRequest(provision.Renew, "neu", ".org")
		request.Years = years
		quote, err := env.Quote(t.Context(), request)
		if quote.Years != want || (want == 0) != (registrar.CodeOf(err) == provision.BadTerm) {
			t.Errorf("%d years: %+v, %v", years, quote, err)
		}
	}
}

func TestQuote_RefusalIsConflictOutageIsUpstream(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		answer error
		want   registrar.Kind
	}{
		{&registrar.Error{Kind: registrar.KindNotFound, Code: registrar.RegistryNotFound}, registrar.KindConflict},
		{&registrar.Error{Kind: registrar.KindForbidden, Code: registrar.OtherRegistrar}, registrar.KindConflict},
		{&registrar.Error{Kind: registrar.KindInvalid, Code: provision.WrongCode}, registrar.KindInvalid},
		{unreachable(), registrar.KindUpstream},
	} {
		env := newEnv(t, &fakeRegistry{availability: test.answer})
		_, err := env.Quote(t.Context(), newQuoteRequest(provision.Register, "neu", ".org"))
		if registrar.KindOf(err) != test.want || registrar.CodeOf(err) != registrar.CodeOf(test.answer) {
			t.Errorf("%v mapped to %v", test.answer, err)
		}
	}
	env := newEnv(t, &fakeRegistry{})
	if _, err := env.Quote(t.Context(), newQuoteRequest(provision.Register, "neu", ".xyz")); registrar.KindOf(err) != registrar.KindUnsupported {
		t.Errorf("unserved TLD: %v", err)
	}
}
