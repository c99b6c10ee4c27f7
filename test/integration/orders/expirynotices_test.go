package orders

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit"
)

// newSingleProcessEnv runs product and sandbox in one process with one clock.
func newSingleProcessEnv(t *testing.T) *env {
	t.Helper()
	folder := t.TempDir()
	info := filepath.Join(folder, "info.json")
	sandbox, err := testkit.Start(t.Context(), testkit.Command{
		Path: binary, Args: []string{"sandbox", "--listen", "127.0.0.1:0", "--data", filepath.Join(folder, "data"), "--info", info},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sandbox.Stop(); err != nil {
			t.Error(err)
		}
	})
	s := &env{t: t, base: sandbox.Ready}
	if s.SandboxInfo, err = testkit.ReadSandboxInfo(info); err != nil {
		t.Fatal(err)
	}
	if s.world, err = testkit.FindWorld(filepath.Join(folder, "data")); err != nil {
		t.Fatal(err)
	}
	return s
}

// mailSubjects counts the mails to the demo customer that mention a domain, by subject.
func (s *env) mailSubjects(domain string) map[string]int {
	s.t.Helper()
	found := map[string]int{}
	for _, mail := range s.mails(s.Demo.Email) {
		if strings.Contains(mail.Text, domain) {
			found[mail.Subject]++
		}
	}
	return found
}

func TestExpiryNotices_SentThreeTimes(t *testing.T) {
	t.Parallel()
	s := newSingleProcessEnv(t)
	const domain = "elbblick-roesterei.com" // paid for 45 days when the sandbox starts
	for _, step := range []struct {
		days    int
		subject string
		status  string
	}{
		{20, domain + " läuft am", "active"},
		{20, "Noch ", "active"},
		{6, domain + " ist am", "expired"},
	} {
		if err := s.world.Advance(t.Context(), time.Duration(step.days)*24*time.Hour); err != nil {
			t.Fatal(err)
		}
		testkit.Eventually(t, "mail "+step.subject, func() bool {
			for subject := range s.mailSubjects(domain) {
				if strings.HasPrefix(subject, step.subject) {
					return true
				}
			}
			return false
		})
		if got := s.domainStatus(domain); got != step.status {
			t.Errorf("after %q it is %q", step.subject, got)
		}
	}
	s.waitForMailText(s.Demo.Email, "endet in wenigen Tagen", domain, "/portal/domains/", "Die Verlängerung kostet derzeit ", " EUR inkl. 19 % USt. für 1 Jahr")
	for subject, times := range s.mailSubjects(domain) {
		if times != 1 {
			t.Errorf("%q came %d times", subject, times)
		}
	}
}

// domainStatus returns a domain's status from list_my_domains.
func (s *env) domainStatus(domain string) string {
	s.t.Helper()
	domains, failed := s.listDomains("list_my_domains")
	if failed {
		s.t.Fatal("list_my_domains failed")
	}
	for _, one := range domains {
		if one.Domain == domain {
			return one.Status
		}
	}
	return ""
}
