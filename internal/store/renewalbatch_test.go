package store

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// agreeInBatch turns automatic renewal on as a bulk action does.
func agreeInBatch(t *testing.T, consents *renewal.Consents, batch *renewal.Batch, customer string, domain portfolio.Domain) {
	t.Helper()
	offer, err := consents.Offer(t.Context(), personActor(customer), domain.ID)
	if err == nil {
		err = batch.Agree(t.Context(), personActor(customer), domain.ID, renewal.Agreement{
			Wording: renewal.ConsentWording("de"), Gross: offer.Gross, ChargeAt: offer.ChargeAt, Method: offer.Method,
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestBatch_OneMailWithEvidencePerDomain(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		saveMethod(t, db, anna)
		consents := newConsents(t, db)
		batch, term := consents.NewBatch(), testTime.AddDate(1, 0, 0)
		var domains []portfolio.Domain
		for i := range 3 {
			domains = append(domains, addDomain(t, db, anna, fmt.Sprintf("laden-%d", i), registrar.DomainActive, term.AddDate(0, 0, i)))
			agreeInBatch(t, consents, batch, anna, domains[i])
			agreeInBatch(t, consents, batch, anna, domains[i]) // on already: no second line
		}
		if due := listDueMails(t, db, testTime); len(due) != 0 {
			t.Errorf("the mail does not wait for the next domain: %+v", due)
		}
		mail := claimMail(t, db, testTime.Add(time.Minute), testTime.Add(time.Hour))
		if mail.Kind != registrar.MailRenewalOn || mail.Data["items"] != "3" || mail.Data["item3_name"] != domains[2].Name || mail.Data["item2_gross"] != "14.28" ||
			mail.Data["item3_charge_at"] == mail.Data["item1_charge_at"] || mail.Data["consent"] == "" || mail.Data["name"] != testCard {
			t.Fatalf("the mail %+v", mail.Data)
		}
		evidence := &mailer.Evidence{Mail: mail, Delivery: mailer.Delivery{Subject: "s", Text: "all of it", Response: "2.0.0 queued"}, At: testTime, Accepted: true}
		for range 2 { // a repeated delivery
			if err := db.DeleteMail(ctx, mail.ID, evidence); err != nil {
				t.Fatal(err)
			}
		}
		for i, domain := range domains {
			sent, err := db.ListSentNoticesOfDomain(ctx, domain.ID, 10)
			if err != nil || len(sent) != 1 || sent[0].Name != domain.Name || sent[0].Kind != registrar.MailRenewalOn || !sent[0].Accepted ||
				!sent[0].TermEnd.Equal(term.AddDate(0, 0, i)) || sent[0].Text != "all of it" || sent[0].Customer != anna {
				t.Errorf("evidence of %s: %+v, %v", domain.Name, sent, err)
			}
		}
		if all, err := db.ListSentNotices(ctx, anna, "", 10); err != nil || len(all) != 3 {
			t.Errorf("all evidence: %+v, %v", all, err)
		}
	})
}

func TestBatch_MailHasBoundAndClaimedMailStays(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		saveMethod(t, db, anna)
		consents := newConsents(t, db)
		on, off := consents.NewBatch(), consents.NewBatch()
		for i := range registrar.MaxJoinedMails + 2 {
			domain := addDomain(t, db, anna, fmt.Sprintf("laden-%03d", i), registrar.DomainActive, testTime.AddDate(1, 0, 0))
			agreeInBatch(t, consents, on, anna, domain)
			if i < 2 {
				if err := off.TurnOff(ctx, personActor(anna), domain.ID); err != nil {
					t.Fatal(err)
				}
			}
		}
		var got []string
		for _, mail := range listDueMails(t, db, testTime.Add(time.Minute)) {
			got = append(got, fmt.Sprint(mail.Kind, mail.Data["items"]))
		}
		if text := strings.Join(got, " "); len(got) != 3 || !strings.Contains(text, "renewal_on100") || !strings.Contains(text, "renewal_on2") || !strings.Contains(text, "renewal_off2") {
			t.Errorf("mails %s", text)
		}
		if _, err := db.ClaimDueMails(ctx, testTime.Add(time.Minute), testTime.Add(time.Hour), 10); err != nil {
			t.Fatal(err)
		}
		agreeInBatch(t, consents, on, anna, addDomain(t, db, anna, "spaeter", registrar.DomainActive, testTime.AddDate(1, 0, 0)))
		if due := listDueMails(t, db, testTime.Add(time.Minute)); len(due) != 1 || due[0].Data["domain"] != "spaeter.org" || due[0].Data["items"] != "" {
			t.Errorf("after the claim: %+v", due)
		}
	})
}

