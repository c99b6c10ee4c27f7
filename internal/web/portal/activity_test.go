package portal

import (
	"context"
	"net/http"
	"net/netip"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

type nobody struct{}

func (nobody) Visitor(context.Context, string) (customer.Visitor, error) {
	return customer.Visitor{}, &registrar.Error{Kind: registrar.KindUnauthenticated}
}

// Whoever sees that an order was paid wants to know which.
func TestALineOfTheAuditNamesTheOrderAndNotWhereOperatorsSit(t *testing.T) {
	t.Parallel()
	frame, err := page.New(page.Config{BaseURL: "https://domains.example", Sessions: nobody{}, Address: func(*http.Request) netip.Addr { return netip.Addr{} }})
	if err != nil {
		t.Fatal(err)
	}
	views, err := frame.Parse(templates, page.Words{German: german, English: english})
	if err != nil {
		t.Fatal(err)
	}
	h := &Handler{views: views}
	paid := func(kind registrar.ActorKind) string {
		entry := customer.Entry{}
		entry.Actor = registrar.Actor{Kind: kind, Through: "ord_1"}
		entry.Action, entry.Object = order.ActionPaid, "ord_1"
		return h.line(entry, nil).Object
	}
	if got := paid(registrar.ActorSystem); got != "ord_1" {
		t.Errorf("the service's own line names %q", got)
	}
	for kind, want := range map[registrar.ActorKind]string{registrar.ActorPerson: "192.0.2.7", registrar.ActorOperator: ""} {
		entry := customer.Entry{}
		entry.Actor = registrar.Actor{Kind: kind, Address: netip.MustParseAddr("192.0.2.7")}
		if got := h.line(entry, nil).Where; got != want {
			t.Errorf("a line of %s tells the address %q", kind, got)
		}
	}
	if got := paid(registrar.ActorToken); got != "" {
		t.Errorf("what stands beside who did it is said again: %q", got)
	}
}
