package provision_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// renewing is a house whose customer has paid for another year of a domain.
func renewing(t *testing.T, o *office, change func(*provision.Domain)) (h *house, paidUntil time.Time) {
	t.Helper()
	h = newHouse(t, o)
	paidUntil = time.Now().AddDate(0, 1, 0).Truncate(time.Microsecond)
	domain := provision.Domain{ID: "dom_1", Customer: "cus_ada", Name: "alt.org", TLD: ".org", Status: "active", Account: "office", PaidUntil: paidUntil}
	if change != nil {
		change(&domain)
	}
	h.shelf.domains["dom_1"] = domain
	if o.records == nil {
		o.records = map[string]provision.Record{"alt.org": {Name: "alt.org", Expires: domain.PaidUntil}}
	}
	line, err := h.Order(t.Context(), operator, provision.Order{
		Customer: "cus_ada", Name: registrar.NewName("alt", ".org"), Kind: provision.Renew, Payment: "manual:1",
	})
	if err != nil || line.Domain != "dom_1" || line.Years != 1 {
		t.Fatalf("%+v, %v", line, err)
	}
	return h, domain.PaidUntil
}

func TestARenewalStoresTheExpiryAtWhichItBeginsBeforeTheCommand(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		expires := time.Now().AddDate(1, 1, 0)
		h, paidUntil := renewing(t, &office{expires: expires}, nil)
		runFor(t, time.Minute, h.Service)
		if got, want := strings.Join(h.log.all(), ", "), "stored requested, renew asked=false, stored active"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		line, domain := h.shelf.only(t), h.shelf.domains["dom_1"]
		if !line.RenewFrom.Equal(paidUntil) || line.RefundDue || !h.office.requests[0].From.Equal(paidUntil) {
			t.Errorf("the line is %+v, the request was %+v", line, h.office.requests)
		}
		if !domain.PaidUntil.Equal(paidUntil.AddDate(1, 0, 0)) || domain.Status != "active" || !domain.RegistryExpires.Equal(expires) {
			t.Errorf("the domain is %+v", domain)
		}
		if last := h.shelf.deeds[len(h.shelf.deeds)-1]; last.Action != provision.ActionRenewed {
			t.Errorf("the audit tells %+v", last)
		}
	})
}

func TestARenewalThatIsFoundRequestedIsAskedAboutFirst(t *testing.T) {
	t.Parallel()
	for state, want := range map[provision.State]string{provision.StateRequested: "renew asked=true", provision.StatePending: "outcome"} {
		synctest.Test(t, func(t *testing.T) {
			h, paidUntil := renewing(t, &office{decided: func() (provision.Outcome, error) { return provision.Outcome{}, nil }}, nil)
			line := h.shelf.only(t)
			line.State, line.DueAt, line.RenewFrom = state, time.Now(), paidUntil
			h.shelf.lines[line.ID] = line
			runFor(t, 10*time.Second, h.Service)
			if got := h.log.all(); len(got) == 0 || got[0] != want {
				t.Errorf("%s: began with %q", state, got)
			}
			if domain := h.shelf.domains["dom_1"]; !domain.PaidUntil.Equal(paidUntil.AddDate(1, 0, 0)) {
				t.Errorf("%s: paid until %s", state, domain.PaidUntil)
			}
		})
	}
}

func TestWhatTheRegistryHasRenewedByItselfIsNotRenewedAgain(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]func(paid time.Time) time.Time{
		"a year":                   func(paid time.Time) time.Time { return paid.AddDate(1, 0, 0) },
		"about a year":             func(paid time.Time) time.Time { return paid.AddDate(1, 0, -1) },
		"it has no terms at all":   func(time.Time) time.Time { return time.Time{} },
		"it is paid for at length": func(paid time.Time) time.Time { return paid.AddDate(5, 0, 0) },
	} {
		synctest.Test(t, func(t *testing.T) {
			paid := time.Now().AddDate(0, 0, -3).Truncate(time.Microsecond)
			h, _ := renewing(t, &office{records: map[string]provision.Record{"alt.org": {Name: "alt.org", Expires: ahead(paid)}}},
				func(d *provision.Domain) { d.PaidUntil = paid })
			runFor(t, time.Minute, h.Service)
			if calls := h.log.all(); slices.ContainsFunc(calls, func(call string) bool { return strings.HasPrefix(call, "renew") }) {
				t.Errorf("%s: %q", name, calls)
			}
			if domain := h.shelf.domains["dom_1"]; !domain.PaidUntil.Equal(paid.AddDate(1, 0, 0)) || h.shelf.only(t).State != provision.StateActive {
				t.Errorf("%s: %+v", name, domain)
			}
		})
	}
}

