package store

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// hold gives a customer a domain.
func hold(t *testing.T, db *DB, customer, label string, status holding.Status, until time.Time) holding.Domain {
	t.Helper()
	domain, err := holdingOn(t, db).Add(t.Context(), operator(), holding.Addition{
		Customer: customer, Name: registrar.NewName(label, ".org"), Status: status, PaidUntil: until,
	})
	if err != nil {
		t.Fatal(err)
	}
	return domain
}

func telling(domain holding.Domain, told, notice lifecycle.Notice) lifecycle.Telling {
	tell := lifecycle.Telling{
		Was:    lifecycle.Domain{ID: domain.ID, Customer: domain.Customer, Name: domain.Name, PaidUntil: domain.PaidUntil, Told: told},
		Notice: notice, Now: testTime, At: testTime,
		Letter: registrar.Letter{Kind: registrar.LetterExpiringMonth, Customer: domain.Customer, Facts: map[string]string{"domain": domain.Name}},
	}
	if notice == lifecycle.Over {
		tell.Deed = &registrar.Deed{Actor: registrar.Actor{Kind: registrar.ActorSystem}, Action: lifecycle.Expired, Customer: domain.Customer, At: testTime}
	}
	return tell
}

func TestWhoseTermEndsIsFoundByWhatTheyWereTold(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		soon, later := testTime.AddDate(0, 0, 5), testTime.AddDate(0, 0, 20)
		first := hold(t, db, anna, "bald", holding.StatusActive, soon)
		second := hold(t, db, anna, "spaeter", holding.StatusActive, later)
		hold(t, db, anna, "naechstes-jahr", holding.StatusActive, testTime.AddDate(1, 0, 0))
		hold(t, db, anna, "weg", holding.StatusTransferredOut, soon)
		hold(t, db, anna, "geloescht", holding.StatusRedemption, soon)
		renewing := hold(t, db, anna, "bezahlt", holding.StatusActive, soon)
		line := paidLine(anna, renewing.Name, "manual:1")
		line.Kind, line.Domain = provision.Renew, renewing.ID
		if _, err := db.AddLine(ctx, line, ordered(anna, line.Name)); err != nil {
			t.Fatal(err)
		}
		names := func(told lifecycle.Notice) (names string) {
			ending, err := db.Ending(ctx, told, testTime.AddDate(0, 0, 30), 10)
			if err != nil {
				t.Fatal(err)
			}
			for _, domain := range ending {
				names += domain.Name + " "
			}
			return names
		}
		if got := names(lifecycle.None); got != "bald.org spaeter.org " {
			t.Errorf("to be told: %s", got)
		}
		for _, domain := range []holding.Domain{first, second} {
			if told, err := db.Tell(ctx, telling(domain, lifecycle.None, lifecycle.Month)); err != nil || !told {
				t.Fatal(told, err)
			}
			if told, err := db.Tell(ctx, telling(domain, lifecycle.None, lifecycle.Month)); err != nil || told {
				t.Errorf("the same notice twice: %t, %v", told, err)
			}
		}
		if none, month := names(lifecycle.None), names(lifecycle.Month); none != "" || month != "bald.org spaeter.org " {
			t.Errorf("then: %q, %q", none, month)
		}
		if told, err := db.Tell(ctx, telling(renewing, lifecycle.None, lifecycle.Over)); err != nil || told {
			t.Errorf("a domain whose renewal is paid was told that it is over: %t, %v", told, err)
		}
		if letters := count(t, db, "SELECT count(*) FROM mails"); letters != 2 {
			t.Errorf("%d letters", letters)
		}
	})
}

func TestOfManyWhoTellAHolderOneDoes(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		domain := hold(t, db, newCustomer(t, db, "anna"), "bald", holding.StatusActive, testTime)
		var told atomic.Int64
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				done, err := db.Tell(t.Context(), telling(domain, lifecycle.None, lifecycle.Over))
				if err != nil {
					t.Error(err)
				}
				if done {
					told.Add(1)
				}
			})
		}
		all.Wait()
		if told.Load() != 1 || count(t, db, "SELECT count(*) FROM mails") != 1 {
			t.Errorf("told %d times", told.Load())
		}
		if got := count(t, db, "SELECT count(*) FROM domains WHERE status = 'expired' AND notified = 3"); got != 1 {
			t.Error("it is not expired")
		}
	})
}