func TestBatch_LinesOfDifferentSecondsShareOneMail(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna, now := newCustomer(t, db, "anna"), testTime
		saveMethod(t, db, anna)
		consents, err := renewal.NewConsents(renewal.ConsentConfig{
			Store: db, Clock: func() time.Time { return testTime },
			Price: func(context.Context, string, order.RenewalTerm) (order.RenewalPrice, error) {
				return order.RenewalPrice{Years: 1, Gross: 1428, RateBasisPoints: 1900}, nil
			},
			Now: func() time.Time {
				now = now.Add(400 * time.Millisecond)
				return now
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		given, off := newConsents(t, db), consents.NewBatch()
		for i := range 6 {
			domain := addDomain(t, db, anna, fmt.Sprintf("laden-%d", i), registrar.DomainActive, testTime.AddDate(1, 0, 0))
			if err := agree(t, given, anna, domain); err != nil {
				t.Fatal(err)
			}
			if err := off.TurnOff(t.Context(), personActor(anna), domain.ID); err != nil {
				t.Fatal(err)
			}
		}
		var items []string
		for _, mail := range listDueMails(t, db, testTime.Add(time.Minute)) {
			if mail.Kind == registrar.MailRenewalOff {
				items = append(items, mail.Data["items"])
			}
		}
		if len(items) != 1 || items[0] != "6" {
			t.Errorf("the mails have %q domains", items)
		}
	})
}

func TestBatch_OtherWordingIsOtherMail(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		saveMethod(t, db, anna)
		for i, wording := range []string{"de", "en"} {
			given := givenConsent(anna, addDomain(t, db, anna, fmt.Sprintf("laden-%d", i), registrar.DomainActive, testTime.AddDate(1, 0, 0)))
			given.Mail.Data["consent"] = renewal.ConsentText(renewal.ConsentWording(wording))
			given.Mail.Join = "mail_first"
			if i == 0 {
				given.Mail.ID = given.Mail.Join
			}
			if err := db.GiveConsent(t.Context(), given); err != nil {
				t.Fatal(err)
			}
		}
		if due := listDueMails(t, db, testTime); len(due) != 2 || due[0].Data["items"]+due[1].Data["items"] != "" {
			t.Errorf("mails %+v", due)
		}
	})
}

func TestStartedMail_ConcurrentLinesShareItAndSentOneHasSuccessor(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		add := func(n int) error {
			return db.write(ctx, func(q *query.Queries) error {
				return enqueueMail(ctx, q, registrar.Mail{
					Kind: registrar.MailDomainChanged, Customer: anna, ID: "mail_blk_1", Join: "mail_blk_1", Delay: time.Second,
					Data: map[string]string{"domain": fmt.Sprintf("laden-%d.de", n), "change": "unlock"},
				}, testTime)
			})
		}
		var group sync.WaitGroup
		for n := range registrar.MaxJoinedMails {
			group.Go(func() {
				if err := add(n); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if got := count(t, db, `SELECT count(*) FROM mails`); got != 1 {
			t.Fatalf("%d mails for 100 domains", got)
		}
		for n := range 3 { // the first one is full
			if err := add(registrar.MaxJoinedMails + n); err != nil {
				t.Fatal(err)
			}
		}
		claimed, err := db.ClaimDueMails(ctx, testTime.Add(time.Minute), testTime.Add(time.Hour), 10)
		if err != nil || len(claimed) != 2 {
			t.Fatalf("claimed %d mails, %v", len(claimed), err)
		}
		lines := claimed[0].Data["items"] + " " + claimed[1].Data["items"]
		if lines != "100 3" && lines != "3 100" {
			t.Errorf("lines of the mails: %s", lines)
		}
		for n := range 2 { // both are being sent
			if err := add(200 + n); err != nil {
				t.Fatal(err)
			}
		}
		if got := count(t, db, `SELECT count(*) FROM mails`); got != 3 {
			t.Errorf("%d mails, want another one with two lines", got)
		}
	})
}
