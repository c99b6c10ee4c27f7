package domains

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
	"github.com/dotkontor/dotkontor/test/testkit"
)

func TestUnpaidTerm_IsHeldDeletedAndGone(t *testing.T) {
	t.Parallel()
	s := newTermEnv(t, 2, "alt.org") // two nodes work on the same rows
	id := s.addEnding("alt", ".org", 31)
	s.advance(31)
	s.wantState(id, lifecycle.Unpaid, "")
	s.advance(10)
	held := s.wantState(id, lifecycle.Held, "")
	if got := s.dnsRecords("alt.org", dns.TypeNS); len(got) != 0 {
		t.Errorf("the held domain is in the DNS: %v", got)
	}
	if out := held.StepAt.Sub(held.HeldAt); out < 8*day {
		t.Errorf("out of the DNS for %s only", out)
	}
	s.advance(25)
	s.wantState(id, lifecycle.Redemption, "")
	if phase := s.registryDomain("alt.org").Phase; phase != ledger.Redemption {
		t.Errorf("the registry has it in %q", phase)
	}
	if view := s.view(id); view.Domain.Status != registrar.DomainRedemption {
		t.Errorf("the customer sees %s", view.Domain.Status)
	}
	s.advance(37)
	s.wantState(id, lifecycle.Closed, "")
	if _, found, err := s.db.DomainByName(t.Context(), "alt.org"); err != nil || found {
		t.Errorf("the domain is still the customer's: %t, %v", found, err)
	}
	want := []string{"expiring_month", "expiring_week", "expired", "domain_held", "domain_deleted", "domain_closed"}
	if got := s.mail.kinds("alt.org"); !slices.Equal(got, want) {
		t.Errorf("mails %v, want %v", got, want)
	}
	sent, err := s.db.ListSentNoticesOfDomain(t.Context(), id, 100)
	if err != nil || len(sent) != len(want) || slices.ContainsFunc(sent, func(n lifecycle.SentNotice) bool { return !n.Accepted || n.Response != "2.0.0 queued" }) {
		t.Errorf("evidence %+v, %v", sent, err)
	}
	events, err := s.db.ListObjectAuditEvents(t.Context(), ada, "alt.org", 100)
	must(t, err)
	var actions []string
	for _, event := range events {
		actions = append(actions, string(event.Action))
	}
	slices.Reverse(actions)
	if got := strings.Join(actions, " "); !strings.HasSuffix(got, "domain_expired domain_held domain_deleted domain_closed") {
		t.Errorf("audited: %s", got)
	}
}

func TestUnpaidTerm_RegistrantIsNotifiedToo(t *testing.T) {
	t.Parallel()
	s := newTermEnv(t, 1, "alt.org")
	id := s.addEnding("alt", ".org", 31)
	s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.UpdateRegistrant, Holder: s.addHolder(ada)})
	// The new registrant's address waits for a contact check, which nothing here makes.
	s.advanceWithoutSettling(2 * 31)
	s.wantState(id, lifecycle.Unpaid, "")
	s.advanceWithoutSettling(2 * 10)
	s.wantState(id, lifecycle.Held, "")
	s.advanceWithoutSettling(2 * 25)
	s.wantState(id, lifecycle.Redemption, "")
	testkit.Eventually(t, "five notices to the registrant", func() bool { // a month and a week before, at the end, held, deleted
		sent, err := s.db.ListSentNoticesOfDomain(t.Context(), id, 100)
		must(t, err)
		toHolder := 0
		for _, notice := range sent {
			if notice.Kind != registrar.MailHolderExpiry {
				continue
			}
			toHolder++
			if notice.Recipient != "max@teeladen.example" {
				t.Errorf("a notice for the registrant went to %s", notice.Recipient)
			}
		}
		return toHolder == 5
	})
}

