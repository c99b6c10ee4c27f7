package crash_test

import (
	"slices"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/contactcheck"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/test/crash"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// waitForCheck runs the product until a check has a state and its domain is on hold or not.
func waitForCheck(t *testing.T, env *crash.Env, id string, domain provision.Domain, want contactcheck.State, held bool) {
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
	testkit.Eventually(t, "check "+string(want), func() bool {
		check, _, err := env.DB.GetContactCheck(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		there, _ := registryDomain(t, env, domain.Name)
		suspended, err := env.DB.IsDomainSuspended(t.Context(), domain.ID)
		if err != nil {
			t.Fatal(err)
		}
		// Without a next step, the registry's decision is stored and mailed.
		return check.State == want && check.StepAt.IsZero() && slices.Contains(there.Statuses(), "clientHold") == held && suspended == held
	})
}

func TestKill_UnconfirmedDomainIsSuspendedAndReleasedOnce(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	if _, err := env.AddPaidItem(t.Context(), "unbestaetigt", ".org"); err != nil {
		t.Fatal(err)
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
	domain, _, err := env.DB.DomainByName(t.Context(), "unbestaetigt.org")
	if err != nil {
		t.Fatal(err)
	}
	// The day after the last one, with three accepted mails.
	const id, address = "chk_1", "max@teeladen.example"
	before := time.Now().Add(-25 * time.Hour).UnixMicro()
	execute(t, env, `INSERT INTO contact_checks (id, customer_id, email, email_key, state, notices, opened_at, due_at, step_at)
		VALUES ($1, $2, $3, $3, 'pending', 3, $4, $4, $4)`, id, domain.Customer, address, before)
	execute(t, env, `UPDATE domains SET contact_check = $1 WHERE id = $2`, id, domain.ID)
	for _, mail := range []string{"mail_1", "mail_2", "mail_3"} {
		execute(t, env, `INSERT INTO sent_notices (id, customer_id, domain_id, name, term_end, kind, recipient, subject, body, queued_at, sent_at, accepted, response)
			VALUES ($1, $2, $3, '', 0, 'contact_check', $4, '', '', 1, 1, 1, '250')`, mail, domain.Customer, id, address)
	}
	if err := runUntilKilledAt(t.Context(), env, "suspension_written"); err != nil {
		t.Fatal(err)
	}
	waitForCheck(t, env, id, domain, contactcheck.Suspended, true)

	// The customer makes the address that of the account, which confirms it.
	execute(t, env, `UPDATE contact_checks SET email_key = (SELECT email_key FROM customers WHERE id = $1), email = (SELECT email FROM customers WHERE id = $1), step_at = $2 WHERE id = $3`,
		domain.Customer, before, id)
	if err := runUntilKilledAt(t.Context(), env, "contact_confirmed"); err != nil {
		t.Fatal(err)
	}
	waitForCheck(t, env, id, domain, contactcheck.Confirmed, false)

	changes, err := env.DB.ListDomainChanges(t.Context(), domain.ID, 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []domainchange.ChangeKind{domainchange.Hold, domainchange.Release} {
		done := slices.DeleteFunc(slices.Clone(changes), func(c domainchange.Change) bool { return c.Kind != kind || c.State != domainchange.StatusDone })
		if len(done) != 1 {
			t.Errorf("%s was executed %d times", kind, len(done))
		}
	}
	for _, kind := range []registrar.MailKind{registrar.MailContactSuspended, registrar.MailContactConfirmed} {
		queued := 0
		if err := env.DB.SQL().Reader().QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM sent_notices WHERE kind = $1) + (SELECT count(*) FROM mails WHERE kind = $1)`, string(kind)).Scan(&queued); err != nil || queued != 1 {
			t.Errorf("%d mails %s, %v", queued, kind, err)
		}
	}
	if err := env.Reconcile(t.Context()); err != nil {
		t.Error(err)
	}
}
