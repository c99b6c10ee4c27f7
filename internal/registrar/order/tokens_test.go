package order_test

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// everybody is a holder whose name, address and country are told.
type everybody struct{}

func (everybody) Fit(c order.Contact) (order.Contact, []string) {
	var untold []string
	for field, value := range map[string]string{"last_name": c.LastName, "email": c.Email, "country": c.Country} {
		if value == "" {
			untold = append(untold, field)
		}
	}
	return c, untold
}

var _ order.Tokens = (*provider)(nil)

func (p *provider) CheckToken(_ context.Context, token string, amount registrar.Cents, _ time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down != nil {
		return p.down
	}
	code := registrar.Code("")
	switch {
	case strings.HasPrefix(token, "spt_expired"):
		code = order.TokenExpired
	case p.tokens[token] != "":
		code = order.PaymentDeclined
	case strings.HasPrefix(token, "spt_small") && amount > 50:
		code = order.TokenTooSmall
	}
	if code != "" {
		return &registrar.Error{Kind: registrar.KindConflict, Code: code}
	}
	return nil
}

func (p *provider) PrepareCharge(_ context.Context, wanted order.Charge) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down != nil {
		return "", p.down
	}
	p.prepared++
	if _, found := p.pages[wanted.ID]; !found {
		made := &page{Page: order.Page{ID: wanted.ID, Order: wanted.Order, Amount: wanted.Amount}, session: "pi_" + wanted.ID}
		made.standing = order.Standing{Payment: wanted.ID, Order: wanted.Order, Currency: "eur", Intent: made.session}
		p.pages[wanted.ID] = made
	}
	return "pi_" + wanted.ID, p.answer()
}

func (p *provider) Charge(_ context.Context, charge order.Charge) (order.ChargeOutcome, error) {
	p.mu.Lock()
	before := p.before
	p.mu.Unlock()
	if before != nil {
		before()
	}
	outcome, err := p.confirm(charge)
	if p.confirmed != nil {
		p.confirmed()
	}
	return outcome, err
}

func (p *provider) confirm(charge order.Charge) (order.ChargeOutcome, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down != nil {
		return order.ChargeOutcome{}, p.down
	}
	made := p.at(charge.Intent)
	switch {
	case made.standing.Ended || p.tokens[charge.Token] != "":
		return order.ChargeOutcome{Standing: made.standing, Declined: order.PaymentDeclined}, p.answer()
	case strings.HasPrefix(charge.Token, "spt_declined"):
		return order.ChargeOutcome{Declined: order.PaymentDeclined}, p.answer()
	case strings.HasPrefix(charge.Token, "spt_human"):
		return order.ChargeOutcome{NeedsHuman: true}, p.answer()
	case strings.HasPrefix(charge.Token, "spt_slow"):
		return order.ChargeOutcome{Standing: made.standing}, p.answer()
	}
	p.tokens[charge.Token] = charge.ID
	made.standing.Paid, made.standing.Amount, made.standing.Card = true, made.Amount, "card"
	return order.ChargeOutcome{Standing: made.standing}, p.answer()
}

func (p *provider) LookCharge(_ context.Context, intent string) (order.Standing, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down != nil {
		return order.Standing{}, p.down
	}
	return p.at(intent).standing, p.answer()
}

func (p *provider) CancelCharge(_ context.Context, intent string) (order.Standing, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down != nil {
		return order.Standing{}, p.down
	}
	made := p.at(intent)
	if !made.standing.Paid {
		made.standing.Ended = true
	}
	return made.standing, p.answer()
}

// charges is how many payments took money.
func (p *provider) charges() (paid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.pages {
		if one.standing.Paid {
			paid++
		}
	}
	return paid
}

// runFor lets the service's own clock work for a while.
func (w *world) runFor(service *order.Service, span time.Duration) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	var all sync.WaitGroup
	all.Go(func() { service.Run(ctx) })
	time.Sleep(span)
	cancel()
	all.Wait()
}