func TestUnpaidTerm_LateRenewalReleasesHoldAtOnce(t *testing.T) {
	t.Parallel()
	s := newTermEnv(t, 1, "spaet.org")
	id := s.addEnding("spaet", ".org", 1)
	s.advance(12)
	s.wantState(id, lifecycle.Held, "")
	s.renew(registrar.NewName("spaet", ".org"), provision.Renew)
	if got := s.dnsRecords("spaet.org", dns.TypeNS); len(got) == 0 {
		t.Error("the renewed domain is not back in the DNS")
	}
	s.settle()
	s.wantState(id, lifecycle.Paid, "")
	s.advance(40)
	if view := s.view(id); view.Domain.Status != registrar.DomainActive || view.Record.Expires.Before(s.world.Now()) {
		t.Errorf("the renewed domain is %s until %s", view.Domain.Status, view.Record.Expires)
	}
	if got := s.mail.kinds("spaet.org"); !slices.Contains(got, "domain_restored") {
		t.Errorf("mails %v", got)
	}
}

func TestUnpaidTerm_RestoreEndsRedemption(t *testing.T) {
	t.Parallel()
	s := newTermEnv(t, 1, "zurueck.org")
	id := s.addEnding("zurueck", ".org", 8)
	s.advance(8 + 36)
	s.wantState(id, lifecycle.Redemption, "")
	s.renew(registrar.NewName("zurueck", ".org"), provision.Restore)
	s.settle()
	s.wantState(id, lifecycle.Paid, "")
	if got := s.dnsRecords("zurueck.org", dns.TypeNS); len(got) == 0 {
		t.Error("the restored domain is not in the DNS")
	}
	s.advance(45)
	if view := s.view(id); view.Domain.Status != registrar.DomainActive {
		t.Errorf("the restored domain is %s", view.Domain.Status)
	}
}

func TestUnpaidTerm_RestoreOutsideOfOrdersWaitsForOperator(t *testing.T) {
	t.Parallel()
	s := newTermEnv(t, 1, "heimlich.org")
	id := s.addEnding("heimlich", ".org", 8)
	s.advance(8 + 36)
	s.wantState(id, lifecycle.Redemption, "")
	_, err := s.provisioner.Request(t.Context(), provision.Request{Kind: provision.Restore, Name: "heimlich.org", TLD: ".org", Transaction: "by-hand", Since: s.world.Now()})
	must(t, err)
	s.advance(31)
	s.wantState(id, lifecycle.Unpaid, lifecycle.WaitsForReview)
	s.advance(3)
	s.wantState(id, lifecycle.Unpaid, lifecycle.WaitsForReview)
	s.renew(registrar.NewName("heimlich", ".org"), provision.Renew)
	s.settle()
	s.wantState(id, lifecycle.Paid, "")
}

func TestUnpaidTerm_DeIsHandedOverAfterTwoWeeks(t *testing.T) {
	t.Parallel()
	s := newTermEnv(t, 1, "alt.de")
	id := s.addEnding("alt", ".de", 8)
	s.advance(8 + 13)
	s.wantState(id, lifecycle.Unpaid, "")
	s.advance(2)
	s.wantState(id, lifecycle.Closed, "")
	if held := s.world.Sponsored("dotkontor"); slices.ContainsFunc(held.Domains, func(d *ledger.Domain) bool { return d.Name == "alt.de" }) {
		t.Error("we still sponsor the domain")
	}
	if got := s.mail.kinds("alt.de"); got[len(got)-1] != "domain_closed" {
		t.Errorf("mails %v", got)
	}
}

func TestUnpaidTerm_PolicyDecidesWhoDecides(t *testing.T) {
	t.Parallel()
	s := newTermEnv(t, 1, "alt.at", "alt.fr", "alt.eu")
	consent, rule, expires := s.addEnding("alt", ".at", 8), s.addEnding("alt", ".fr", 8), s.addEnding("alt", ".eu", 8)
	s.advance(10)
	s.wantState(consent, lifecycle.Unpaid, lifecycle.WaitsForConsent)
	s.wantState(rule, lifecycle.Unpaid, lifecycle.WaitsForOperator)
	s.wantState(expires, lifecycle.Unpaid, "")
	open, err := s.terms.ListOpen(t.Context(), termOperator)
	if err != nil || len(open.Waiting) != 2 {
		t.Errorf("waiting: %+v, %v", open, err)
	}
	testkit.Eventually(t, "the decision to leave it", func() bool { return s.terms.Leave(t.Context(), termOperator, rule) == nil })
	s.advance(3)
	s.wantState(rule, lifecycle.Unpaid, lifecycle.LeftAlone)
	testkit.Eventually(t, "the decision to delete it", func() bool { return s.terms.Delete(t.Context(), termOperator, rule) == nil })
	s.settle()
	s.wantState(rule, lifecycle.Redemption, "")
	if err := s.terms.Delete(t.Context(), signedInActor(ada), consent); registrar.KindOf(err) != registrar.KindForbidden {
		t.Errorf("a customer decided: %v", err)
	}
}

