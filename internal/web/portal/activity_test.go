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
	names := map[string]string{"ord_1": "a.org und 2 weitere", refundedPrefix + "ord_1": "b.org"}
	for action, want := range map[registrar.Action]string{order.ActionPaid: "a.org und 2 weitere", order.ActionRefunded: "b.org", order.ActionRefundReturned: "b.org"} {
		entry.Action = action
		if line := h.newActivityEntry(entry, names); line.Object != want || line.Order != "ord_1" {
			t.Errorf("%s names %q", action, line.Object)
		}
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
