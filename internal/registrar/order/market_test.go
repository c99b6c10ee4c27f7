package order_test

import (
	"context"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// market sells everything for 10 EUR a year.
type market struct {
	mu      sync.Mutex
	net     registrar.Cents
	refuse  map[string]error
	missing map[string][]string
	verify  map[string]bool
	asked   int
	code    string
	// onlyIn is the country that the extension demands; empty means any.
	onlyIn string
	// purposes are what was asked for; stale is what was answered last and when, for
	// pages whose question is not admitted.
	purposes []registrar.Purpose
	stale    time.Time
	// meanwhile happens while an answer is on its way.
	meanwhile func()
}

func (m *market) Quote(_ context.Context, wish order.Wish) (order.Quote, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.purposes = append(m.purposes, wish.Purpose)
	var old order.Quote
	if wish.Purpose == registrar.ForDisplay && wish.Admit != nil {
		if err := wish.Admit(); err != nil {
			if m.stale.IsZero() {
				return order.Quote{}, err
			}
			old = order.Quote{AskedAt: m.stale, Stale: true}
		}
	}
	m.asked++
	if m.meanwhile != nil {
		m.meanwhile()
	}
	if err := m.refuse[wish.Name.ASCII()]; err != nil {
		return old, err
	}
	quote := order.Quote{Years: 1, Net: m.net, Account: "sandbox", Missing: m.missing[wish.Name.ASCII()], Verify: m.verify[wish.Name.ASCII()], AskedAt: old.AskedAt, Stale: old.Stale}
	if m.onlyIn != "" && (wish.Holder == nil || wish.Holder.Country != m.onlyIn) {
		quote.Missing = append(quote.Missing, "presence")
	}
	if wish.Kind == order.Transfer {
		if wish.Code == "" {
			quote.Missing = append(quote.Missing, order.MissingCode)
		} else if wish.Code != m.code {
			return order.Quote{}, &registrar.Error{Kind: registrar.KindConflict, Code: "wrong_code"}
		}
	}
	return quote, nil
}

func (m *market) set(change func(*market)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(m)
}

// refuted is a VAT id that is not valid.
const refuted = "ATU00000000"

// taxes are 19 % for each item, rounded down.
type taxes struct{}

func (taxes) Assess(_ context.Context, buyer order.Buyer, nets []registrar.Cents, _ time.Time) (order.Assessment, error) {
	a := order.Assessment{RateBasisPoints: 1900, Rule: "domestic", Country: "DE"}
	if buyer.VATID == refuted {
		a.Rule = "eu_consumer"
	}
	for _, net := range nets {
		a.VAT = append(a.VAT, net*19/100)
	}
	return a, nil
}

type lines struct{ woken chan struct{} }

func (l lines) Wake() {
	select {
	case l.woken <- struct{}{}:
	default:
	}
}

type names []string

func (n names) NamesOf(context.Context, string) ([]string, error) { return n, nil }