func TestUnpaidTerm_CustomerIsRemindedWhileItRunsOn(t *testing.T) {
	t.Parallel()
	s := newTermEnv(t, 2, "alt.at", "alt.fr", "egal.fr")
	s.addEnding("alt", ".at", 8)
	s.addEnding("alt", ".fr", 8)
	unwanted := s.addEnding("egal", ".fr", 8)
	consents, err := renewal.NewConsents(renewal.ConsentConfig{Store: s.db, Now: s.world.Now, Price: func(context.Context, string, order.RenewalTerm) (order.RenewalPrice, error) {
		return order.RenewalPrice{Years: 1, Gross: 1000}, nil
	}})
	must(t, err)
	must(t, consents.LetExpire(t.Context(), signedInActor(ada), unwanted))
	ended := []string{"expiring_month", "expiring_week", "expired"}
	wantMails := func(when, domain string, reminders ...string) {
		t.Helper()
		testkit.Eventually(t, "mails about "+domain+" "+when, func() bool { return slices.Equal(s.mail.kinds(domain), append(slices.Clone(ended), reminders...)) })
	}
	for _, step := range []struct {
		days      int
		when      string
		reminders []string
	}{
		{8 + 13, "two weeks after the end", nil},
		{2, "then", []string{"expired"}},
		{14, "a month after the end", []string{"expired"}},
		{3, "then", []string{"expired", "expired"}},
	} {
		s.advance(step.days)
		wantMails(step.when, "alt.at", step.reminders...)
		wantMails(step.when, "alt.fr", step.reminders...)
	}
	if got := strings.Count(strings.Join(s.mail.kinds("egal.fr"), " "), "expired"); got != 1 {
		t.Errorf("%d mails about the end of a domain that its customer lets expire", got)
	}
}

// The extension may be missing from the price list by then: the policy does not depend on it.
func TestUnpaidTerm_WithoutGraceIsDeletedOnItsDay(t *testing.T) {
	t.Parallel()
	s := newTermEnv(t, 1, "alt.be")
	id := s.addEnding("alt", ".be", 8)
	s.advance(7)
	if term := s.term(id); term.State != "" {
		t.Errorf("before the end: %+v", term)
	}
	s.advance(1)
	s.wantState(id, lifecycle.Redemption, "")
	s.advance(46) // the quarantine, and what the simulated registry takes to drop it
	s.wantState(id, lifecycle.Closed, "")
}

func TestUnpaidTerm_UnchargedRenewalIsNotDeleted(t *testing.T) {
	t.Parallel()
	s := newTermEnv(t, 1, "wille.be")
	id := s.addEnding("wille", ".be", 8)
	// The provider was down on all days on which it should have been charged.
	_, err := s.db.SQL().Writer().ExecContext(t.Context(), `INSERT INTO renewals
		(domain_id, term_end, customer_id, name, tld, state, years, gross, announced_at, charge_at, failure, updated_at)
		SELECT id, paid_until, customer_id, name, tld, 'failed', 1, 1190, 1, 0, 'too_late', 1 FROM domains WHERE id = $1`, id)
	must(t, err)
	s.advance(9)
	s.wantState(id, lifecycle.Unpaid, lifecycle.WaitsForOperator)
	if phase := s.registryDomain("wille.be").Phase; phase != ledger.Active {
		t.Errorf("the registry has it in %q", phase)
	}
}

