package overview

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
)

var testTime = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func kinds(lines []Line) (list []Kind) {
	for _, line := range lines {
		list = append(list, line.Kind)
	}
	return list
}

func only(t *testing.T, o Overview, part func(Overview) []Line, want Kind) {
	t.Helper()
	all := len(o.Decide) + len(o.Unpaid) + len(o.InProgress) + len(o.Expiring)
	if lines := part(o); all != 1 || len(lines) != 1 || lines[0].Kind != want {
		t.Errorf("want one line %s, got decide %v, unpaid %v, in progress %v, expiring %v", want, kinds(o.Decide), kinds(o.Unpaid), kinds(o.InProgress), kinds(o.Expiring))
	}
}

func decide(o Overview) []Line     { return o.Decide }
func unpaid(o Overview) []Line     { return o.Unpaid }
func inProgress(o Overview) []Line { return o.InProgress }
func expiring(o Overview) []Line   { return o.Expiring }

func TestOverview_EveryOrderIsInOnePart(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		state order.State
		by    registrar.ActorKind
		chann order.Channel
		part  func(Overview) []Line
		want  Kind
	}{
		{order.AwaitingVerification, registrar.ActorPerson, order.ChannelPortal, decide, VerifyIdentity},
		{order.AwaitingPayment, registrar.ActorToken, order.ChannelMCP, decide, PreparedOrder},
		{order.AwaitingPayment, registrar.ActorApplication, order.ChannelMCP, decide, PreparedOrder},
		{order.Paying, registrar.ActorAgent, order.ChannelACP, decide, PreparedOrder},
		{order.AwaitingPayment, registrar.ActorPerson, order.ChannelPortal, unpaid, UnpaidOrder},
		{order.Paying, registrar.ActorPerson, order.ChannelPortal, unpaid, UnpaidOrder},
		{order.AwaitingPayment, registrar.ActorSystem, order.ChannelRenewal, unpaid, UnpaidOrder},
		{order.Paying, registrar.ActorSystem, order.ChannelRenewal, inProgress, Charging},
		{order.Provisioning, registrar.ActorToken, order.ChannelMCP, inProgress, Provisioning},
	} {
		one := Order{ID: "ord_1", State: test.state, ByKind: test.by, Channel: test.chann, ExpiresAt: testTime.Add(time.Hour)}
		only(t, overviewOf(Facts{HasRegistrant: true, Orders: []Order{one}}, testTime), test.part, test.want)
	}
	for hasRegistrant, want := range map[bool]Kind{false: AddressMissing, true: UnpaidOrder} {
		one := Order{State: order.AwaitingVerification, VATRule: "unknown_country", ExpiresAt: testTime.Add(time.Hour)}
		o := overviewOf(Facts{HasRegistrant: hasRegistrant, Orders: []Order{one}}, testTime)
		if got := kinds(slices.Concat(o.Decide, o.Unpaid)); !slices.Contains(got, want) || slices.Contains(got, VerifyIdentity) {
			t.Errorf("address known %t: %v, want %s", hasRegistrant, got, want)
		}
	}
	late := Order{State: order.AwaitingPayment, ExpiresAt: testTime}
	if o := overviewOf(Facts{HasRegistrant: true, Orders: []Order{late}}, testTime); !o.Empty() {
		t.Errorf("an expired order is listed: %+v", o)
	}
}

