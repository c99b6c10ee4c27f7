package testkit

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

// consistentState has a registered and a failed item.
func consistentState() RegistryState {
	return RegistryState{
		Items: []provision.Item{
			{ID: "prv_1", Customer: "cus_1", Name: "good.org", State: provision.StateActive, Domain: "dom_1", Handle: "DK1"},
			{ID: "prv_2", Customer: "cus_1", Name: "bad.org", State: provision.StateFailed, Domain: "dom_2", Failure: "taken", RefundDue: true},
		},
		Domains: []provision.Domain{{ID: "dom_1", Customer: "cus_1", Name: "good.org", Status: "active", PaidUntil: time.Unix(1, 0)}},
		Registry: ledger.Sponsored{
			Domains:  []*ledger.Domain{{Name: "good.org", Registrant: "DK1", Expires: time.Unix(1, 0)}},
			Contacts: []*ledger.Contact{{ID: "DK1"}},
		},
	}
}

func TestProblems_NoneWhenConsistent(t *testing.T) {
	t.Parallel()
	if problems := consistentState().Problems(); len(problems) != 0 {
		t.Error(problems)
	}
}

func TestProblems_FindsEveryInconsistency(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(*RegistryState){
		"good.org is active, but not registered": func(b *RegistryState) { b.Registry.Domains = nil },
		"good.org is active and marked":          func(b *RegistryState) { b.Items[0].RefundDue = true },
		"good.org is active, but the customer":   func(b *RegistryState) { b.Domains[0].Status = "pending" },
		"in phase \"pendingCreate\"":             func(b *RegistryState) { b.Registry.Domains[0].Phase = ledger.PendingCreate },
		"for \"OTHER\" and not for \"DK1\"":      func(b *RegistryState) { b.Registry.Domains[0].Registrant = "OTHER" },
		"bad.org failed without a refund":        func(b *RegistryState) { b.Items[1].RefundDue = false },
		"bad.org failed, but the customer":       func(b *RegistryState) { b.Domains = append(b.Domains, provision.Domain{ID: "dom_2"}) },
		"bad.org is still undoing":               func(b *RegistryState) { b.Items[1].State = provision.StateUndoing },
		"good.org was paid for 2 times":          func(b *RegistryState) { b.Items = append(b.Items, b.Items[0]) },
		"holds bad.org, which is unknown here": func(b *RegistryState) {
			b.Registry.Domains = append(b.Registry.Domains, &ledger.Domain{Name: "bad.org"})
		},
		"the contact DK2 of no active item": func(b *RegistryState) { b.Registry.Contacts = append(b.Registry.Contacts, &ledger.Contact{ID: "DK2"}) },
		"the contact DK1 is unused":         func(b *RegistryState) { b.Registry.Unused = []string{"DK1"} },
	} {
		state := consistentState()
		spoil(&state)
		if problems := strings.Join(state.Problems(), "\n"); !strings.Contains(problems, want) {
			t.Errorf("%q is not found: %s", want, problems)
		}
	}
}

func TestFindPersonalData_IgnoresCase(t *testing.T) {
	t.Parallel()
	found := FindPersonalData([]string{"Marlene Petersen", "", "+49.40"}, map[string]string{"GET /a": "holder: MARLENE PETERSEN", "GET /b": "nobody", "GET /c": "tel +49.40"})
	if want := []string{`GET /a contains "Marlene Petersen"`, `GET /c contains "+49.40"`}; !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
}

func TestProblems_RenewalNeedsExistingDomain(t *testing.T) {
	t.Parallel()
	state := consistentState()
	state.Items = append(state.Items,
		provision.Item{ID: "prv_3", Customer: "cus_1", Name: "good.org", Kind: provision.Renew, State: provision.StateActive, Domain: "dom_1"},
		provision.Item{ID: "prv_4", Customer: "cus_1", Name: "good.org", Kind: provision.Renew, State: provision.StateFailed, Domain: "dom_1", Failure: "refused", RefundDue: true})
	if problems := state.Problems(); len(problems) != 0 {
		t.Error(problems)
	}
	state.Registry.Domains[0].Expires = time.Unix(1, 0).AddDate(1, 0, 0)
	if problems := state.Problems(); len(problems) != 1 || !strings.Contains(problems[0], "is paid until") {
		t.Errorf("found %q, want a different term at the registry", problems)
	}
	state.Items[3].State = provision.StateRequested
	state.Items[2].Domain = "dom_9"
	if problems := state.Problems(); len(problems) != 2 {
		t.Errorf("found %q, want both renewals", problems)
	}
}
