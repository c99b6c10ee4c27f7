package domains

import (
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/test/testkit"
)

func TestContactCheck_LaterDomainOfOpenCheckIsMailedWithAllDomains(t *testing.T) {
	t.Parallel()
	s := newContactEnv(t, "eins.org", "zwei.org", "drei.org", "vier.org")
	s.giveToClient("eins.org")
	first := s.wantMails(registrar.MailContactCheck, clientAddress, 1)[0]
	s.giveToClient("zwei.org")
	second := s.wantMails(registrar.MailContactCheck, clientAddress, 2)[1]
	if second.Data["item1_name"]+" "+second.Data["item2_name"] != "eins.org zwei.org" && second.Data["item1_name"]+" "+second.Data["item2_name"] != "zwei.org eins.org" || second.Data["due"] != first.Data["due"] || second.Language != first.Language {
		t.Errorf("%+v", second)
	}
	// The next one waits, and gathers what comes until then.
	s.giveToClient("drei.org")
	s.giveToClient("vier.org")
	queued := func() string {
		var data string
		_ = s.db.SQL().Reader().QueryRowContext(t.Context(), `SELECT data FROM mails WHERE kind = 'contact_check'`).Scan(&data)
		return data
	}
	testkit.Eventually(t, "the next mail names all domains", func() bool {
		return strings.Contains(queued(), `"domains":"4"`) && strings.Contains(queued(), "drei.org") && strings.Contains(queued(), "vier.org")
	})
	s.wantMails(registrar.MailContactCheck, clientAddress, 2)
}

func TestContactCheck_MailsKeepLanguageOfTheFirst(t *testing.T) {
	t.Parallel()
	s := newContactEnv(t, "kunde.org")
	s.giveToClient("kunde.org")
	first := s.wantMails(registrar.MailContactCheck, clientAddress, 1)[0]
	_, err := s.db.SQL().Writer().ExecContext(t.Context(), `UPDATE customers SET language = CASE WHEN language = 'en' THEN 'de' ELSE 'en' END`)
	must(t, err)
	s.advance(5)
	if reminder := s.wantMails(registrar.MailContactCheck, clientAddress, 2)[1]; reminder.Language != first.Language {
		t.Errorf("first %q, reminder %q", first.Language, reminder.Language)
	}
}

// wantReminder returns the nth notice to the client. The first may be two mails if their domains did
// not come together.
func (s *contactEnv) wantReminder(notice string) (reminder mailer.Message) {
	s.t.Helper()
	testkit.Eventually(s.t, "notice "+notice, func() bool {
		mails := s.mailed(registrar.MailContactCheck, clientAddress)
		at := slices.IndexFunc(mails, func(m mailer.Message) bool { return m.Data["notice"] == notice })
		if at >= 0 {
			reminder = mails[at]
		}
		return at >= 0
	})
	return reminder
}
