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
	for name, test := range map[string]struct {
		view domainchange.View
		want bool
	}{
		"registered here":      {domainchange.View{}, false},
		"transferred":          {domainchange.View{AuditEvents: received}, true},
		"changed since":        {domainchange.View{AuditEvents: received, Changes: change(domainchange.StatusDone)}, false},
		"no contact in record": {domainchange.View{AuditEvents: received, HasRecord: true}, true},
		"no contacts at registry": {domainchange.View{
			AuditEvents: received, HasRecord: true, Closed: map[domainchange.ChangeKind]registrar.Code{domainchange.UpdateRegistrant: domainchange.NoContacts},
		}, false},
	} {
		if got := holderKept(test.view); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
