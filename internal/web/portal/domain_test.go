package portal

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func TestDomain_TransferredKeepsHolderUntilItIsChanged(t *testing.T) {
	t.Parallel()
	received := []registrar.AuditEvent{{Action: provision.ActionReceived}}
	change := func(state domainchange.ChangeStatus) []domainchange.Change {
		return []domainchange.Change{{Kind: domainchange.UpdateRegistrant, State: state}}
	}
	stored := domainchange.Capabilities{Contacts: true}
	for name, test := range map[string]struct {
		view domainchange.View
		want bool
	}{
		"registered here":         {domainchange.View{Capabilities: stored}, false},
		"transferred":             {domainchange.View{Capabilities: stored, AuditEvents: received}, true},
		"refused by the registry": {domainchange.View{Capabilities: stored, AuditEvents: received, Changes: change(domainchange.StatusRefused)}, true},
		"changed since":           {domainchange.View{Capabilities: stored, AuditEvents: received, Changes: change(domainchange.StatusDone)}, false},
		"no contact in record":    {domainchange.View{Capabilities: stored, AuditEvents: received, HasRecord: true}, true},
		"no contacts at registry": {domainchange.View{AuditEvents: received, HasRecord: true}, false},
	} {
		if got := holderKept(test.view); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
