package portal

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/delegate"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

type noSessions struct{}

func (noSessions) Visitor(context.Context, string) (account.Visitor, error) {
	return account.Visitor{}, &registrar.Error{Kind: registrar.KindUnauthenticated}
}

// The entry of a paid order names the order.
func TestActivity_NamesOrderAndHidesOperatorAddress(t *testing.T) {
	t.Parallel()
	frame, err := ui.New(ui.Config{BaseURL: "https://domains.example", Sessions: noSessions{}, Address: func(*http.Request) netip.Addr { return netip.Addr{} }})
	if err != nil {
		t.Fatal(err)
	}
	views, err := frame.LoadTemplates(templateFS, texts)
	if err != nil {
		t.Fatal(err)
	}
	h := &Handler{templates: views}
	paid := func(kind registrar.ActorKind) string {
		entry := account.AuditEntry{}
		entry.Actor = registrar.Actor{Kind: kind, Through: "ord_1"}
		entry.Action, entry.Object = order.ActionPaid, "ord_1"
		return h.newActivityEntry(entry, nil).Object
	}
	if got := paid(registrar.ActorSystem); got != "ord_1" {
		t.Errorf("the system's own entry names %q", got)
	}
	for kind, want := range map[registrar.ActorKind]string{registrar.ActorPerson: "192.0.2.7", registrar.ActorOperator: ""} {
		entry := account.AuditEntry{}
		entry.Actor = registrar.Actor{Kind: kind, Address: netip.MustParseAddr("192.0.2.7")}
		if got := h.newActivityEntry(entry, nil).Where; got != want {
			t.Errorf("an entry of %s shows the address %q", kind, got)
		}
	}
	entry := account.AuditEntry{}
	entry.Action, entry.Object = order.ActionPaid, "ord_1"
	if line := h.newActivityEntry(entry, map[string]string{"ord_1": "a.org"}); line.Object != "a.org" || line.Order != "ord_1" {
		t.Errorf("an order's entry shows %q and links to %q", line.Object, line.Order)
	}
	for object, want := range map[string]string{
		registrar.NewID("hld_", time.Now()): "", "tee.org": "tee.org", registrar.NewID("ord_", time.Now()): "ord_",
	} {
		entry := account.AuditEntry{}
		entry.Object = object
		if got := h.newActivityEntry(entry, nil).Object; !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("the object %s is shown as %q", object, got)
		}
	}
	if got := paid(registrar.ActorToken); got != "" {
		t.Errorf("the entry repeats its actor: %q", got)
	}
}

// An order can have several refunds, each for some of its domains.
func TestActivity_RefundNamesItsOwnDomains(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2026, 11, n, 12, 0, 0, 0, time.UTC) }
	orders := []order.Order{{ID: "ord_1", Items: []order.Item{{ID: "itm_1", Name: "a.org"}, {ID: "itm_2", Name: "b.org"}, {ID: "itm_3", Name: "c.org"}}, Refunds: []order.Refund{
		{ID: "ref_1", Item: "itm_2", CreatedAt: day(1), MadeAt: day(2), FailedAt: day(9)},
		{ID: "ref_2", Source: order.ByOperator, CreatedAt: day(4), MadeAt: day(5), Parts: []order.RefundPart{{Item: "itm_1"}, {Item: "itm_3"}}},
	}}}
	for _, test := range []struct {
		action registrar.Action
		at     int
		want   string
	}{
		{order.ActionRefunded, 2, "b.org"},
		{order.ActionRefundOrdered, 4, "a.org c.org"},
		{order.ActionRefunded, 5, "a.org c.org"},
		{order.ActionRefundReturned, 9, "b.org"},
		{order.ActionRefundAssigned, 4, ""}, // days after the refund that it is about
		{order.ActionRefundSettled, 9, ""},
		{order.ActionPaid, 2, ""},
	} {
		event := registrar.AuditEvent{Action: test.action, Object: "ord_1", At: day(test.at).Add(time.Millisecond)}
		if got := strings.Join(refundedNames(orders, event), " "); got != test.want {
			t.Errorf("%s on day %d names %q, not %q", test.action, test.at, got, test.want)
		}
	}
}

func TestActivity_RefundThatTheEventNamesIsNotGuessed(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	orders := []order.Order{{ID: "ord_1", Items: []order.Item{{ID: "itm_1", Name: "a.org"}, {ID: "itm_2", Name: "b.org"}}, Refunds: []order.Refund{
		{ID: "ref_1", Item: "itm_1", CreatedAt: at, MadeAt: at, FailedAt: at}, {ID: "ref_2", Item: "itm_2", CreatedAt: at.AddDate(0, 0, 5)},
	}}}
	for _, action := range []registrar.Action{
		order.ActionRefunded, order.ActionRefundOrdered, order.ActionRefundBooked, order.ActionRefundRefused, order.ActionRefundReturned, order.ActionRefundAssigned, order.ActionRefundSettled,
	} {
		for refund, want := range map[string]string{"ref_1": "a.org", "ref_2": "b.org", "ref_3": ""} {
			if got := strings.Join(refundedNames(orders, registrar.AuditEvent{Action: action, Object: "ord_1", Refund: refund, At: at}), " "); got != want {
				t.Errorf("%s of %s names %q, not %q", action, refund, got, want)
			}
		}
	}
}

func TestActivity_NamesLanguage(t *testing.T) {
	t.Parallel()
	frame, err := ui.New(ui.Config{BaseURL: "https://domains.example", Sessions: noSessions{}, Address: func(*http.Request) netip.Addr { return netip.Addr{} }})
	if err != nil {
		t.Fatal(err)
	}
	views, err := frame.LoadTemplates(templateFS, texts, activityTexts)
	if err != nil {
		t.Fatal(err)
	}
	h := &Handler{templates: views}
	for language, want := range map[string]string{"de": "activity.language.de", "en": "activity.language.en"} {
		line := h.newActivityEntry(account.AuditEntry{AuditEvent: registrar.AuditEvent{Action: account.ActionLanguageChanged, Object: language}}, nil)
		if line.How != want || line.Object != "" {
			t.Errorf("%s: %+v", language, line)
		}
	}
}

func TestAgents_OrdersOfTokensAndApplicationsArePaidByTheCustomer(t *testing.T) {
	t.Parallel()
	for kind, pays := range map[registrar.ActorKind]bool{registrar.ActorToken: false, registrar.ActorApplication: false, registrar.ActorAgent: true} {
		if row := newDelegateRows([]delegate.Delegate{{Kind: kind}})[0]; row.CanPay() != pays {
			t.Errorf("%s: can pay is %v", kind, row.CanPay())
		}
	}
	page, err := templateFS.ReadFile("templates/agents.html")
	if err != nil || !strings.Contains(string(page), `{{if .CanPay}}{{t "agents.orders_of"`) {
		t.Errorf("the page does not say who paid: %v", err)
	}
}
