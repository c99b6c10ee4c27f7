package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/contactcheck"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

const clientEmail = "Max@Teeladen.example"

// openCheck marks a domain as new and opens its check.
func openCheck(t *testing.T, db *DB, customer, domain string, now time.Time) (contactcheck.Check, bool) {
	t.Helper()
	registrant := jsonText(registrar.Registrant{Name: "Max", Email: clientEmail})
	execStatement(t, db, `UPDATE domains SET contact_check = 'new', registrant = $1 WHERE id = $2`, registrant, domain)
	unchecked, err := db.ListUncheckedDomains(t.Context(), now.Add(-contactcheck.GuestDelay), "", 10)
	if err != nil || len(unchecked) != 1 || unchecked[0].ID != domain || unchecked[0].Email != clientEmail {
		t.Fatalf("%+v, %v", unchecked, err)
	}
	check := contactcheck.Check{
		ID: registrar.NewID(contactcheck.IDPrefix, now), Customer: customer, Email: clientEmail, State: contactcheck.Pending, Notices: 1,
		OpenedAt: now, DueAt: now.Add(contactcheck.Term), StepAt: now.Add(5 * 24 * time.Hour),
	}
	opened, err := db.OpenContactCheck(t.Context(), unchecked[0], contactcheck.Opening{
		Check: check, At: now, Event: registrar.AuditEvent{Actor: registrar.Actor{Kind: registrar.ActorSystem}, Action: contactcheck.ActionAsked, Customer: customer, At: now},
		Mail: registrar.Mail{ID: contactcheck.FirstMailID(check.ID), Kind: registrar.MailContactCheck, Customer: customer, To: clientEmail, Data: firstMailData(check.ID, unchecked[0].Name)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return check, opened
}

func firstMailData(check, domain string) map[string]string {
	data := map[string]string{registrar.NoticeDomain: check}
	registrar.NameDomains(data, domain)
	return data
}

func contactOf(t *testing.T, db *DB, domain string) (check, hold string) {
	t.Helper()
	if err := db.sql.Reader().QueryRowContext(t.Context(), `SELECT contact_check, contact_hold FROM domains WHERE id = $1`, domain).Scan(&check, &hold); err != nil {
		t.Fatal(err)
	}
	return check, hold
}

func confirmClient(t *testing.T, db *DB, customer string) int {
	t.Helper()
	confirmed, err := db.ConfirmAddress(t.Context(), contactcheck.Confirmation{
		Customer: customer, Email: "max@teeladen.EXAMPLE", By: contactcheck.ByLink, From: "192.0.2.1", Now: testTime, At: testTime,
		Event: registrar.AuditEvent{Actor: registrar.Actor{Kind: registrar.ActorPerson}, Action: contactcheck.ActionConfirmed, Customer: customer, Object: clientEmail, At: testTime},
		Mail:  registrar.Mail{Kind: registrar.MailContactConfirmed, Customer: customer},
	})
	if err != nil {
		t.Fatal(err)
	}
	return confirmed
}

func TestActivateDomain_ConfirmedAddressOfAccountNeedsNoCheck(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna, guest := newCustomer(t, db, "anna"), newCustomer(t, db, "guest")
		execStatement(t, db, `UPDATE customers SET guest = 1, email = 'Guest@example.com', email_key = $1 WHERE id = $2`, guestKey("ord_1"), guest)
		for i, test := range []struct {
			customer, email, want string
		}{
			{anna, "anna@example.com", ""},
			{anna, "", ""}, // an item of an earlier version has the account's data
			{anna, "max@teeladen.example", "new"},
			{guest, "guest@example.com", "guest"},
			{guest, "", "guest"},
			{guest, "max@teeladen.example", "new"},
		} {
			id := addHeldDomain(t, db, test.customer, fmt.Sprintf("d%d.org", i), registrar.DomainPending)
			if rows, err := rowsOf(query.New(db.sql.Writer()).ActivateDomain(t.Context(), query.ActivateDomainParams{
				Status: "active", PaidUntil: micros(testTime), UpdatedAt: micros(testTime), ID: id, EmailKey: test.email,
			})); rows != 1 || err != nil {
				t.Fatal(rows, err)
			}
			if got, _ := contactOf(t, db, id); got != test.want {
				t.Errorf("%s with the address %q: %q, want %q", test.customer, test.email, got, test.want)
			}
		}
	})
}

func TestDomainsUnderWay_NamesOpenChecksAndChangesOfTheCustomer(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		asked, changing, quiet := addHeldDomain(t, db, anna, "eins.org", registrar.DomainActive), addHeldDomain(t, db, anna, "zwei.org", registrar.DomainActive), addHeldDomain(t, db, anna, "drei.org", registrar.DomainActive)
		check, _ := openCheck(t, db, anna, asked, testTime)
		change := newOpenChange(anna, changing)
		change.Kind = domainchange.Nameservers
		if err := db.AddDomainChange(ctx, change); err != nil {
			t.Fatal(err)
		}
		execStatement(t, db, `UPDATE domain_changes SET wait_until = $1 WHERE domain_id = $2`, micros(testTime.Add(time.Hour)), changing)
		want := map[string]portfolio.UnderWay{asked: {ConfirmBy: check.DueAt}, changing: {Change: "nameservers", ChangeAt: testTime.Add(time.Hour)}}
		got, err := db.ListDomainsUnderWay(ctx, anna, []string{asked, changing, quiet})
		if err != nil || len(got) != len(want) {
			t.Fatalf("%v, %v", got, err)
		}
		for id, one := range want {
			if have := got[id]; !have.ConfirmBy.Equal(one.ConfirmBy) || have.Change != one.Change || !have.ChangeAt.Equal(one.ChangeAt) {
				t.Errorf("%+v, want %+v", have, one)
			}
		}
		if got, err := db.ListDomainsUnderWay(ctx, newCustomer(t, db, "eve"), []string{asked, changing}); err != nil || len(got) != 0 {
			t.Errorf("another customer sees %v, %v", got, err)
		}
		confirmClient(t, db, anna)
		if got, err := db.ListDomainsUnderWay(ctx, anna, []string{asked}); err != nil || len(got) != 0 {
			t.Errorf("after the confirmation: %v, %v", got, err)
		}
	})
}

