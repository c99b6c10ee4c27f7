package portal

import (
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/inquiry"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

func TestOperatorLists_OverdueIsMarkedAndFirst(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	erika := s.newMember("erika@example.org")
	inquiries, err := inquiry.New(inquiry.Config{Store: s.db, Now: s.clock.now})
	must(t, err)
	ask := func(about string, topic inquiry.Topic) {
		_, err := inquiries.Submit(t.Context(), registrar.Actor{Kind: registrar.ActorPerson}, inquiry.Inquiry{
			Name: "Erika Muster", Email: "erika@example.org", Topic: topic, About: about, Message: "Frage",
		})
		must(t, err)
	}
	work := func(age string) {
		s.submitNotice(withdrawal.Notice{Kind: withdrawal.Withdrawal, Contract: age + "-widerruf"})
		s.submitNotice(withdrawal.Notice{Kind: withdrawal.Termination, Contract: age + "-kuendigung", Ground: withdrawal.Ordinary, End: s.clock.now().AddDate(0, 0, 10).Format(time.DateOnly)})
		ask(age+"-frage", "other")
		s.storeDispute("du_"+age, dispute.NeedsResponse)
		s.requestTransferAway(erika.ID, age+"-umzug", ".org")
	}
	ask("alt-auskunft", "privacy") // older, but due in a month
	work("alt")
	s.clock.advance(20 * 24 * time.Hour)
	work("neu")
	_, b := s.operatorBrowser("ops@example.org")
	for path, test := range map[string]struct {
		overdue string
		marks   int
		order   []string
	}{
		"/operator/notices":            {">überfällig<", 2, []string{"alt-kuendigung", "alt-widerruf", "neu-kuendigung", "neu-widerruf"}},
		"/operator/inquiries":          {">überfällig<", 1, []string{"alt-frage", "neu-frage", "alt-auskunft"}},
		"/operator/disputes":           {">überfällig<", 1, []string{"du_alt", "du_neu"}},
		"/operator/outgoing-transfers": {">überfällig<", 1, []string{"alt-umzug.org", "neu-umzug.org"}},
	} {
		page := b.get(path).body
		if got := strings.Count(page, test.overdue); got != test.marks {
			t.Errorf("%s marks %d: %s", path, got, page)
		}
		for i := 1; i < len(test.order); i++ {
			if first, second := strings.Index(page, test.order[i-1]), strings.Index(page, test.order[i]); first < 0 || second < first {
				t.Errorf("%s does not list %s before %s: %s", path, test.order[i-1], test.order[i], page)
			}
		}
	}
	home := b.get("/operator").body
	if strings.Count(home, ">überfällig<") != 4 || strings.Index(home, "du_alt") > strings.Index(home, "du_neu") {
		t.Errorf("home: %s", home)
	}
}
