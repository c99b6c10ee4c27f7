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

// newRenewalEnv is an env whose customer has paid for another year of a domain.
func newRenewalEnv(t *testing.T, o *fakeRegistry, change func(*provision.Domain)) (env *testEnv, paidUntil time.Time) {
	t.Helper()
	env = newEnv(t, o)
	paidUntil = time.Now().AddDate(0, 1, 0).Truncate(time.Microsecond)
	domain := provision.Domain{ID: "dom_1", Customer: "cus_ada", Name: "alt.org", TLD: ".org", Status: "active", Account: "registry", PaidUntil: paidUntil}
	if change != nil {
		change(&domain)
	}
	env.store.domains["dom_1"] = domain
	if o.records == nil {
		o.records = map[string]provision.Record{"alt.org": {Name: "alt.org", Expires: domain.PaidUntil}}
	}
	item, err := env.CreateItem(t.Context(), operator, provision.PaidItem{
		Customer: "cus_ada", Name: registrar.NewName("alt", ".org"), Kind: provision.Renew, Payment: "manual:1",
	})
	if err != nil || item.Domain != "dom_1" || item.Years != 1 {
		t.Fatalf("%+v, %v", item, err)
	}
	return env, domain.PaidUntil
}

func TestRenewal_StoresExpiryBeforeCommand(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		expires := time.Now().AddDate(1, 1, 0)
		env, paidUntil := newRenewalEnv(t, &fakeRegistry{expires: expires}, nil)
		runFor(t, time.Minute, env.Service)
		if got, want := strings.Join(env.log.all(), ", "), "stored requested, renew maybe_sent=false, stored active"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		item, domain := env.store.onlyItem(t), env.store.domains["dom_1"]
		if !item.RenewFrom.Equal(paidUntil) || item.RefundDue || !env.registry.requests[0].From.Equal(paidUntil) {
			t.Errorf("item %+v, requests %+v", item, env.registry.requests)
		}
		if !domain.PaidUntil.Equal(paidUntil.AddDate(1, 0, 0)) || domain.Status != "active" || !domain.RegistryExpires.Equal(expires) {
			t.Errorf("domain = %+v", domain)
		}
		if last := env.store.events[len(env.store.events)-1]; last.Action != provision.ActionRenewed {
			t.Errorf("audit event = %+v", last)
		}
	})
}

func TestRenewal_ResumedRequestIsCheckedFirst(t *testing.T) {
	t.Parallel()
	for state, want := range map[provision.State]string{provision.StateRequested: "renew maybe_sent=true", provision.StatePending: "outcome"} {
		synctest.Test(t, func(t *testing.T) {
			env, paidUntil := newRenewalEnv(t, &fakeRegistry{outcome: func() (provision.Outcome, error) { return provision.Outcome{}, nil }}, nil)
			item := env.store.onlyItem(t)
			item.State, item.DueAt, item.RenewFrom = state, time.Now(), paidUntil
			env.store.items[item.ID] = item
			runFor(t, 10*time.Second, env.Service)
			if got := env.log.all(); len(got) == 0 || got[0] != want {
				t.Errorf("%s: first call in %q", state, got)
			}
			if domain := env.store.domains["dom_1"]; !domain.PaidUntil.Equal(paidUntil.AddDate(1, 0, 0)) {
				t.Errorf("%s: paid until %s", state, domain.PaidUntil)
			}
		})
	}
}

func TestRenewal_AutoRenewedAtRegistryIsNotRepeated(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]func(paid time.Time) time.Time{
		"a year":       func(paid time.Time) time.Time { return paid.AddDate(1, 0, 0) },
		"about a year": func(paid time.Time) time.Time { return paid.AddDate(1, 0, -1) },
		"no terms":     func(time.Time) time.Time { return time.Time{} },
		"five years":   func(paid time.Time) time.Time { return paid.AddDate(5, 0, 0) },
	} {
		synctest.Test(t, func(t *testing.T) {
			paid := time.Now().AddDate(0, 0, -3).Truncate(time.Microsecond)
			env, _ := newRenewalEnv(t, &fakeRegistry{records: map[string]provision.Record{"alt.org": {Name: "alt.org", Expires: ahead(paid)}}},
				func(d *provision.Domain) { d.PaidUntil = paid })
			runFor(t, time.Minute, env.Service)
			if calls := env.log.all(); slices.ContainsFunc(calls, func(call string) bool { return strings.HasPrefix(call, "renew") }) {
				t.Errorf("%s: %q", name, calls)
			}
			if domain := env.store.domains["dom_1"]; !domain.PaidUntil.Equal(paid.AddDate(1, 0, 0)) || env.store.onlyItem(t).State != provision.StateActive {
				t.Errorf("%s: %+v", name, domain)
			}
		})
	}
}

func TestRenewal_RegistryWithoutCommandGetsNone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env, paid := newRenewalEnv(t, &fakeRegistry{rules: provision.Rules{NoRenew: true}}, nil)
		runFor(t, time.Minute, env.Service)
		if calls := env.log.all(); slices.ContainsFunc(calls, func(call string) bool { return strings.HasPrefix(call, "renew") }) {
			t.Errorf("sent %q", calls)
		}
		domain := env.store.domains["dom_1"]
		if !domain.PaidUntil.Equal(paid.AddDate(1, 0, 0)) || env.store.onlyItem(t).State != provision.StateActive {
			t.Errorf("%+v", domain)
		}
		if got := env.SyncDomain(t.Context(), domain); got.Err != nil || len(got.Drift) > 0 {
			t.Errorf("before the registry has added the year: %+v", got)
		}
		env.registry.records["alt.org"] = provision.Record{Name: "alt.org", Expires: time.Now().AddDate(0, 0, -10)}
		if got := env.SyncDomain(t.Context(), env.store.domains["dom_1"]); !slices.Equal(got.Drift, []provision.Drift{provision.DriftShort}) {
			t.Errorf("a year that the registry never added: %+v", got)
		}
	})
}