func TestRegistrantChange_OnlyNewAddressNeedsCheck(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		for i, test := range []struct {
			before, past, next, want string
		}{
			{"", "anna@example.com", "max@teeladen.example", "new"},
			{"", "anna@example.com", "Anna@example.com", ""},
			{"chk_1", "max@teeladen.example", "MAX@teeladen.example", "chk_1"},
			{"chk_1", "max@teeladen.example", "anna@example.com", ""},
			{"chk_1", "max@teeladen.example", "eve@teeladen.example", "new"},
		} {
			id := addHeldDomain(t, db, anna, fmt.Sprintf("d%d.org", i), registrar.DomainActive)
			execStatement(t, db, `UPDATE domains SET contact_check = $1 WHERE id = $2`, test.before, id)
			past, next := registrar.Registrant{Name: "Max", Email: test.past}, registrar.Registrant{Name: "Max", Email: test.next}
			change := newOpenChange(anna, id)
			change.ID = fmt.Sprintf("chg_%d", i)
			change.Desired = domainchange.DesiredState{Registrant: &next, Reason: holder.ReasonCorrection}
			if err := db.AddDomainChange(ctx, change); err != nil {
				t.Fatal(err)
			}
			done := change
			done.State, done.DueAt, done.UpdatedAt, done.Desired.Registrant = domainchange.StatusDone, time.Time{}, testTime, nil
			if ok, err := db.UpdateDomainChange(ctx, domainchange.Transition{From: change, To: done, Registrant: next, PastRegistrant: past, At: testTime}); !ok || err != nil {
				t.Fatal(ok, err)
			}
			if got, _ := contactOf(t, db, id); got != test.want {
				t.Errorf("%s → %s: %q, want %q", test.past, test.next, got, test.want)
			}
		}
	})
}

