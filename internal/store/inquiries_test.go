package store

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/inquiry"
)

func TestInquiry_StoredOnceHandledOnceAndDeletedAfterAYear(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		now := testTime
		service, err := inquiry.New(inquiry.Config{Store: db, OperatorEmail: "post@kontor.example", Now: func() time.Time { return now }, Clock: atTestTime})
		if err != nil {
			t.Fatal(err)
		}
		request := inquiry.Inquiry{Name: "Erika", Email: "erika@example.de", Topic: "abuse", About: "kaffee.de", Message: "Zeile 1\nZeile 2"}
		results := make(chan inquiry.Inquiry)
		for range 2 { // a double click
			go func() {
				made, err := service.Submit(ctx, registrar.Actor{Kind: registrar.ActorPerson}, request)
				if err != nil {
					t.Error(err)
				}
				results <- made
			}()
		}
		made, same := <-results, <-results
		if made != same {
			t.Fatalf("two inquiries: %+v %+v", made, same)
		}
		if due := listDueMails(t, db, testTime.Add(time.Hour)); len(due) != 2 {
			t.Errorf("%d mails", len(due))
		}
		if open, err := db.ListOpenInquiries(ctx, "", 10); err != nil || len(open) != 1 || open[0] != made {
			t.Errorf("%+v, %v", open, err)
		}
		anna := registrar.Actor{Kind: registrar.ActorOperator, Through: "cus_anna"}
		if err := service.Close(ctx, anna, made.ID, "beantwortet"); err != nil {
			t.Fatal(err)
		}
		if err := service.Close(ctx, anna, made.ID, "noch einmal"); registrar.CodeOf(err) != inquiry.AlreadyHandled {
			t.Errorf("closing twice: %v", err)
		}
		handled, older, err := service.ListHandled(ctx, anna, "")
		if err != nil || len(handled) != 1 || older != "" || handled[0].DoneNote != "beantwortet" || handled[0].DoneBy != "cus_anna" {
			t.Errorf("%+v, %v", handled, err)
		}
		if count, err := service.CountOpen(ctx, anna); err != nil || count != 0 {
			t.Errorf("%d open, %v", count, err)
		}
		request.Message = "bleibt offen"
		if _, err := service.Submit(ctx, registrar.Actor{Kind: registrar.ActorPerson}, request); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			after time.Duration
			left  bool
		}{{364 * 24 * time.Hour, true}, {366 * 24 * time.Hour, false}} {
			now = testTime.Add(step.after)
			if err := service.DeleteOld(ctx); err != nil {
				t.Fatal(err)
			}
			if _, found, err := db.GetInquiry(ctx, made.ID); err != nil || found != step.left {
				t.Errorf("after %v: found %t, %v", step.after, found, err)
			}
		}
		if count, err := service.CountOpen(ctx, anna); err != nil || count != 1 {
			t.Errorf("the open one is gone: %d, %v", count, err)
		}
		customer := registrar.Actor{Kind: registrar.ActorPerson, Customer: "cus_1"}
		if _, err := service.Get(ctx, customer, made.ID); registrar.CodeOf(err) != registrar.OperatorsOnly {
			t.Errorf("a customer got %v", err)
		}
	})
}

func TestCloseAccount_DeletesHandledInquiriesOnly(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		anna, bert := newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		service, err := inquiry.New(inquiry.Config{Store: db, Now: func() time.Time { return testTime }})
		if err != nil {
			t.Fatal(err)
		}
		submit := func(customer, message string) string {
			made, err := service.Submit(ctx, registrar.Actor{Kind: registrar.ActorPerson, Customer: customer}, inquiry.Inquiry{
				Name: "A", Email: "a@example.org", Topic: "other", Message: message,
			})
			if err != nil {
				t.Fatal(err)
			}
			return made.ID
		}
		left := map[string]bool{submit(anna, "handled"): false, submit(bert, "handled"): true, submit("", "handled"): true}
		for id := range left {
			if err := service.Close(ctx, registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}, id, "done"); err != nil {
				t.Fatal(err)
			}
		}
		left[submit(anna, "open")] = true
		err = db.UpdateCustomers(ctx, func(tx account.Tx) error {
			_, err := tx.CloseAccount(ctx, anna, "nobody@closed.invalid", testTime)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for id, want := range left {
			if one, found, err := db.GetInquiry(ctx, id); err != nil || found != want {
				t.Errorf("%+v: %t, %v", one, found, err)
			}
		}
	})
}