func TestOverview_EveryDomainIsInOnePart(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	for _, test := range []struct {
		status registrar.DomainStatus
		choice registrar.TermEndChoice
		ends   time.Duration
		term   portfolio.Term
		part   func(Overview) []Line
		want   Kind
	}{
		{registrar.DomainExpired, "", -day, portfolio.Term{}, decide, TermOver},
		{registrar.DomainRedemption, registrar.TermEndRenew, -40 * day, portfolio.Term{}, decide, TermOver},
		{registrar.DomainActive, "", 29 * day, portfolio.Term{}, decide, Undecided},
		{registrar.DomainActive, "", 31 * day, portfolio.Term{}, expiring, Expiring},
		{registrar.DomainActive, registrar.TermEndExpire, 3 * day, portfolio.Term{}, expiring, Expiring},
		{registrar.DomainActive, registrar.TermEndRenew, 20 * day, portfolio.Term{Renewal: string(renewal.Announced)}, expiring, Expiring},
		{registrar.DomainActive, registrar.TermEndRenew, 10 * day, portfolio.Term{Renewal: string(renewal.Announced), Attempts: 1}, decide, ChargeFailed},
		{registrar.DomainActive, registrar.TermEndRenew, 2 * day, portfolio.Term{Renewal: string(renewal.Failed)}, decide, ChargeFailed},
		{registrar.DomainActive, registrar.TermEndRenew, 40 * day, portfolio.Term{Renewal: string(renewal.Stopped)}, decide, NextTerm},
		{registrar.DomainActive, registrar.TermEndRenew, 20 * day, portfolio.Term{}, decide, NextTerm},
		{registrar.DomainActive, registrar.TermEndRenew, 50 * day, portfolio.Term{}, expiring, Expiring},
		{registrar.DomainActive, registrar.TermEndExpire, 20 * day, portfolio.Term{Renewal: string(renewal.Stopped)}, expiring, Expiring},
	} {
		domain := portfolio.Domain{ID: "dom_1", Status: test.status, AtTermEnd: test.choice, PaidUntil: testTime.Add(test.ends), Term: test.term}
		only(t, overviewOf(Facts{HasRegistrant: true, Expiring: []portfolio.Domain{domain}, ExpiringCount: 1}, testTime), test.part, test.want)
	}
}

func TestOverview_DomainThatCannotBeRestoredIsInNoPart(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tld     string
		deleted time.Time
		gone    int
	}{
		"restorable":           {".io", testTime.AddDate(0, 0, -29), 0},
		"long over":            {".io", testTime.AddDate(-2, 0, 0), 1},
		"no redemption period": {".be", testTime.AddDate(0, 0, -1), 1},
	} {
		domain := portfolio.Domain{ID: "dom_1", TLD: test.tld, Status: registrar.DomainRedemption, PaidUntil: testTime.AddDate(-3, 0, 0), Term: portfolio.Term{DeletedAt: test.deleted}}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := overviewOf(Facts{HasRegistrant: true, Deciding: []portfolio.Domain{domain}, DecidingCount: 1}, testTime)
			if test.gone == 0 {
				only(t, o, decide, TermOver)
			} else if !o.Empty() || o.Gone != test.gone {
				t.Errorf("a domain that is gone is listed: %+v", o)
			}
		})
	}
}