func TestOpenContactCheck_OneCheckPerAddressUntilReminder(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		one, two := addHeldDomain(t, db, anna, "one.org", registrar.DomainActive), addHeldDomain(t, db, anna, "two.org", registrar.DomainActive)
		first, opened := openCheck(t, db, anna, one, testTime)
		if !opened {
			t.Fatal("no check for an unconfirmed address")
		}
		if _, opened := openCheck(t, db, anna, two, testTime.Add(time.Hour)); opened {
			t.Error("a second check for the same address")
		}
		if got, _ := contactOf(t, db, two); got != first.ID {
			t.Errorf("the second domain waits for %q", got)
		}
		if n := count(t, db, `SELECT count(*) FROM mails WHERE kind = 'contact_check' AND recipient = $1`, clientEmail); n != 1 {
			t.Errorf("%d mails for one address", n)
		}
		queued, err := query.New(db.sql.Writer()).LockQueuedMail(ctx, contactcheck.FirstMailID(first.ID), string(registrar.MailContactCheck))
		if data := fromJSON[map[string]string](queued); err != nil || data["domains"] != "2" || data["item1_name"] != "one.org" || data["item2_name"] != "two.org" {
			t.Errorf("the first mail names %v, %v", data, err)
		}
		reminded := first
		reminded.Notices++
		if ok, err := db.UpdateContactCheck(ctx, contactcheck.Transition{From: first, To: reminded}); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if ok, err := db.UpdateContactCheck(ctx, contactcheck.Transition{From: first, To: reminded}); ok || err != nil {
			t.Errorf("a second node sends the reminder again: %v", err)
		}
		three := addHeldDomain(t, db, anna, "three.org", registrar.DomainActive)
		second, opened := openCheck(t, db, anna, three, testTime.Add(6*24*time.Hour))
		if !opened {
			t.Error("a domain that came after the reminder has not its own 15 days")
		}
		if got := confirmClient(t, db, anna); got != 2 {
			t.Errorf("%d checks confirmed", got)
		}
		for _, id := range []string{one, two, three} {
			if got, _ := contactOf(t, db, id); got != "" {
				t.Errorf("after the confirmation %s waits for %s", id, got)
			}
		}
		stored, _, err := db.GetContactCheck(ctx, second.ID)
		if err != nil || stored.State != contactcheck.Confirmed || stored.ConfirmedBy != contactcheck.ByLink || stored.ConfirmedFrom != "192.0.2.1" || stored.Email != clientEmail || !stored.EndedAt.Equal(testTime) {
			t.Errorf("evidence: %+v, %v", stored, err)
		}
		if n := confirmClient(t, db, anna); n != 0 {
			t.Errorf("confirmed again: %d", n)
		}
		if n := count(t, db, `SELECT count(*) FROM mails WHERE kind = 'contact_confirmed'`); n != 0 {
			t.Errorf("%d mails about the end of no suspension", n)
		}
		if _, opened := openCheck(t, db, anna, addHeldDomain(t, db, anna, "four.org", registrar.DomainActive), testTime.Add(time.Hour)); opened {
			t.Error("an address that was confirmed before is asked again")
		}
	})
}

// A registrant who changes between the listing and the transaction is asked by the next listing.
func TestOpenContactCheck_ChangedRegistrantOpensNothing(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		id := addHeldDomain(t, db, anna, "d.org", registrar.DomainActive)
		execStatement(t, db, `UPDATE domains SET contact_check = 'new', registrant = $1 WHERE id = $2`, jsonText(registrar.Registrant{Name: "Max", Email: clientEmail}), id)
		unchecked, err := db.ListUncheckedDomains(t.Context(), testTime.Add(-contactcheck.GuestDelay), "", 10)
		if err != nil || len(unchecked) != 1 {
			t.Fatalf("%+v, %v", unchecked, err)
		}
		execStatement(t, db, `UPDATE domains SET registrant = '' WHERE id = $1`, id)
		opened, err := db.OpenContactCheck(t.Context(), unchecked[0], contactcheck.Opening{
			Check: contactcheck.Check{ID: registrar.NewID(contactcheck.IDPrefix, testTime), Customer: anna, Email: clientEmail, State: contactcheck.Pending, OpenedAt: testTime},
			At:    testTime,
		})
		if n := count(t, db, `SELECT count(*) FROM contact_checks`); opened || err != nil || n != 0 {
			t.Errorf("opened: %v, %v, and %d are stored", opened, err, n)
		}
	})
}

