package store

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

const testCard = "Visa •••• 4242"

func saveMethod(t *testing.T, db *DB, customer string) {
	t.Helper()
	if err := db.PutPaymentMethod(t.Context(), customer, order.PaymentMethod{ProviderCustomer: "cus_x", ID: "pm_1", Label: testCard}, testTime); err != nil {
		t.Fatal(err)
	}
}

func givenConsent(customer string, domain portfolio.Domain) renewal.GivenConsent {
	return renewal.Give(renewal.ConsentTerms{
		Actor:   personActor(customer),
		Domain:  renewal.Domain{ID: domain.ID, Name: domain.Name, TLD: domain.TLD, PaidUntil: domain.PaidUntil, Method: testCard},
		Wording: renewal.ConsentWording("de"), Years: 1, Gross: 1428, Now: testTime, At: testTime,
	})
}

func newConsents(t *testing.T, db *DB) *renewal.Consents {
	t.Helper()
	consents, err := renewal.NewConsents(renewal.ConsentConfig{
		Store: db, Now: func() time.Time { return testTime }, Clock: func() time.Time { return testTime },
		Price: func(context.Context, string, order.RenewalTerm) (order.RenewalPrice, error) {
			return order.RenewalPrice{Years: 1, Gross: 1428, RateBasisPoints: 1900}, nil
		},
		RestorePrice: func(context.Context, lifecycle.Term, time.Time) (registrar.Cents, bool) { return 9520, true },
	})
	if err != nil {
		t.Fatal(err)
	}
	return consents
}

// agree turns automatic renewal on as the customer does on the page.
func agree(t *testing.T, consents *renewal.Consents, customer string, domain portfolio.Domain) error {
	t.Helper()
	offer, err := consents.Offer(t.Context(), personActor(customer), domain.ID)
	if err != nil {
		return err
	}
	return consents.Agree(t.Context(), personActor(customer), domain.ID, renewal.Agreement{
		Wording: renewal.ConsentWording("de"), Gross: offer.Gross, ChargeAt: offer.ChargeAt, Method: offer.Method,
	})
}

func TestAgree_StoresConsentWithEvidence(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna, bert := t.Context(), newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		domain, consents := addDomain(t, db, anna, "alt", registrar.DomainActive, testTime.AddDate(1, 0, 0)), newConsents(t, db)
		wantCode(t, agree(t, consents, anna, domain), registrar.KindConflict, renewal.NoPaymentMethod)
		saveMethod(t, db, anna)
		saveMethod(t, db, bert)
		wantCode(t, agree(t, consents, bert, domain), registrar.KindNotFound, registrar.NoSuchDomain)
		for name, wrong := range map[string]renewal.Agreement{
			"the price":   {Wording: renewal.ConsentWording("de"), Gross: 1, ChargeAt: domain.PaidUntil.AddDate(0, 0, -14), Method: testCard},
			"the day":     {Wording: renewal.ConsentWording("de"), Gross: 1428, ChargeAt: domain.PaidUntil, Method: testCard},
			"the card":    {Wording: renewal.ConsentWording("de"), Gross: 1428, ChargeAt: domain.PaidUntil.AddDate(0, 0, -14), Method: "Visa •••• 0000"},
			"the wording": {Wording: "2020-01-de", Gross: 1428, ChargeAt: domain.PaidUntil.AddDate(0, 0, -14), Method: testCard},
		} {
			err := consents.Agree(ctx, personActor(anna), domain.ID, wrong)
			if registrar.CodeOf(err) != renewal.OfferChanged {
				t.Errorf("with another %s: %v", name, err)
			}
		}
		if count(t, db, "SELECT count(*) FROM renewal_consents") != 0 || count(t, db, "SELECT count(*) FROM mails") != 0 {
			t.Fatal("a refused agreement was stored")
		}
		for range 2 { // repeating it changes nothing
			if err := agree(t, consents, anna, domain); err != nil {
				t.Fatal(err)
			}
		}
		if n := count(t, db, `SELECT count(*) FROM renewal_consents WHERE domain_id = $1 AND customer_id = $2 AND wording = '2026-11b-de' AND gross = 1428
			AND years = 1 AND method = $3 AND through = 'ses_1' AND given_at = $4 AND charge_at = $5 AND ended_at = 0`,
			domain.ID, anna, testCard, micros(testTime), micros(domain.PaidUntil.AddDate(0, 0, -14))); n != 1 {
			t.Errorf("%d consents are stored", n)
		}
		for what, want := range map[string]string{
			"mail":        `SELECT count(*) FROM mails WHERE kind = 'renewal_on'`,
			"audit event": `SELECT count(*) FROM audit_events WHERE action = 'auto_renew_on' AND object = 'alt.org'`,
			"domain":      `SELECT count(*) FROM domains WHERE at_term_end = 'renew'`,
		} {
			if n := count(t, db, want); n != 1 {
				t.Errorf("%d rows of the %s", n, what)
			}
		}
		// The charge is announced 45 days before the end of the term.
		if n := count(t, db, "SELECT count(*) FROM renewals"); n != 0 {
			t.Errorf("%d renewals are announced", n)
		}
		stored, err := newPortfolioService(t, db).Get(ctx, personActor(anna), domain.ID)
		if err != nil || !stored.Renews() {
			t.Errorf("got %+v, %v", stored, err)
		}
	})
}