func TestARenewalMovesTheTermOnceAndBeginsTheNoticesAnew(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		domain := hold(t, db, anna, "alt", holding.StatusActive, testTime)
		if told, err := db.Tell(ctx, telling(domain, lifecycle.None, lifecycle.Over)); err != nil || !told {
			t.Fatal(told, err)
		}
		line := paidLine(anna, domain.Name, "manual:1")
		line.Kind, line.Domain = provision.Renew, domain.ID
		line, err := db.AddLine(ctx, line, ordered(anna, line.Name))
		if err != nil {
			t.Fatal(err)
		}
		line = mustMove(t, db, step(line, func(l *provision.Line, _ *provision.Move) {
			l.State, l.RenewFrom = provision.StateRequested, testTime.AddDate(0, 0, 1)
		}))
		if stored, _, err := db.LineByID(ctx, line.ID); err != nil || !stored.RenewFrom.Equal(line.RenewFrom) || stored.Domain != domain.ID {
			t.Errorf("stored %+v, %v", stored, err)
		}
		until := testTime.AddDate(1, 0, 0)
		end := step(line, func(l *provision.Line, m *provision.Move) {
			l.State, l.DueAt = provision.StateActive, time.Time{}
			m.Renew = &provision.Renewal{Domain: domain.ID, From: testTime, Until: until, RegistryExpires: until, SyncDue: testTime, At: testTime}
		})
		wrong := end
		wrong.Renew = &provision.Renewal{Domain: domain.ID, From: testTime.AddDate(0, 1, 0), Until: until, At: testTime}
		if _, err := db.MoveLine(ctx, wrong); err == nil {
			t.Error("a term that is not what it was was renewed")
		}
		mustMove(t, db, end)
		if moved, err := db.MoveLine(ctx, end); err != nil || moved {
			t.Errorf("the same step twice: %t, %v", moved, err)
		}
		renewed, _, err := db.DomainByName(ctx, domain.Name)
		if err != nil || !renewed.PaidUntil.Equal(until) || renewed.Status != "active" {
			t.Errorf("%+v, %v", renewed, err)
		}
		if got := count(t, db, "SELECT count(*) FROM domains WHERE notified = 0"); got != 1 {
			t.Error("the notices do not begin anew")
		}
	})
}

func TestARenewalNeedsADomainOfItsCustomer(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna, bert := newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		domain := hold(t, db, anna, "alt", holding.StatusActive, testTime)
		line := paidLine(bert, domain.Name, "manual:1")
		line.Kind, line.Domain = provision.Renew, domain.ID
		if _, err := db.AddLine(t.Context(), line, ordered(bert, line.Name)); registrar.CodeOf(err) != provision.NameHeld {
			t.Errorf("somebody else's: %v", err)
		}
	})
}

func TestOnlyWhatRunsIsSwitchedToRenewByItself(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna, service := t.Context(), newCustomer(t, db, "anna"), holdingOn(t, db)
		person := registrar.Actor{Kind: registrar.ActorPerson, Customer: anna}
		if err := db.KeepMethod(ctx, anna, order.Method{Holder: "cus_x", ID: "pm_1", Label: "Visa"}, testTime); err != nil {
			t.Fatal(err)
		}
		for _, status := range holding.Statuses() {
			domain := hold(t, db, anna, "in-"+strings.ReplaceAll(string(status), "_", "-"), status, testTime)
			err := service.SetAutoRenew(ctx, person, domain.ID, true)
			if runs := status == holding.StatusActive; runs != (err == nil) || !runs && registrar.CodeOf(err) != holding.NoSuchDomain {
				t.Errorf("%s is switched on: %v", status, err)
			}
			if err := service.SetAutoRenew(ctx, person, domain.ID, false); err != nil && status != holding.StatusTransferredOut {
				t.Errorf("%s is switched off: %v", status, err)
			}
		}
	})
}

func TestNothingRenewsByItselfWithoutAMeansOfPayment(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna, bert, service := t.Context(), newCustomer(t, db, "anna"), newCustomer(t, db, "bert"), holdingOn(t, db)
		domain := hold(t, db, anna, "alt", holding.StatusActive, testTime)
		person := registrar.Actor{Kind: registrar.ActorPerson, Customer: anna}
		on := func() bool {
			domains, err := service.List(ctx, person)
			if err != nil || len(domains) != 1 {
				t.Fatal(domains, err)
			}
			return domains[0].AutoRenew
		}
		if err := service.SetAutoRenew(ctx, person, domain.ID, true); registrar.CodeOf(err) != holding.NoMethod || on() {
			t.Errorf("without a means of payment: %v", err)
		}
		if err := db.KeepMethod(ctx, anna, order.Method{Holder: "cus_x", ID: "pm_1", Label: "Visa"}, testTime); err != nil {
			t.Fatal(err)
		}
		if err := service.SetAutoRenew(ctx, registrar.Actor{Kind: registrar.ActorPerson, Customer: bert}, domain.ID, true); registrar.CodeOf(err) != holding.NoSuchDomain {
			t.Errorf("somebody else's domain: %v", err)
		}
		if err := service.SetAutoRenew(ctx, person, domain.ID, true); err != nil || !on() {
			t.Errorf("with one: %v", err)
		}
		// The same customer of the provider pays without letting us keep anything.
		if err := db.KeepMethod(ctx, anna, order.Method{Holder: "cus_x"}, testTime); err != nil || !on() {
			t.Errorf("it is off though the means is still there, %v", err)
		}
		// Another one takes the kept means away.
		if err := db.KeepMethod(ctx, anna, order.Method{Holder: "cus_y"}, testTime); err != nil || on() {
			t.Errorf("it is still on, %v", err)
		}
		if err := service.SetAutoRenew(ctx, person, domain.ID, false); err != nil {
			t.Errorf("off is always possible: %v", err)
		}
	})
}
