package checkout

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

const (
	stream      = payPage + "/events"
	orderStream = "/portal/orders/ord_1/events"
)

// streamEvents returns the names of a stream's events and the content of each part.
func (a response) streamEvents() (names []string, parts []struct{ Title, HTML string }) {
	a.t.Helper()
	if kind := a.Header().Get("Content-Type"); a.Code != http.StatusOK || kind != "text/event-stream" {
		a.t.Fatalf("no stream but %d, %s: %s", a.Code, kind, a.Body)
	}
	for piece := range strings.SplitSeq(a.Body.String(), "\n\n") {
		name, rest, _ := strings.Cut(strings.TrimPrefix(piece, "event: "), "\ndata: ")
		if name == piece {
			continue
		}
		names = append(names, name)
		if name != "part" {
			continue
		}
		data, _, _ := strings.Cut(rest, "\n")
		var part struct{ Title, HTML string }
		if err := json.Unmarshal([]byte(data), &part); err != nil {
			a.t.Fatal(err)
		}
		parts = append(parts, part)
	}
	return names, parts
}

// The stream shows every state like its page, and ends once nothing changes any more.
func TestOrderStream_MatchesPage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &fakeOrders{}
		for _, state := range allStates {
			underWay := state == order.Paying || state == order.Provisioning
			for who, view := range map[string]order.View{"erika": ownView(state), "english": ownView(state), "max": foreignView(state), "": foreignView(state)} {
				d.view, d.orders = view, []order.Order{view.Order}
				for page, events := range map[string]string{payPage: stream, "/portal/orders/ord_1": orderStream} {
					if page != payPage && who == "" {
						continue
					}
					whole := visit(t, d, who, page, nil).Body.String()
					names, parts := visit(t, d, who, events, nil).streamEvents()
					if len(parts) != 1 || !strings.Contains(whole, parts[0].HTML) || !strings.Contains(whole, "<h1>"+parts[0].Title+"</h1>") {
						t.Fatalf("%s, %q, %s: the page differs: %v %s", state, who, page, parts, whole)
					}
					if slices.Contains(names, "end") == underWay {
						t.Errorf("%s, %q, %s: %v", state, who, page, names)
					}
				}
			}
		}
	})
}

func TestOrderStream_FollowsPurchaseToItsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		at := func(state order.State, items ...order.ItemState) order.View {
			view := ownView(state)
			for i, item := range items {
				view.Order.Items[i].State = item
			}
			return view
		}
		const doing, done = order.ItemProvisioning, order.ItemActive
		d := &fakeOrders{view: ownView(order.Paying), nextViews: []order.View{
			ownView(order.Paying),
			at(order.Provisioning, doing, doing, doing),
			at(order.Provisioning, doing, doing, doing),
			at(order.Provisioning, done, doing, doing),
			at(order.Completed, done, done, done),
		}}
		names, parts := visit(t, d, "erika", stream, nil).streamEvents()
		if !slices.Equal(names, []string{"part", "part", "part", "part", "end"}) {
			t.Fatalf("%v", names)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("a change after one second was sent after %s", took)
		}
		for i, want := range []struct{ title, says string }{
			{"Zahlung läuft", "Zahlung abbrechen"},
			{"Bestellung wird bearbeitet", `data-says="beispiel.de"><span class="badge wait">wird registriert`},
			{"Bestellung wird bearbeitet", `data-says="beispiel.de"><span class="badge good">registriert`},
			{"Bestellung abgeschlossen", `data-says="alt.shop"><span class="badge good">verlängert`},
		} {
			if parts[i].Title != want.title || !strings.Contains(parts[i].HTML, want.says) {
				t.Errorf("part %d: %s: %s", i, parts[i].Title, parts[i].HTML)
			}
		}
	})
}

// A failed payment restores the form, and the page waits for the customer again.
func TestOrderStream_FailedPaymentRestoresPayButton(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		names, parts := visit(t, &fakeOrders{view: ownView(order.Paying), nextViews: []order.View{ownView(order.AwaitingPayment)}}, "erika", stream, nil).streamEvents()
		if !slices.Equal(names, []string{"part", "part", "end"}) || !strings.Contains(parts[1].HTML, payButton) {
			t.Errorf("%v %v", names, parts)
		}
	})
}

func TestOrderStream_HidesWhatPageHides(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"", "max"} {
		got := visit(t, &fakeOrders{view: foreignView(order.Completed)}, who, stream, nil)
		for _, personal := range []string{"Mustermann", "Heidestra", "erika@", "Laptop"} {
			if strings.Contains(got.Body.String(), personal) {
				t.Errorf("%q reads %s: %s", who, personal, got.Body)
			}
		}
		got.streamEvents()
	}
	d := &fakeOrders{view: ownView(order.Provisioning)}
	visit(t, d, "erika", "/checkout/dotkontor_pay_other/events", nil).wantPage(http.StatusNotFound, []string{"Nicht gefunden"}, nil)
	visit(t, d, "erika", orderStream, nil).wantPage(http.StatusNotFound, []string{"Nicht gefunden"}, nil)
	d.orders = []order.Order{d.view.Order}
	visit(t, d, "", orderStream, nil).wantRedirect("/portal/sign-in?next=%2Fportal%2Forders%2Ford_1%2Fevents")
	visit(t, d, "erika", stream, form()).wantPage(http.StatusNotFound, []string{"Nicht gefunden"}, nil)
}
