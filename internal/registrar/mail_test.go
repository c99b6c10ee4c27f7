package registrar_test

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// A domain's page lists the mails that are kept.
func TestMailKind_ConfirmationsAboutDomainsAreKept(t *testing.T) {
	t.Parallel()
	for _, kind := range []registrar.MailKind{
		registrar.MailDomainChanged, registrar.MailNameserversRefused, registrar.MailNameserversCanceled, registrar.MailAuthCode, registrar.MailRenewalOff, registrar.MailRenewalHeld, registrar.MailLetExpire, registrar.MailDomainLock, registrar.MailWithdrawal, registrar.MailTermination,
	} {
		if !kind.IsNotice() {
			t.Errorf("%s is not kept", kind)
		}
	}
}

func TestJoinMails_LinesMayHaveOccurredAtDifferentTimes(t *testing.T) {
	t.Parallel()
	line := func(name, at string) map[string]string {
		return map[string]string{"domain": name, registrar.MailOccurredAt: at, "after": "Max"}
	}
	joined, ok := registrar.JoinMails(line("a.de", "2027-02-01T12:00:00Z"), line("b.de", "2027-02-01T12:00:07Z"))
	if !ok || joined["items"] != "2" || joined[registrar.MailOccurredAt] != "2027-02-01T12:00:00Z" {
		t.Errorf("%t, %v", ok, joined)
	}
}
