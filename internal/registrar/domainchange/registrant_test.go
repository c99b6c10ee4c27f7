package domainchange

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestRegistrantNotice_HasBusinessTimeOfCustomersMail(t *testing.T) {
	t.Parallel()
	change := Change{Name: "kunde.org", Kind: UpdateRegistrant, UpdatedAt: time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)}
	notice, mail := registrantNotice(change, "max@kunde.example", registrar.Registrant{Name: "Max"}, registrar.Registrant{Name: "Eva"}), changeMail(change)
	if at := notice.Data[registrar.MailOccurredAt]; at == "" || at != mail.Data[registrar.MailOccurredAt] {
		t.Errorf("the holder's mail has %q, the customer's %q", at, mail.Data[registrar.MailOccurredAt])
	}
}