func TestOverview_DomainThatMayBeLostComesFirst(t *testing.T) {
	t.Parallel()
	o := overviewOf(Facts{
		Orders:   []Order{{State: order.AwaitingVerification, ExpiresAt: testTime.Add(time.Hour)}},
		Leaving:  []Leaving{{Domain: "dom_2", Pending: true}},
		Deciding: []portfolio.Domain{{Status: registrar.DomainActive, PaidUntil: testTime.Add(time.Hour)}, {Status: registrar.DomainExpired}}, DecidingCount: 2,
	}, testTime)
	want := []Kind{TransferRequested, TermOver, VerifyIdentity, Undecided, RegistrantMissing}
	if got := kinds(o.Decide); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestOverview_UnlistedOrdersAndDomainsAreCounted(t *testing.T) {
	t.Parallel()
	o := overviewOf(Facts{HasRegistrant: true, Orders: []Order{{State: order.Provisioning}}, OrderCount: 3, ChangeCount: 4, DecidingCount: 5, ExpiringCount: 6}, testTime)
	if o.MoreOrders != 2 || o.MoreChanges != 4 || o.MoreDeciding != 5 || o.MoreExpiring != 6 || o.Idle() {
		t.Errorf("%+v", o)
	}
}

func TestOverview_MonthsAndSums(t *testing.T) {
	t.Parallel()
	on := func(month time.Month, spent registrar.Cents) Day {
		return Day{Day: time.Date(2026, month, 20, 0, 0, 0, 0, time.UTC), Spent: spent}
	}
	o := overviewOf(Facts{HasRegistrant: true, Months: [12]int{0: 2, 2: 3, 11: 4}, Later: 11, Spent: []Day{on(1, 100), on(11, 20), on(11, 3)}}, testTime)
	if o.Expiries[0] != (Month{2026, time.November, 2}) || o.Expiries[2] != (Month{2027, time.January, 3}) || o.Expiries[11] != (Month{2027, time.October, 4}) || o.Domains() != 20 {
		t.Errorf("expiries: %+v, domains %d", o.Expiries, o.Domains())
	}
	if o.Spent[0] != 100 || o.Spent[10] != 23 || o.SpentTotal() != 123 {
		t.Errorf("spent: %+v", o.Spent)
	}
}

func TestOverview_MissingDataAndUnconfirmedAddress(t *testing.T) {
	t.Parallel()
	if o := overviewOf(Facts{}, testTime); !o.Empty() {
		t.Errorf("a new account is not empty: %+v", o)
	}
	only(t, overviewOf(Facts{Later: 1}, testTime), decide, RegistrantMissing)
	only(t, overviewOf(Facts{NewEmail: "new@example.org", NewEmailUntil: testTime}, testTime), decide, EmailUnconfirmed)
}

func TestOverview_RequestedTransferWaitsForCustomerFirst(t *testing.T) {
	t.Parallel()
	acts := testTime.Add(5 * 24 * time.Hour)
	pending := Leaving{Domain: "dom_1", Name: "a.org", Pending: true, ActsAt: acts}
	only(t, overviewOf(Facts{HasRegistrant: true, Leaving: []Leaving{pending}}, testTime), decide, TransferRequested)
	only(t, overviewOf(Facts{HasRegistrant: true, Leaving: []Leaving{{Domain: "dom_1", Name: "a.org", ActsAt: acts}}}, testTime), inProgress, TransferEnding)

	prepared := Order{State: order.AwaitingPayment, ByKind: registrar.ActorToken, ExpiresAt: testTime.Add(time.Hour)}
	o := overviewOf(Facts{HasRegistrant: true, Orders: []Order{prepared}, Leaving: []Leaving{pending}}, testTime)
	if first := o.Decide[0]; first.Kind != TransferRequested || first.Domain.Name != "a.org" || !first.Until.Equal(acts) {
		t.Errorf("the first line is %+v, want the requested transfer", first)
	}
}

// factsStore is a Store with fixed facts.
type factsStore Facts

func (f factsStore) OverviewFacts(context.Context, string, Bounds) (Facts, error) {
	return Facts(f), nil
}

func TestOverview_TransfersAreExpectedWhenTheLastOneIs(t *testing.T) {
	t.Parallel()
	transfer := func(name, of string, state provision.State, requested time.Time) provision.Item {
		return provision.Item{Name: name, TLD: name[1:], Payment: order.PaymentOf(of), State: state, RequestedAt: requested}
	}
	running := []provision.Item{
		transfer("a.com", "ord_1", provision.StatePending, testTime), transfer("a.de", "ord_1", provision.StatePending, testTime.Add(time.Hour)),
		transfer("b.com", "ord_2", provision.StatePending, testTime), transfer("c.com", "ord_2", provision.StateRequested, testTime),
	}
	facts := Facts{HasRegistrant: true, Transfers: running}
	for _, id := range []string{"ord_1", "ord_2"} {
		facts.Orders = append(facts.Orders, Order{ID: id, State: order.Provisioning, Kind: order.Transfer})
	}
	now := func() time.Time { return testTime }
	service, err := New(factsStore(facts), func(tld string) int { return map[string]int{".com": 5}[tld] }, now, now)
	if err != nil {
		t.Fatal(err)
	}
	o, err := service.Of(t.Context(), registrar.Actor{Kind: registrar.ActorPerson, Customer: "cus_1"})
	if err != nil || len(o.InProgress) != 2 || !o.InProgress[0].Until.Equal(testTime.AddDate(0, 0, 5)) || !o.InProgress[1].Until.IsZero() {
		t.Errorf("%+v, %v", o.InProgress, err)
	}
}
