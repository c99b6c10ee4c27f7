package order_test

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func (p *fakeProvider) CheckToken(_ context.Context, token string, amount registrar.Cents, _ time.Time) error {
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

func (p *fakeProvider) PrepareCharge(_ context.Context, wanted order.Charge) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down != nil {
		return "", p.down
	}
	p.prepared++
	if _, found := p.pages[wanted.ID]; !found {
		made := &page{PaymentPage: order.PaymentPage{ID: wanted.ID, Order: wanted.Order, Amount: wanted.Amount}, session: "pi_" + wanted.ID}
		made.status = order.PaymentStatus{Payment: wanted.ID, Order: wanted.Order, Currency: "eur", Intent: made.session}
		p.pages[wanted.ID] = made
	}
	return "pi_" + wanted.ID, p.crashError()
}

func (p *fakeProvider) Charge(_ context.Context, charge order.Charge) (order.ChargeOutcome, error) {
	p.mu.Lock()
	before := p.beforeCharge
	p.mu.Unlock()
	if before != nil {
		before()
	}
	outcome, err := p.confirm(charge)
	if p.afterCharge != nil {
		p.afterCharge()
	}
	return outcome, err
}

func (p *fakeProvider) confirm(charge order.Charge) (order.ChargeOutcome, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down != nil {
		return order.ChargeOutcome{}, p.down
	}
	made := p.pageBySession(charge.Intent)
	switch {
	case made.status.Ended || p.tokens[charge.Token] != "":
		return order.ChargeOutcome{Status: made.status, Declined: order.PaymentDeclined}, p.crashError()
	case strings.HasPrefix(charge.Token, "spt_declined"):
		return order.ChargeOutcome{Declined: order.PaymentDeclined}, p.crashError()
	case strings.HasPrefix(charge.Token, "spt_human"):
		return order.ChargeOutcome{NeedsHuman: true}, p.crashError()
	case strings.HasPrefix(charge.Token, "spt_slow"):
		return order.ChargeOutcome{Status: made.status}, p.crashError()
	}
	p.tokens[charge.Token] = charge.ID
	made.status.Paid, made.status.Amount, made.status.Card = true, made.Amount, "card"
	return order.ChargeOutcome{Status: made.status}, p.crashError()
}

func (p *fakeProvider) FetchCharge(_ context.Context, intent string) (order.PaymentStatus, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chargeFetches++
	if p.down != nil {
		return order.PaymentStatus{}, p.down
	}
	return p.pageBySession(intent).status, p.crashError()
}

func (p *fakeProvider) CancelCharge(_ context.Context, intent string) (order.PaymentStatus, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down != nil {
		return order.PaymentStatus{}, p.down
	}
	made := p.pageBySession(intent)
	if !made.status.Paid {
		made.status.Ended = true
	}
	return made.status, p.crashError()
}

// charges counts the payments that took money.
func (p *fakeProvider) charges() (paid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.pages {
		if one.status.Paid {
			paid++
		}
	}
	return paid
}

// runFor runs the worker for a while.
func (env *testEnv) runFor(service *order.Service, span time.Duration) {
	env.t.Helper()
	ctx, cancel := context.WithCancel(env.t.Context())
	var all sync.WaitGroup
	all.Go(func() { service.Run(ctx) })
	time.Sleep(span)
	cancel()
	all.Wait()
}
