package order_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func listedNames(t *testing.T, env *testEnv, actor registrar.Actor) []string {
	t.Helper()
	list, err := env.service.TransferList(t.Context(), actor)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, line := range list {
		names = append(names, line.Name)
	}
	return names
}

func TestTransferList_LinesOfAnotherWindowStay(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	line := func(name string) order.ListedTransfer {
		return order.ListedTransfer{Name: name, TLD: ".com", Code: "geheim-" + name}
	}
	if err := env.service.ReplaceTransfers(t.Context(), annaInPerson, nil, []order.ListedTransfer{line("a.com"), line("b.com")}); err != nil {
		t.Fatal(err)
	}
	if sealed := env.store.transfers[anna]; sealed == "" || strings.Contains(sealed, "geheim") {
		t.Errorf("stored as %q", sealed)
	}
	env.store.beforeReplace = func() {
		if err := env.service.ReplaceTransfers(t.Context(), annaInPerson, nil, []order.ListedTransfer{line("other.com")}); err != nil {
			t.Error(err)
		}
	}
	if err := env.service.ReplaceTransfers(t.Context(), annaInPerson, []string{"a.com"}, []order.ListedTransfer{line("b.com"), line("c.com")}); err != nil {
		t.Fatal(err)
	}
	if names := listedNames(t, env, annaInPerson); !slices.Equal(names, []string{"other.com", "b.com", "c.com"}) {
		t.Errorf("the list has %v", names)
	}
	if names := listedNames(t, env, bertInPerson); names != nil {
		t.Errorf("another customer's list has %v", names)
	}
	if _, err := env.service.TransferList(t.Context(), anonymous); registrar.KindOf(err) != registrar.KindUnauthenticated {
		t.Errorf("signed out: %v", err)
	}
	var many []order.ListedTransfer
	for i := range order.MaxListedTransfers {
		many = append(many, line(fmt.Sprintf("viele-%d.com", i)))
	}
	if err := env.service.ReplaceTransfers(t.Context(), annaInPerson, nil, many); registrar.CodeOf(err) != order.TransferListFull {
		t.Errorf("a list that is too long: %v", err)
	}
	if names := listedNames(t, env, annaInPerson); len(names) != 3 {
		t.Errorf("%d lines after a refused change", len(names))
	}
}

func TestPrepare_RefusedItemsLeavePricesOfOthers(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.market.refuse["zu.de"] = &registrar.Error{Kind: registrar.KindConflict, Code: provision.Locked}
	request := newRequest(order.Transfer, "offen", "zu")
	request.Channel = order.ChannelPortal
	view, err := env.service.Prepare(t.Context(), annaInPerson, request)
	var refused *order.ItemsRefused
	if !errors.As(err, &refused) || len(refused.Items) != 1 || refused.Items[0].Name != "zu.de" {
		t.Fatalf("refused: %v", err)
	}
	if o := view.Order; o.ID != "" || len(o.Items) != 1 || o.Items[0].Name != "offen.de" || o.Items[0].Gross != 1190 || o.Totals.Gross != 1190 {
		t.Errorf("the others: %+v", o)
	}
	if len(env.store.orders) != 0 {
		t.Error("an order was stored")
	}
}

func TestTransferList_LinesReturnFromUnpaidOrder(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, env *testEnv, id string) error{
		"discarded": func(t *testing.T, env *testEnv, id string) error {
			_, err := env.service.Cancel(t.Context(), annaInPerson, id)
			return err
		},
		"expired": func(t *testing.T, env *testEnv, id string) error {
			env.advance(25 * time.Hour)
			_, err := env.service.Get(t.Context(), annaInPerson, id)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			request := newRequest(order.Transfer, "laden", "haus")
			request.Channel, request.Items[0].Code = order.ChannelPortal, "right"
			view, err := env.service.Prepare(t.Context(), annaInPerson, request)
			if err != nil {
				t.Fatal(err)
			}
			if names := listedNames(t, env, annaInPerson); names != nil {
				t.Fatalf("the list has %v before the order ends", names)
			}
			if err := end(t, env, view.Order.ID); err != nil {
				t.Fatal(err)
			}
			list, err := env.service.TransferList(t.Context(), annaInPerson)
			if err != nil || len(list) != 1 || list[0].Name != "laden.de" || list[0].TLD != ".de" || list[0].Code != "right" || !list[0].OK || list[0].Gross != 1190 {
				t.Errorf("the list has %+v, %v; want laden.de with its code, ready", list, err)
			}
		})
	}
}

func TestTransferList_DomainsAcquiredByAnotherOrderAreGone(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	request := newRequest(order.Transfer, "laden", "haus")
	request.Channel, request.Items[0].Code, request.Items[1].Code = order.ChannelPortal, "right", "right"
	view, err := env.service.Prepare(t.Context(), annaInPerson, request)
	if err != nil {
		t.Fatal(err)
	}
	env.store.acquired = []string{"laden.de"}
	if _, err := env.service.Cancel(t.Context(), annaInPerson, view.Order.ID); err != nil {
		t.Fatal(err)
	}
	if names := listedNames(t, env, annaInPerson); !slices.Equal(names, []string{"haus.de"}) {
		t.Errorf("the list has %v", names)
	}
}