func TestBeginSuspension_NeedsAcceptedMailsAndBrake(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		id := addHeldDomain(t, db, anna, "one.org", registrar.DomainActive)
		check, _ := openCheck(t, db, anna, id, testTime)
		if err := db.StartBrake(ctx, testTime); err != nil {
			t.Fatal(err)
		}
		suspended := check
		suspended.State, suspended.SuspendedAt = contactcheck.Suspended, testTime
		begin := func(limit int, want contactcheck.Verdict) {
			t.Helper()
			got, err := db.BeginSuspension(ctx, contactcheck.Suspension{
				Transition: contactcheck.Transition{From: check, To: suspended, At: testTime}, Domains: 1, Day: 5, DayLimit: limit, Notices: 3,
			})
			if err != nil || got != want {
				t.Errorf("%s, want %s, %v", got, want, err)
			}
			if _, hold := contactOf(t, db, id); (hold == check.ID) != (want == contactcheck.Begun) {
				t.Errorf("%s: the domain is suspended for %q", want, hold)
			}
		}
		begin(20, contactcheck.MailQueued)
		execStatement(t, db, `DELETE FROM mails`)
		for i := range 3 {
			begin(20, contactcheck.Unaccepted)
			execStatement(t, db, `INSERT INTO sent_notices (id, customer_id, domain_id, name, term_end, kind, recipient, subject, body, queued_at, sent_at, accepted, response)
				VALUES ($1, $2, $3, '', 0, 'contact_check', $4, '', '', 1, 1, 1, '250')`, fmt.Sprint("mail_", i), anna, check.ID, clientEmail)
		}
		begin(0, contactcheck.Stopped)
		planned, err := db.ListPlannedSuspensions(ctx, testTime.Add(contactcheck.Term), 10)
		if err != nil || len(planned) != 0 {
			t.Errorf("planned before the last reminder: %+v, %v", planned, err)
		}
		execStatement(t, db, `UPDATE contact_checks SET notices = 3`)
		check.Notices, suspended.Notices = 3, 3
		planned, err = db.ListPlannedSuspensions(ctx, testTime.Add(contactcheck.Term), 10)
		if err != nil || len(planned) != 1 || planned[0].Domain.Name != "one.org" {
			t.Errorf("planned: %+v, %v", planned, err)
		}
		if due, err := db.ListDueChecks(ctx, testTime.Add(contactcheck.Term), true, 10); err != nil || len(due) != 0 {
			t.Errorf("due although the brake has stopped suspensions: %+v, %v", due, err)
		}
		begin(20, contactcheck.Begun)
		status, _, err := db.GetBrake(ctx)
		if err != nil || status.Actions != 1 || status.Day != 5 {
			t.Errorf("the brake has counted %+v, %v", status, err)
		}
	})
}