func TestRenewal_ReactivatesExpiredDomain(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string][]error{
		"first attempt":  nil,
		"after retries":  {unreachable(), unreachable()},
		"unhold refused": {refused("locked")},
	} {
		synctest.Test(t, func(t *testing.T) {
			env, _ := newRenewalEnv(t, &fakeRegistry{errors: map[string][]error{"unhold": refuse}}, func(d *provision.Domain) {
				d.Status, d.PaidUntil = "expired", time.Now().AddDate(0, 0, -3)
			})
			runFor(t, time.Minute, env.Service)
			if domain := env.store.domains["dom_1"]; domain.Status != "active" || !slices.Contains(env.log.all(), "unhold") {
				t.Errorf("%s: %+v after %q", name, domain, env.log.all())
			}
			if item := env.store.onlyItem(t); item.State != provision.StateActive || item.RefundDue {
				t.Errorf("%s: item = %+v", name, item)
			}
		})
	}
}

func TestRenewal_RefusalIsRefundedAndChangesNothing(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]*fakeRegistry{
		"by the registry": {errors: map[string][]error{"request": {refused("not_renewable")}}},
		"denied later":    {pending: true, outcome: func() (provision.Outcome, error) { return provision.Outcome{}, refused(registrar.RegistryDenied) }},
		"in redemption":   {records: map[string]provision.Record{"alt.org": {Redemption: true, Expires: time.Now()}}},
		"transferred out": {recordErrors: map[string]error{"alt.org": &registrar.Error{Kind: registrar.KindForbidden, Code: registrar.OtherRegistrar}}},
		"unknown":         {recordErrors: map[string]error{"alt.org": &registrar.Error{Kind: registrar.KindNotFound, Code: registrar.RegistryNotFound}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			env, paidUntil := newRenewalEnv(t, o, nil)
			before := env.store.domains["dom_1"]
			runFor(t, time.Minute, env.Service)
			item := env.store.onlyItem(t)
			if item.State != provision.StateFailed || !item.RefundDue || item.Failure == "" {
				t.Errorf("%s: item = %+v", name, item)
			}
			if after := env.store.domains["dom_1"]; after.Status != before.Status || !after.PaidUntil.Equal(paidUntil) {
				t.Errorf("%s: domain = %+v", name, after)
			}
		})
	}
}

func TestRenewal_WaitsForUnreachableRegistry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env, paidUntil := newRenewalEnv(t, &fakeRegistry{
			recordErrors: map[string]error{"alt.org": unreachable()}, errors: map[string][]error{"request": slices.Repeat([]error{unreachable()}, 3)},
		}, nil)
		runFor(t, 10*time.Minute, env.Service)
		if item := env.store.onlyItem(t); item.State != provision.StatePaid || item.RefundDue {
			t.Errorf("during the outage: item %+v", item)
		}
		env.registry.mu.Lock()
		env.registry.recordErrors = nil
		env.registry.mu.Unlock()
		runFor(t, time.Hour, env.Service)
		if domain := env.store.domains["dom_1"]; !domain.PaidUntil.Equal(paidUntil.AddDate(1, 0, 0)) {
			t.Errorf("after the outage: paid until %s: %q", domain.PaidUntil, env.log.all())
		}
	})
}

func TestRenewal_TransferredDomainIsNotRenewed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env, _ := newRenewalEnv(t, &fakeRegistry{}, nil)
		domain := env.store.domains["dom_1"]
		domain.Status = "transferred_out"
		env.store.domains["dom_1"] = domain
		runFor(t, time.Minute, env.Service)
		if item := env.store.onlyItem(t); item.State != provision.StateFailed || item.Failure != provision.NotYours {
			t.Errorf("item = %+v", item)
		}
	})
}

func TestRenewal_NeverExtendsAnotherCustomersDomain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env, paidUntil := newRenewalEnv(t, &fakeRegistry{}, nil)
		// It was transferred out after the command was stored, and came back for another customer.
		domain, item := env.store.domains["dom_1"], env.store.onlyItem(t)
		domain.Status = "transferred_out"
		env.store.domains["dom_1"] = domain
		env.store.domains["dom_2"] = provision.Domain{
			ID: "dom_2", Customer: "cus_bert", Name: "alt.org", TLD: ".org", Status: "active", Account: "registry", PaidUntil: paidUntil,
		}
		item.State, item.RenewFrom = provision.StateRequested, paidUntil
		env.store.items[item.ID] = item
		runFor(t, time.Minute, env.Service)
		if other := env.store.domains["dom_2"]; !other.PaidUntil.Equal(paidUntil) {
			t.Errorf("other customer's domain paid until %s", other.PaidUntil)
		}
		if item := env.store.onlyItem(t); item.State != provision.StateFailed || !item.RefundDue {
			t.Errorf("item = %+v", item)
		}
	})
}