func TestUnpaidTerm_LockStopsDeletionThatHasBegun(t *testing.T) {
	t.Parallel()
	s := newTermEnv(t, 1, "streit.be")
	id := s.addEnding("streit", ".be", 8)
	s.advance(7)
	s.registry.setDown(true)
	s.advanceWithoutSettling(2)
	testkit.Eventually(t, "the intent", func() bool { return s.term(id).State == lifecycle.Deleting })
	_, err := s.db.SQL().Writer().ExecContext(t.Context(), `INSERT INTO domain_locks
		(id, domain_id, customer_id, name, cause, reason, reference, restrictions, review_at, set_by, set_at)
		SELECT 'lock_1', id, customer_id, name, 'court', 'r', '', 'transfer', 1, 'test', 1 FROM domains WHERE id = $1`, id)
	must(t, err)
	s.registry.setDown(false)
	testkit.Eventually(t, "the lock to be seen", func() bool { return s.term(id).WaitsFor == lifecycle.WaitsForLock })
	s.wantState(id, lifecycle.Unpaid, lifecycle.WaitsForLock)
	if phase := s.registryDomain("streit.be").Phase; phase != ledger.Active {
		t.Errorf("the registry has it in %q", phase)
	}
}

func TestUnpaidTerm_NothingIsDeletedWithoutAcceptedNotices(t *testing.T) {
	t.Parallel()
	s := newTermEnv(t, 1, "stumm.org")
	s.mail.refuse = true
	id := s.addEnding("stumm", ".org", 31)
	s.advance(31 + 36)
	s.wantState(id, lifecycle.Held, lifecycle.WaitsForNotices)
	s.advance(20)
	s.wantState(id, lifecycle.Held, lifecycle.WaitsForNotices)
	if phase := s.registryDomain("stumm.org").Phase; phase != ledger.Active {
		t.Errorf("the registry has it in %q", phase)
	}
	sent, err := s.db.ListSentNoticesOfDomain(t.Context(), id, 10)
	if err != nil || len(sent) == 0 || slices.ContainsFunc(sent, func(n lifecycle.SentNotice) bool { return n.Accepted }) {
		t.Errorf("evidence %+v, %v", sent, err)
	}
	// The daily check of a waiting term may come first.
	testkit.Eventually(t, "the operator's decision", func() bool { return s.terms.Delete(t.Context(), termOperator, id) == nil })
	s.settle()
	s.wantState(id, lifecycle.Redemption, "")
}

func TestUnpaidTerm_RegistryOutageDelaysButKeepsHoldBeforeDeletion(t *testing.T) {
	t.Parallel()
	s := newTermEnv(t, 1, "aus.org")
	id := s.addEnding("aus", ".org", 8)
	s.advance(8)
	s.registry.setDown(true)
	s.advanceWithoutSettling(2 * 13) // at T+10 the hold is due, and the registry is down for three days
	testkit.Eventually(t, "intent", func() bool { return s.term(id).State == lifecycle.Holding })
	s.registry.setDown(false)
	testkit.Eventually(t, "the hold after its backoff", func() bool { return s.term(id).State == lifecycle.Held })
	held := s.wantState(id, lifecycle.Held, "")
	if held.HeldAt.Before(held.End.Add(12*day)) || held.StepAt.Sub(held.HeldAt) < 8*day {
		t.Errorf("held at %s, deleted at %s", held.HeldAt, held.StepAt)
	}
}

func TestUnpaidTerm_RefusedDeletionLeavesDomainRenewable(t *testing.T) {
	t.Parallel()
	s := newTermEnv(t, 1, "glue.org")
	id := s.addEnding("glue", ".org", 8)
	s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.Nameservers, Nameservers: "ns1.glue.org 192.0.2.1\nns2.glue.org 192.0.2.2"})
	s.advance(8 + 36)
	s.wantState(id, lifecycle.Held, lifecycle.WaitsForRegistry) // hosts below the name prohibit its deletion
	s.renew(registrar.NewName("glue", ".org"), provision.Renew)
	s.settle()
	s.wantState(id, lifecycle.Paid, "")
	if got := s.dnsRecords("glue.org", dns.TypeNS); len(got) == 0 {
		t.Error("the renewed domain is not in the DNS")
	}
}