func TestAnExpiredDomainIsActiveAfterItsRenewal(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string][]error{
		"at once":            nil,
		"after some trouble": {unreachable(), unreachable()},
		"though it stays out of the zone, which a person has to mend": {refused("locked")},
	} {
		synctest.Test(t, func(t *testing.T) {
			h, _ := renewing(t, &office{refuse: map[string][]error{"unhold": refuse}}, func(d *provision.Domain) {
				d.Status, d.PaidUntil = "expired", time.Now().AddDate(0, 0, -3)
			})
			runFor(t, time.Minute, h.Service)
			if domain := h.shelf.domains["dom_1"]; domain.Status != "active" || !slices.Contains(h.log.all(), "unhold") {
				t.Errorf("%s: %+v after %q", name, domain, h.log.all())
			}
			if line := h.shelf.only(t); line.State != provision.StateActive || line.RefundDue {
				t.Errorf("%s: the line is %+v", name, line)
			}
		})
	}
}

func TestARefusedRenewalIsRefundedAndChangesNothing(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]*office{
		"by the registry": {refuse: map[string][]error{"request": {refused("not_renewable")}}},
		"later":           {pending: true, decided: func() (provision.Outcome, error) { return provision.Outcome{}, refused(provision.Denied) }},
		"it was deleted":  {records: map[string]provision.Record{"alt.org": {Redemption: true, Expires: time.Now()}}},
		"it is elsewhere": {recErr: map[string]error{"alt.org": &registrar.Error{Kind: registrar.KindForbidden, Code: provision.Elsewhere}}},
		"it is gone":      {recErr: map[string]error{"alt.org": &registrar.Error{Kind: registrar.KindNotFound, Code: provision.Gone}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			h, paidUntil := renewing(t, o, nil)
			before := h.shelf.domains["dom_1"]
			runFor(t, time.Minute, h.Service)
			line := h.shelf.only(t)
			if line.State != provision.StateFailed || !line.RefundDue || line.Failure == "" {
				t.Errorf("%s: the line is %+v", name, line)
			}
			if after := h.shelf.domains["dom_1"]; after.Status != before.Status || !after.PaidUntil.Equal(paidUntil) {
				t.Errorf("%s: the domain is %+v", name, after)
			}
		})
	}
}

func TestARenewalWaitsForARegistryThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, paidUntil := renewing(t, &office{
			recErr: map[string]error{"alt.org": unreachable()}, refuse: map[string][]error{"request": slices.Repeat([]error{unreachable()}, 3)},
		}, nil)
		runFor(t, 10*time.Minute, h.Service)
		if line := h.shelf.only(t); line.State != provision.StatePaid || line.RefundDue {
			t.Errorf("while nobody answers the line is %+v", line)
		}
		h.office.mu.Lock()
		h.office.recErr = nil
		h.office.mu.Unlock()
		runFor(t, time.Hour, h.Service)
		if domain := h.shelf.domains["dom_1"]; !domain.PaidUntil.Equal(paidUntil.AddDate(1, 0, 0)) {
			t.Errorf("in the end it is paid until %s: %q", domain.PaidUntil, h.log.all())
		}
	})
}

func TestADomainThatChangedHandsIsNotRenewed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, _ := renewing(t, &office{}, nil)
		domain := h.shelf.domains["dom_1"]
		domain.Status = "transferred_out"
		h.shelf.domains["dom_1"] = domain
		runFor(t, time.Minute, h.Service)
		if line := h.shelf.only(t); line.State != provision.StateFailed || line.Failure != provision.NotYours {
			t.Errorf("the line is %+v", line)
		}
	})
}

func TestARenewalNeverGrowsAnotherCustomersTerm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, paidUntil := renewing(t, &office{}, nil)
		// It left after the command was stored, and came back for somebody else.
		domain, line := h.shelf.domains["dom_1"], h.shelf.only(t)
		domain.Status = "transferred_out"
		h.shelf.domains["dom_1"] = domain
		h.shelf.domains["dom_2"] = provision.Domain{
			ID: "dom_2", Customer: "cus_bert", Name: "alt.org", TLD: ".org", Status: "active", Account: "office", PaidUntil: paidUntil,
		}
		line.State, line.RenewFrom = provision.StateRequested, paidUntil
		h.shelf.lines[line.ID] = line
		runFor(t, time.Minute, h.Service)
		if other := h.shelf.domains["dom_2"]; !other.PaidUntil.Equal(paidUntil) {
			t.Errorf("the other's is paid until %s", other.PaidUntil)
		}
		if line := h.shelf.only(t); line.State != provision.StateFailed || !line.RefundDue {
			t.Errorf("the line is %+v", line)
		}
	})
}
