package renewal

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

func TestLiftedExpiry_OnlyTheLastChoiceOfTheRenewedTermCounts(t *testing.T) {
	t.Parallel()
	const renewed = provision.ActionRenewed
	for name, test := range map[string]struct {
		actions []registrar.Action // the newest first
		want    bool
	}{
		"never chosen":           {[]registrar.Action{renewed, ActionOff, ActionOn}, false},
		"chosen":                 {[]registrar.Action{renewed, ActionLetExpire, ActionOn}, true},
		"terminated":             {[]registrar.Action{renewed, withdrawal.ContractTerminated}, true},
		"taken back":             {[]registrar.Action{renewed, ActionKeep, ActionLetExpire}, false},
		"chosen in another term": {[]registrar.Action{renewed, renewed, ActionLetExpire}, false},
		"chosen afterwards":      {[]registrar.Action{ActionLetExpire, renewed}, false},
		"not renewed yet":        {[]registrar.Action{ActionLetExpire}, false},
	} {
		var events []registrar.AuditEvent
		for _, action := range test.actions {
			events = append(events, registrar.AuditEvent{Action: action})
		}
		if got := expiryLifted(events); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