func TestAgree_OnlyActiveDomains(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		saveMethod(t, db, anna)
		for i, status := range registrar.DomainStatuses() {
			domain := addDomain(t, db, anna, string(rune('a'+i))+"-alt", status, testTime.AddDate(1, 0, 0))
			err := agree(t, newConsents(t, db), anna, domain)
			if runs := status == registrar.DomainActive; runs != (err == nil) {
				t.Errorf("%s: %v", status, err)
			}
		}
	})
}

// With less than 45 days left the consent is the announcement; with less than about 30 this
// term is never charged.
func TestAgree_LateConsentAnnouncesItself(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		saveMethod(t, db, anna)
		for label, want := range map[string]struct {
			days         int
			state        string
			daysToCharge int
		}{"early": {46, "", 32}, "late": {44, "announced", 31}, "tight": {33, "announced", 31}, "over": {25, "stopped", 0}} {
			domain := addDomain(t, db, anna, label, registrar.DomainActive, testTime.Truncate(24*time.Hour).AddDate(0, 0, want.days))
			if err := agree(t, newConsents(t, db), anna, domain); err != nil {
				t.Fatal(err)
			}
			stored, err := newPortfolioService(t, db).Get(t.Context(), personActor(anna), domain.ID)
			if err != nil || stored.Term.Renewal != want.state {
				t.Errorf("%s: got %+v, %v", label, stored.Term, err)
			}
			charge := testTime.Truncate(24*time.Hour).AddDate(0, 0, want.daysToCharge)
			if want.state == "announced" && !stored.Term.ChargeAt.Equal(charge) {
				t.Errorf("%s: charged on %s, want %s", label, stored.Term.ChargeAt, charge)
			}
		}
		// Off and on again: the stopped renewal starts again.
		domain := addDomain(t, db, anna, "again", registrar.DomainActive, testTime.AddDate(0, 0, 40))
		consents := newConsents(t, db)
		for _, step := range []func() error{
			func() error { return agree(t, consents, anna, domain) },
			func() error { return consents.TurnOff(t.Context(), personActor(anna), domain.ID) },
			func() error { return agree(t, consents, anna, domain) },
		} {
			if err := step(); err != nil {
				t.Fatal(err)
			}
		}
		if n := count(t, db, "SELECT count(*) FROM renewals WHERE domain_id = $1 AND state = 'announced'", domain.ID); n != 1 {
			t.Errorf("%d renewals are announced", n)
		}
		if n := count(t, db, "SELECT count(*) FROM renewal_consents WHERE domain_id = $1", domain.ID); n != 2 {
			t.Errorf("%d consents are stored", n)
		}
	})
}

