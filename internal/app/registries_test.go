package app

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
)

func TestEPPPolicy_ConfigurationOverridesContactRules(t *testing.T) {
	t.Parallel()
	account := config.EPP{Extensions: []string{"*"}, Policy: []config.EPPPolicy{
		{Extensions: []string{".eu"}, RegistrarContact: "OWN-TECH"},
		{Extensions: []string{".at"}, Addresses: "both"},
	}}
	if policy := eppPolicy(account, ".eu"); policy.RegistrarContact != "OWN-TECH" || policy.Contact.Postal != epp.PostalLocal || policy.Contact.Type != epp.TypeEURid {
		t.Errorf(".eu: %+v", policy)
	}
	if policy := eppPolicy(account, ".at"); policy.RegistrarContact != "" || policy.Contact.Postal != epp.PostalBoth {
		t.Errorf(".at: %+v", policy)
	}
	greek := registrar.Registrant{Name: "Ελένη", Street: "Hauptstr. 1", PostalCode: "10115", City: "Berlin", Country: "DE", Phone: "+49.301", Email: "a@example.org"}
	for addresses, want := range map[string]registrar.Code{"": "registrant_name_script", "both": ""} {
		account.Policy[1].Addresses = addresses
		registries := &Registries{accounts: []config.EPP{account}}
		if got := registrar.CodeOf(registries.checkRegistrant(".at", greek)); got != want {
			t.Errorf("addresses %q: %q, want %q", addresses, got, want)
		}
	}
	if err := (&Registries{}).checkRegistrant(".at", greek); err != nil {
		t.Errorf("without an account: %v", err)
	}
}
