package registrar_test

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// A domain's page lists the mails that are kept.
func TestMailKind_ConfirmationsAboutDomainsAreKept(t *testing.T) {
	t.Parallel()
	for _, kind := range []registrar.MailKind{
		registrar.MailDomainChanged, registrar.MailNameserversRefused, registrar.MailAuthCode, registrar.MailRenewalOff, registrar.MailRenewalHeld, registrar.MailLetExpire, registrar.MailWithdrawal, registrar.MailTermination,
	} {
		if !kind.IsNotice() {
			t.Errorf("%s is not kept", kind)
		}
	}
}