func TestTurnOff_EndsConsentAtOnce(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna, consents := t.Context(), newCustomer(t, db, "anna"), newConsents(t, db)
		saveMethod(t, db, anna)
		for label, actor := range map[string]registrar.Actor{
			"person": personActor(anna), "token": {Kind: registrar.ActorToken, Customer: anna, Through: "tok_1"},
			"application": {Kind: registrar.ActorApplication, Customer: anna, Through: "grt_1"},
		} {
			domain := addDomain(t, db, anna, label, registrar.DomainActive, testTime.AddDate(0, 0, 40))
			if err := agree(t, consents, anna, domain); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time there is nothing to do
				if err := consents.TurnOff(ctx, actor, domain.ID); err != nil {
					t.Fatal(err)
				}
			}
			reason := "agent"
			if label == "person" {
				reason = "customer"
			}
			for what, want := range map[string]string{
				"ended consent":   `SELECT count(*) FROM renewal_consents WHERE domain_id = $1 AND ended_at > 0 AND end_reason = '` + reason + `'`,
				"stopped renewal": `SELECT count(*) FROM renewals WHERE domain_id = $1 AND state = 'stopped' AND charge_at = 0`,
				"domain":          `SELECT count(*) FROM domains WHERE id = $1 AND at_term_end = ''`,
			} {
				if n := count(t, db, want, domain.ID); n != 1 {
					t.Errorf("%s: %d rows: %s", label, n, what)
				}
			}
		}
		if n := count(t, db, "SELECT count(*) FROM mails WHERE kind = 'renewal_off'"); n != 3 {
			t.Errorf("%d mails about it", n)
		}
		for name, actor := range map[string]registrar.Actor{
			"an agent": {Kind: registrar.ActorAgent, Customer: anna}, "nobody": {Kind: registrar.ActorPerson}, "an operator": operatorActor(),
		} {
			if err := consents.TurnOff(ctx, actor, "dom_1"); err == nil {
				t.Errorf("%s turned it off", name)
			}
		}
	})
}

func TestTurnOff_ChargeInFlightChangesNothing(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna, consents := t.Context(), newCustomer(t, db, "anna"), newConsents(t, db)
		saveMethod(t, db, anna)
		domain := addDomain(t, db, anna, "alt", registrar.DomainActive, testTime.AddDate(0, 0, 40))
		if err := agree(t, consents, anna, domain); err != nil {
			t.Fatal(err)
		}
		if _, err := db.sql.Writer().ExecContext(ctx, "UPDATE renewals SET state = 'charging'"); err != nil {
			t.Fatal(err)
		}
		wantCode(t, consents.TurnOff(ctx, personActor(anna), domain.ID), registrar.KindConflict, renewal.InProgress)
		wantCode(t, consents.LetExpire(ctx, personActor(anna), domain.ID), registrar.KindConflict, renewal.InProgress)
		wantCode(t, consents.RemoveMethod(ctx, personActor(anna), "pm_1", "pm_1", ""), registrar.KindConflict, renewal.InProgress)
		if n := count(t, db, `SELECT count(*) FROM domains, renewal_consents, renewals, payment_methods
			WHERE at_term_end = 'renew' AND ended_at = 0 AND renewals.state = 'charging' AND payment_methods.method = 'pm_1'`); n != 1 {
			t.Error("something has changed")
		}
		if n := count(t, db, "SELECT count(*) FROM mails WHERE kind <> 'renewal_on'"); n != 0 {
			t.Errorf("%d mails", n)
		}
	})
}

