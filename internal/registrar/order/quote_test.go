package order_test

import (
	"context"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// fakeMarket sells every name for 10 EUR a year.
type fakeMarket struct {
	domains map[string]string // the ids of held domains by name
	mu      sync.Mutex
	net     registrar.Cents
	refuse  map[string]error
	missing map[string][]string
	verify  map[string]bool
	asked   int
	code    string
	termEnd time.Time // of every domain
	// requiredCountry is the registrant country the TLD requires; empty means any.
	requiredCountry string
	// purposes records the requests' purposes; stale is the last response and its time,
	// for requests that are not admitted.
	purposes []registrar.QueryPurpose
	stale    time.Time
	// duringQuote runs while a quote is pending.
	duringQuote func()
}

func (m *fakeMarket) Quote(_ context.Context, request provision.QuoteRequest) (order.Quote, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.purposes = append(m.purposes, request.Purpose)
	var old order.Quote
	if request.Purpose == registrar.ForDisplay && request.Admit != nil {
		if err := request.Admit(); err != nil {
			if m.stale.IsZero() {
				return order.Quote{}, err
			}
			old = order.Quote{Quote: provision.Quote{AskedAt: m.stale, Stale: true}}
		}
	}
	m.asked++
	if m.duringQuote != nil {
		m.duringQuote()
	}
	if err := m.refuse[request.Name.ASCII()]; err != nil {
		return old, err
	}
	quote := order.Quote{
		Quote: provision.Quote{Years: 1, Account: "sandbox", Missing: m.missing[request.Name.ASCII()], AskedAt: old.AskedAt, Stale: old.Stale, TermEnd: m.termEnd, Domain: m.domains[request.Name.ASCII()]},
		Net:   m.net, Verify: m.verify[request.Name.ASCII()],
	}
	if m.requiredCountry != "" && (request.Registrant == nil || request.Registrant.Country != m.requiredCountry) {
		quote.Missing = append(quote.Missing, "presence")
	}
	if request.Kind == order.Transfer {
		if request.Code == "" {
			quote.Missing = append(quote.Missing, order.MissingCode)
		} else if request.Code != m.code {
			return order.Quote{}, &registrar.Error{Kind: registrar.KindConflict, Code: "wrong_code"}
		}
	}
	return quote, nil
}

func (m *fakeMarket) set(change func(*fakeMarket)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(m)
}

const invalidVATID = "ATU00000000"

// fakeVATIDs is a register in which all VAT ids but one are valid.
type fakeVATIDs struct{}

func (fakeVATIDs) Valid(_ context.Context, id string) (bool, error) { return id != invalidVATID, nil }

// fakePortfolio is a store in which everyone holds these names.
type fakePortfolio struct {
	portfolio.Store
	names []string
}

func (n fakePortfolio) ListCustomerDomains(context.Context, string) (domains []portfolio.Domain, err error) {
	for _, name := range n.names {
		domains = append(domains, portfolio.Domain{Name: name})
	}
	return domains, nil
}