// A hold that was about to be stored when the address was confirmed must not take the domain out
// of the DNS for good.
func TestConfirmAddress_NoHoldIsStoredAfterwards(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		id := addHeldDomain(t, db, anna, "one.org", registrar.DomainActive)
		check, _ := openCheck(t, db, anna, id, testTime)
		suspended := check
		suspended.State, suspended.SuspendedAt = contactcheck.Suspended, testTime
		if got, err := db.BeginSuspension(ctx, contactcheck.Suspension{Transition: contactcheck.Transition{From: check, To: suspended}}); got != contactcheck.Begun || err != nil {
			t.Fatal(got, err)
		}
		if held, err := db.IsHeldOtherwise(ctx, id, "dis_1"); !held || err != nil {
			t.Errorf("a dispute may remove the hold: %v", err)
		}
		if held, err := db.IsHeldOtherwise(ctx, id, check.ID); held || err != nil {
			t.Errorf("the check may not remove its hold: %v", err)
		}
		hold := newOpenChange(anna, id)
		hold.Kind, hold.Desired = domainchange.Hold, domainchange.DesiredState{Lock: check.ID}
		if released, err := db.ListDomainsToRelease(ctx, "", 10); err != nil || len(released) != 0 {
			t.Errorf("released before the confirmation: %+v, %v", released, err)
		}
		execStatement(t, db, `UPDATE domains SET registry_status = 'clientHold' WHERE id = $1`, id)
		if n := confirmClient(t, db, anna); n != 1 {
			t.Fatalf("%d checks confirmed", n)
		}
		if err := db.AddDomainChange(ctx, hold); registrar.CodeOf(err) != domainchange.ChangeInProgress {
			t.Errorf("a hold was stored after the confirmation: %v", err)
		}
		if n := count(t, db, `SELECT count(*) FROM mails WHERE kind = 'contact_confirmed' AND recipient = 'anna@example.com'`); n != 1 {
			t.Errorf("%d mails about the end of the suspension", n)
		}
		released, err := db.ListDomainsToRelease(ctx, "", 10)
		if err != nil || len(released) != 1 || released[0].ID != id || released[0].Hold != check.ID {
			t.Errorf("to be released: %+v, %v", released, err)
		}
		if err := db.ClearContactHold(ctx, id, check.ID); err != nil {
			t.Fatal(err)
		}
		if suspended, err := db.IsDomainSuspended(ctx, id); suspended || err != nil {
			t.Errorf("still suspended: %v", err)
		}
	})
}

func TestListUncheckedDomains_GuestIsAskedByClaimMailFirst(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, claims := t.Context(), newCustomer(t, db, "claims")
		o := mustUpdateOrder(t, db, addSession(t, db, newAgentSession("eins.org"), &guestContact), toPaid)
		id := addHeldDomain(t, db, o.Customer, "zwei.org", registrar.DomainActive)
		execStatement(t, db, `UPDATE domains SET contact_check = 'guest', registrant_since = $1 WHERE id = $2`, micros(testTime), id)
		for after, want := range map[time.Duration]int{time.Hour: 0, contactcheck.GuestDelay: 1} {
			unchecked, err := db.ListUncheckedDomains(ctx, testTime.Add(after-contactcheck.GuestDelay), "", 10)
			if err != nil || len(unchecked) != want {
				t.Errorf("%s after the registration: %+v, %v", after, unchecked, err)
			}
			if want == 1 && !unchecked[0].Since.Equal(testTime) {
				t.Errorf("the days count from %s", unchecked[0].Since)
			}
		}
		if ok, err := db.ClaimGuestOrders(ctx, addClaimLink(t, db, o.Customer), claims, testTime, orderEvent(o), admitAll); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if got, _ := contactOf(t, db, id); got != "" {
			t.Errorf("the claim has confirmed the address, and the domain waits for %q", got)
		}
	})
}

func TestClaim_ConfirmsAddressOfGuest(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, claims := t.Context(), newCustomer(t, db, "claims")
		o := mustUpdateOrder(t, db, addSession(t, db, newAgentSession("eins.org"), &guestContact), toPaid)
		link := addClaimLink(t, db, o.Customer)
		id := addHeldDomain(t, db, o.Customer, "zwei.org", registrar.DomainActive)
		check, opened := openCheck(t, db, o.Customer, id, testTime)
		execStatement(t, db, `UPDATE contact_checks SET email = email, email_key = (SELECT lower(links.email) FROM links)`)
		if !opened {
			t.Fatal("no check for a guest")
		}
		if ok, err := db.ClaimGuestOrders(ctx, link, claims, testTime, orderEvent(o), admitAll); !ok || err != nil {
			t.Fatal(ok, err)
		}
		stored, _, err := db.GetContactCheck(ctx, check.ID)
		if err != nil || stored.Customer != claims || stored.State != contactcheck.Confirmed || stored.ConfirmedBy != contactcheck.ByClaim {
			t.Errorf("%+v, %v", stored, err)
		}
		if got, _ := contactOf(t, db, id); got != "" {
			t.Errorf("the domain waits for %q", got)
		}
	})
}