func TestLetExpire_EndsConsentUntilTakenBack(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna, consents := t.Context(), newCustomer(t, db, "anna"), newConsents(t, db)
		saveMethod(t, db, anna)
		domain := addDomain(t, db, anna, "alt", registrar.DomainActive, testTime.AddDate(1, 0, 0))
		if err := agree(t, consents, anna, domain); err != nil {
			t.Fatal(err)
		}
		token := registrar.Actor{Kind: registrar.ActorToken, Customer: anna}
		wantCode(t, consents.LetExpire(ctx, token, domain.ID), registrar.KindForbidden, registrar.PersonsOnly)
		if err := consents.LetExpire(ctx, personActor(anna), domain.ID); err != nil {
			t.Fatal(err)
		}
		if count(t, db, "SELECT count(*) FROM domains WHERE at_term_end = 'expire'") != 1 || count(t, db, "SELECT count(*) FROM renewal_consents WHERE end_reason = 'expire'") != 1 ||
			count(t, db, "SELECT count(*) FROM mails WHERE kind = 'let_expire'") != 1 {
			t.Error("the choice is not stored")
		}
		until := registrar.LastFullDay(testTime.AddDate(1, 0, 35+30)).Format(time.DateOnly) // held and deleted as planned
		if n := count(t, db, `SELECT count(*) FROM mails WHERE kind = 'let_expire' AND data LIKE '%"gross":"95.20"%' AND data LIKE '%"redemption_days":"30"%' AND data LIKE '%"until":"`+until+`"%'`); n != 1 {
			t.Errorf("the mail does not say that the domain can be restored until %s", until)
		}
		recorded, err := db.ListConsents(ctx, anna, 5)
		if err != nil || len(recorded) != 1 || recorded[0].Name != "alt.org" || recorded[0].Gross != 1428 || recorded[0].Method != testCard || !recorded[0].GivenAt.Equal(testTime) ||
			recorded[0].EndedAt.IsZero() || recorded[0].Reason != renewal.EndExpire || recorded[0].Text() == "" {
			t.Errorf("operators see %+v, %v", recorded, err)
		}
		if err := consents.KeepOpen(ctx, personActor(anna), domain.ID); err != nil {
			t.Fatal(err)
		}
		if n := count(t, db, "SELECT count(*) FROM domains WHERE at_term_end = ''"); n != 1 {
			t.Error("the choice is not taken back")
		}
	})
}

// A renewal by hand contradicts the choice to let the domain expire.
func TestRenewDomain_EndsLetExpire(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna, consents := newCustomer(t, db, "anna"), newConsents(t, db)
		domain := addDomain(t, db, anna, "alt", registrar.DomainActive, testTime.AddDate(0, 1, 0))
		if err := consents.LetExpire(t.Context(), personActor(anna), domain.ID); err != nil {
			t.Fatal(err)
		}
		line := newProvisionItem(anna, domain.Name, "manual:1")
		line.Kind, line.Domain = provision.Renew, domain.ID
		stored, err := db.AddProvisionItem(t.Context(), line, orderedEvent(anna, line.Name))
		if err != nil {
			t.Fatal(err)
		}
		mustUpdateItem(t, db, itemTransition(stored, func(l *provision.Item, m *provision.Transition) {
			l.State, l.DueAt = provision.StateActive, time.Time{}
			m.Renewal = &provision.Renewal{Domain: domain.ID, From: domain.PaidUntil, Until: domain.PaidUntil.AddDate(1, 0, 0), At: testTime}
		}))
		if n := count(t, db, "SELECT count(*) FROM domains WHERE at_term_end = ''"); n != 1 {
			t.Error("the renewed domain is still left to expire")
		}
	})
}

func TestTransferOut_EndsConsent(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		saveMethod(t, db, anna)
		domain := addDomain(t, db, anna, "alt", registrar.DomainActive, testTime.AddDate(0, 0, 40))
		if err := agree(t, newConsents(t, db), anna, domain); err != nil {
			t.Fatal(err)
		}
		was, found, err := db.DomainByName(t.Context(), domain.Name)
		if err != nil || !found {
			t.Fatal(found, err)
		}
		now := was
		now.Status, now.UpdatedAt = registrar.DomainTransferredOut, testTime
		if ok, err := db.UpdateDomainFromRegistry(t.Context(), was, now, nil); err != nil || !ok {
			t.Fatal(ok, err)
		}
		if count(t, db, "SELECT count(*) FROM renewal_consents WHERE end_reason = 'transferred'") != 1 || count(t, db, "SELECT count(*) FROM domains WHERE at_term_end = ''") != 1 ||
			count(t, db, "SELECT count(*) FROM renewals WHERE state = 'stopped'") != 1 {
			t.Error("the domain still renews")
		}
	})
}

