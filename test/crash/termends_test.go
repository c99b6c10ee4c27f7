package crash_test

import (
	"slices"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
	"github.com/dotkontor/dotkontor/test/crash"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// execute changes the database as the passage of time would.
func execute(t *testing.T, env *crash.Env, statement string, args ...any) {
	t.Helper()
	if _, err := env.DB.SQL().Writer().ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

// waitForTerm runs the product until the unpaid term of a domain has a state and its notice
// was sent.
func waitForTerm(t *testing.T, env *crash.Env, domain provision.Domain, end time.Time, want lifecycle.State, notice registrar.MailKind) lifecycle.Term {
	t.Helper()
	server, err := env.Serve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}()
	var term lifecycle.Term
	testkit.Eventually(t, "unpaid term "+string(want), func() bool {
		if term, _, err = env.DB.GetTerm(t.Context(), domain.ID, end); err != nil {
			t.Fatal(err)
		}
		return term.State == want && len(sentNotices(t, env, domain, notice)) > 0
	})
	return term
}

// wantOnce checks that an action was audited and notified once.
func wantOnce(t *testing.T, env *crash.Env, domain provision.Domain, action registrar.Action, kind registrar.MailKind, failpoint string) {
	t.Helper()
	events, err := env.DB.ListObjectAuditEvents(t.Context(), domain.Customer, domain.Name, 100)
	if err != nil {
		t.Fatal(err)
	}
	events = slices.DeleteFunc(events, func(event registrar.AuditEvent) bool { return event.Action != action })
	if len(events) != 1 {
		t.Errorf("after a kill at %s: %d events %s", failpoint, len(events), action)
	}
	if sent := sentNotices(t, env, domain, kind); len(sent) != 1 || !sent[0].Accepted {
		t.Errorf("after a kill at %s: notices %s: %+v", failpoint, kind, sent)
	}
}

func sentNotices(t *testing.T, env *crash.Env, domain provision.Domain, kind registrar.MailKind) []lifecycle.SentNotice {
	t.Helper()
	sent, err := env.DB.ListSentNoticesOfDomain(t.Context(), domain.ID, 100)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(sent, func(notice lifecycle.SentNotice) bool { return notice.Kind != kind })
}

func TestKill_UnpaidDomainIsHeldAndDeletedOnce(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	failpoints := lifecycle.Failpoints()
	for _, failpoint := range failpoints {
		if _, err := env.AddPaidItem(t.Context(), "ruhig-"+failpoint[:4]+failpoint[len(failpoint)-4:], ".org"); err != nil {
			t.Fatal(err)
		}
	}
	server, err := env.Serve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := env.WaitProvisioned(t.Context(), waitTimeout); err != nil {
		t.Fatal(err)
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	// The registry has them for longer than the add grace period, and the service has run
	// for months.
	if err := env.Control.Advance(t.Context(), 10*24*time.Hour); err != nil {
		t.Fatal(err)
	}
	execute(t, env, `UPDATE brakes SET started_at = $1`, time.Now().AddDate(0, -6, 0).UnixMicro())
	end := time.Now().AddDate(0, 0, -20).Truncate(time.Microsecond).UTC()
	for _, failpoint := range failpoints {
		domain, _, err := env.DB.DomainByName(t.Context(), "ruhig-"+failpoint[:4]+failpoint[len(failpoint)-4:]+".org")
		if err != nil {
			t.Fatal(err)
		}
		hold := failpoint == "hold_written" || failpoint == "hold_made"
		execute(t, env, `UPDATE domains SET paid_until = $1, expiry_notice = 2 WHERE id = $2`, end.UnixMicro(), domain.ID)
		if hold {
			if err := runUntilKilledAt(t.Context(), env, failpoint); err != nil {
				t.Fatalf("%s: %v", failpoint, err)
			}
		}
		waitForTerm(t, env, domain, end, lifecycle.Held, registrar.MailDomainHeld)
		if there, _ := registryDomain(t, env, domain.Name); !slices.Contains(there.Statuses(), "clientHold") {
			t.Errorf("after a kill at %s the registry has %v", failpoint, there.Statuses())
		}
		wantOnce(t, env, domain, lifecycle.ActionHeld, registrar.MailDomainHeld, failpoint)

		// 25 days later.
		if err := env.DB.DeleteMail(t.Context(), "mail_"+failpoint, &mailer.Evidence{Accepted: true, At: time.Now(), Mail: mailer.QueuedMail{
			ID: "mail_" + failpoint, Kind: registrar.MailExpiringWeek, Customer: domain.Customer,
			Data: map[string]string{registrar.NoticeDomain: domain.ID, registrar.NoticeTerm: registrar.NoticeTermText(end)},
		}}); err != nil {
			t.Fatal(err)
		}
		execute(t, env, `UPDATE term_ends SET step_at = $1 WHERE domain_id = $2`, time.Now().UnixMicro(), domain.ID)
		if !hold {
			if err := runUntilKilledAt(t.Context(), env, failpoint); err != nil {
				t.Fatalf("%s: %v", failpoint, err)
			}
		}
		waitForTerm(t, env, domain, end, lifecycle.Redemption, registrar.MailDomainDeleted)
		if there, _ := registryDomain(t, env, domain.Name); there.Phase != ledger.Redemption {
			t.Errorf("after a kill at %s the registry has it in phase %q", failpoint, there.Phase)
		}
		wantOnce(t, env, domain, lifecycle.ActionDeleted, registrar.MailDomainDeleted, failpoint)
	}
	if err := env.Reconcile(t.Context()); err != nil {
		t.Error(err)
	}
}