func TestUnpaidTerm_OverdueAtFirstRunIsOnlyListed(t *testing.T) {
	t.Parallel()
	s := newTermEnv(t, 1, "ueberfaellig.org")
	id := s.addEnding("ueberfaellig", ".org", -20)
	s.advance(20)
	if term := s.term(id); term.State != "" {
		t.Errorf("it has a term %+v", term)
	}
	open, err := s.terms.ListOpen(t.Context(), termOperator)
	if err != nil || len(open.Overdue) != 1 || open.Overdue[0].ID != id {
		t.Fatalf("overdue %+v, %v", open, err)
	}
	must(t, s.terms.Adopt(t.Context(), termOperator, id, ada, "ueberfaellig.org"))
	s.settle()
	s.wantState(id, lifecycle.Held, "")
	s.advance(9)
	s.wantState(id, lifecycle.Held, lifecycle.WaitsForNotices)
}

func TestDataReminder_IsSentOnceAYear(t *testing.T) {
	t.Parallel()
	s := newTermEnv(t, 2)
	s.addEnding("inhaber", ".org", 900)
	_, err := s.db.SQL().Writer().ExecContext(t.Context(), `UPDATE domains SET registrant = '{"name":"Ada Größe","street":"Alter Weg 2"}' WHERE name = 'inhaber.org'`)
	must(t, err)
	_, err = s.db.SQL().Writer().ExecContext(t.Context(), `UPDATE customers SET data_reminder_at = $1 WHERE id = $2`, s.world.Now().AddDate(-1, 0, 2).UnixMicro(), ada)
	must(t, err)
	reminders := func() (reminders []mailer.Message) {
		s.mail.mu.Lock()
		defer s.mail.mu.Unlock()
		for _, mail := range s.mail.mails {
			if mail.Kind == registrar.MailDataReminder {
				reminders = append(reminders, mail)
			}
		}
		return reminders
	}
	s.advance(1)
	if got := reminders(); len(got) != 0 {
		t.Errorf("too early: %+v", got)
	}
	s.advance(2)
	testkit.Eventually(t, "reminder", func() bool { return len(reminders()) > 0 })
	s.advance(5)
	got := reminders()
	if len(got) != 1 || got[0].Data["registrant_name"] != "Ada Größe" || got[0].Data["registrant_city"] != "10115 Berlin" || got[0].Data["domains"] != "1" || got[0].Data["item1_name"] != "inhaber.org" {
		t.Errorf("reminders %+v", got)
	}
	sent, err := s.db.ListSentNotices(t.Context(), ada, "", 10)
	if err != nil || len(sent) != 1 || sent[0].Kind != registrar.MailDataReminder {
		t.Errorf("evidence %+v, %v", sent, err)
	}
}

func TestBrake_VolumeStopsBeforeAnythingIsHeld(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 25 {
		names = append(names, "viel"+string(rune('a'+i))+".org")
	}
	s := newTermEnv(t, 2, names...)
	var ids []string
	for _, name := range names {
		ids = append(ids, s.addEnding(strings.TrimSuffix(name, ".org"), ".org", 8))
	}
	s.advance(8 + 11)
	preview, err := s.terms.Preview(t.Context(), termOperator)
	if err != nil || !preview.Brake.Engaged() || preview.Brake.Reason != lifecycle.ByVolume || len(preview.Planned) != 25 || preview.Planned[0].Action != lifecycle.ActHold {
		t.Fatalf("preview %+v, %v", preview, err)
	}
	for _, id := range ids {
		s.wantState(id, lifecycle.Unpaid, "")
	}
	if err := s.terms.Confirm(t.Context(), termOperator, 24); registrar.CodeOf(err) != lifecycle.PreviewChanged {
		t.Errorf("an incomplete preview was confirmed: %v", err)
	}
	must(t, s.terms.Confirm(t.Context(), termOperator, 25))
	s.settle()
	for _, id := range ids {
		s.wantState(id, lifecycle.Held, "")
	}
	if status, _, err := s.brake.Status(t.Context()); err != nil || status.Engaged() || status.Actions != 25 || status.ConfirmedBy != "ops" {
		t.Errorf("brake %+v, %v", status, err)
	}
}