func TestRemoveMethod_EndsEveryConsent(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna, bert, consents := t.Context(), newCustomer(t, db, "anna"), newCustomer(t, db, "bert"), newConsents(t, db)
		for customer, owner := range map[string]string{anna: "anna", bert: "bert"} {
			saveMethod(t, db, customer)
			for _, label := range []string{"eins-" + owner, "zwei-" + owner} {
				if err := agree(t, consents, customer, addDomain(t, db, customer, label, registrar.DomainActive, testTime.AddDate(0, 0, 40))); err != nil {
					t.Fatal(err)
				}
			}
		}
		methods, err := consents.Methods(ctx, personActor(anna))
		if err != nil || methods.Default().Label != testCard || len(methods.Renewing) != 2 {
			t.Errorf("got %+v, %v", methods, err)
		}
		if err := consents.RemoveMethod(ctx, personActor(anna), "pm_1", "pm_1", ""); err != nil {
			t.Fatal(err)
		}
		wantCode(t, consents.RemoveMethod(ctx, personActor(anna), "pm_1", "pm_1", ""), registrar.KindNotFound, renewal.NoSuchMethod)
		if count(t, db, "SELECT count(*) FROM renewal_consents WHERE end_reason = 'no_method' AND customer_id = $1", anna) != 2 ||
			count(t, db, "SELECT count(*) FROM renewal_consents WHERE ended_at = 0 AND customer_id = $1", bert) != 2 ||
			count(t, db, "SELECT count(*) FROM renewals WHERE state = 'announced' AND customer_id = $1", anna) != 0 ||
			count(t, db, "SELECT count(*) FROM domains WHERE at_term_end = 'renew'") != 2 || count(t, db, "SELECT count(*) FROM mails WHERE kind = 'payment_method'") != 1 {
			t.Error("the wrong consents have ended")
		}
		// Another provider customer replaces the method, too.
		if err := db.PutPaymentMethod(ctx, bert, order.PaymentMethod{ProviderCustomer: "cus_x"}, testTime); err != nil {
			t.Fatal(err)
		}
		if n := count(t, db, "SELECT count(*) FROM domains WHERE at_term_end = 'renew'"); n != 2 {
			t.Errorf("%d domains renew although the method is saved", n)
		}
		if err := db.PutPaymentMethod(ctx, bert, order.PaymentMethod{ProviderCustomer: "cus_y"}, testTime); err != nil {
			t.Fatal(err)
		}
		if n := count(t, db, "SELECT count(*) FROM domains WHERE at_term_end = 'renew'"); n != 0 {
			t.Errorf("%d domains renew without a method", n)
		}
	})
}

func TestGiveConsent_RefusedIfNoticeArrivedAfterTheOffer(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		saveMethod(t, db, anna)
		domain := addDomain(t, db, anna, "alt", registrar.DomainActive, testTime.AddDate(1, 0, 0))
		notice := withdrawal.Notice{ID: "dcl_1", Kind: withdrawal.Termination, Email: "anna@example.com", Contract: domain.Name, At: domain.CreatedAt.Add(time.Hour)}
		if err := db.AddWithdrawalNotice(t.Context(), notice, nil, testTime); err != nil {
			t.Fatal(err)
		}
		wantCode(t, db.GiveConsent(t.Context(), givenConsent(anna, domain)), registrar.KindConflict, withdrawal.NoticeOpen)
		if n := count(t, db, "SELECT count(*) FROM domains WHERE at_term_end = 'renew'"); n != 0 {
			t.Error("the domain renews")
		}
	})
}

// A changed address of the account does not end the rule, and neither do many other notices.
func TestGiveConsent_RefusedByNoticeOfFormerAddressAndBelowManyOthers(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		saveMethod(t, db, anna)
		domain := addDomain(t, db, anna, "alt", registrar.DomainActive, testTime.AddDate(1, 0, 0))
		other := addDomain(t, db, anna, "anders", registrar.DomainActive, testTime.AddDate(1, 0, 0))
		sent := func(id, customer, email, contract string) {
			t.Helper()
			notice := withdrawal.Notice{ID: id, Customer: customer, Kind: withdrawal.Termination, Email: email, Contract: contract, At: domain.CreatedAt.Add(time.Hour)}
			if err := db.AddWithdrawalNotice(ctx, notice, nil, testTime); err != nil {
				t.Fatal(err)
			}
		}
		refused := func(when string) {
			t.Helper()
			open, err := db.ListOpenNotices(ctx, anna, []string{domain.ID, other.ID})
			if err != nil || len(open) != 1 || len(open[domain.ID]) != 1 {
				t.Errorf("%s: open notices %v, %v", when, open, err)
			}
			wantCode(t, db.GiveConsent(ctx, givenConsent(anna, domain)), registrar.KindConflict, withdrawal.NoticeOpen)
		}
		sent("dcl_1", "", "Anna@example.com", domain.Name)
		for i := range 60 {
			sent(fmt.Sprintf("dcl_2%02d", i), "", "anna@example.com", "fremd.org")
		}
		refused("below 60 newer notices")
		// As an older release stored it.
		execStatement(t, db, `UPDATE withdrawal_notices SET customer_id = ''`)
		if err := db.UpdateCustomers(ctx, func(tx account.Tx) error {
			_, err := tx.SetEmail(ctx, anna, "neu@example.com", "neu@example.com")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		refused("after a change of the address")
		execStatement(t, db, `DELETE FROM withdrawal_notices`)
		sent("dcl_3", anna, "buero@example.com", domain.Name)
		refused("sent signed in with another address")
		// The account's own confirmed address, without signing in, and a direct change of it.
		execStatement(t, db, `DELETE FROM withdrawal_notices`)
		sent("dcl_4", "", "NEU@example.com", domain.Name)
		execStatement(t, db, `UPDATE customers SET email = 'wieder@example.com', email_key = 'wieder@example.com' WHERE id = $1`, anna)
		refused("sent with the former address")
		// More newer ones than are read at once.
		for i := range noticePage + 1 {
			execStatement(t, db, `INSERT INTO withdrawal_notices (id, kind, name, email, contract, ground, reason, end_day, language, created_at)
				VALUES ($1, 'termination', '', 'wieder@example.com', 'fremd.org', 'ordinary', '', '', 'de', 1)`, fmt.Sprintf("dcl_5%04d", i))
		}
		refused("below more notices than a page")
		if n := count(t, db, "SELECT count(*) FROM domains WHERE at_term_end = 'renew'"); n != 0 {
			t.Errorf("%d domains renew", n)
		}
		if err := db.GiveConsent(ctx, givenConsent(anna, other)); err != nil {
			t.Errorf("notices about another domain: %v", err)
		}
	})
}

// The number of an order identifies the contract, whenever its domain was added; that of an order for
// an earlier contract of the same name does not.
func TestListOpenNotices_OrderNumbersOfTheContractOnly(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		domain := addDomain(t, db, anna, "alt", registrar.DomainActive, testTime.AddDate(1, 0, 0))
		earlier, current := addOrder(t, db, testOrder(anna, domain.Name, "mehr.org")), addOrder(t, db, testOrder(anna, domain.Name))
		execStatement(t, db, `UPDATE order_items SET domain_id = $1 WHERE order_id = $2`, domain.ID, current.ID)
		execStatement(t, db, `UPDATE orders SET created_at = $1`, micros(domain.CreatedAt.Add(-time.Hour)))
		for _, test := range []struct {
			contract string
			before   time.Duration // the domain was added
			open     bool
		}{
			{current.ID, 30 * time.Minute, true},
			{current.ID, 48 * time.Hour, true},
			{earlier.ID, -time.Hour, false},
			{domain.Name, 30 * time.Minute, true}, // ordered, not added yet
			{domain.Name, 2 * time.Hour, false},   // before it was ordered
		} {
			execStatement(t, db, `DELETE FROM withdrawal_notices`)
			notice := withdrawal.Notice{ID: "dcl_1", Kind: withdrawal.Termination, Email: "anna@example.com", Contract: test.contract, At: domain.CreatedAt.Add(-test.before)}
			if err := db.AddWithdrawalNotice(ctx, notice, nil, testTime); err != nil {
				t.Fatal(err)
			}
			open, err := db.ListOpenNotices(ctx, anna, []string{domain.ID})
			if err != nil || (len(open[domain.ID]) > 0) != test.open {
				t.Errorf("%+v: %v, %v", test, open, err)
			}
			if notices, err := db.ListContractNotices(ctx, anna, domain.ID); err != nil || (len(notices) > 0) != test.open {
				t.Errorf("%+v: %+v, %v", test, notices, err)
			}
		}
	})
}
