package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	sandboxstripe "github.com/dotkontor/dotkontor/internal/sandbox/stripe"
	sandboxvies "github.com/dotkontor/dotkontor/internal/sandbox/vies"
	"github.com/dotkontor/dotkontor/internal/web/hooks"
)

// money is the part of the simulated world that payment and VAT need.
type money struct {
	provider *sandboxstripe.Server
	register *sandboxvies.Server
}

// openMoney starts the payment provider and the register of VAT ids. now is the
// world's clock: pages end by it. A product in another process has the time of its
// machine, and says by that when its pages end; so there the provider has it, too.
func (c sandboxCommand) openMoney(now func() time.Time) (money, error) {
	if c.WorldOnly {
		now = time.Now
	}
	provider, err := sandboxstripe.Start(sandboxstripe.Options{
		Data: c.Data, Holder: demoHolder, Latency: c.WorldLatency, Chaos: c.Chaos, Seed: c.Seed, Now: now,
	})
	if err != nil {
		return money{}, err
	}
	register, err := sandboxvies.Start(sandboxvies.Options{Latency: c.WorldLatency, Chaos: c.Chaos, Seed: c.Seed, Now: now})
	if err != nil {
		return money{}, errors.Join(err, provider.Close())
	}
	return money{provider, register}, nil
}

func (m money) close() error { return errors.Join(m.register.Close(), m.provider.Close()) }

// connect tells the product where both are.
func (m money) connect(cfg *config.Config) {
	if m.provider == nil {
		return // a world without money, in which nothing can be ordered
	}
	cfg.Stripe.APIURL = m.provider.API()
	cfg.Stripe.SecretKey = config.Secret(m.provider.SecretKey())
	cfg.Stripe.WebhookSecrets = []config.Secret{config.Secret(m.provider.WebhookSecret())}
	cfg.VAT.VIESURL = m.register.Address()
	cfg.Company = sandboxCompany
}

// sandboxCompany is who sells in the simulated world. Nobody has these numbers.
var sandboxCompany = config.Company{
	Name: "Sandkasten Domainkontor GmbH", Street: "Musterkai 1", PostalCode: "20457", City: "Hamburg",
	Register: "Amtsgericht Hamburg, HRB 000000", VATID: "DE000000000", TaxNumber: "27/000/00000",
	Email: "rechnung@dotkontor.example", Phone: "+49 40 0000000", InvoicePrefix: "RE", CorrectionPrefix: "RK",
}

// announceTo tells the provider where the product listens; not by its base
// address, behind which there may be a tunnel. A port that nobody knows yet is
// told later, through the provider's control.
func (m money) announceTo(listen string) error {
	if strings.HasSuffix(listen, ":0") {
		return nil
	}
	return m.provider.SetEndpoint("http://" + listen + hooks.Path)
}

// methods keeps a means of payment at the provider.
type methods interface {
	KeptMethod(email, name string) (holder, id, label string, err error)
	HasMethod(id string) bool
}

// settleMethod lets the demo customer have a card that may be charged again, at the
// provider and here: without one nothing could be renewed by itself. A means of
// payment that somebody has chosen stays.
func (d *demo) settleMethod(provider methods) func(context.Context, *accounts, registrar.Actor) error {
	return func(ctx context.Context, people *accounts, operator registrar.Actor) error {
		kept, found, err := people.db.MethodOf(ctx, operator.Customer)
		if err != nil || found && provider.HasMethod(kept.ID) {
			return err
		}
		holder, id, label, err := provider.KeptMethod(d.Email, demoHolder)
		if err != nil {
			return fmt.Errorf("the means of payment: %w", err)
		}
		return people.db.KeepMethod(ctx, operator.Customer, order.Method{Holder: holder, ID: id, Label: label}, time.Now())
	}
}

// moneyInfo is what scripts need to know of the payment provider.
type moneyInfo struct {
	API string `json:"api"`
	// Control looks into the provider's books and makes things go wrong there; it
	// wants the secret as a bearer token. Package sandbox/stripe lists what it can.
	Control       string `json:"control"`
	ControlSecret string `json:"control_secret"`
	// Cards are numbers to try on the page to pay at.
	Cards cardsInfo `json:"cards"`
}

// cardsInfo are Stripe's own test numbers.
type cardsInfo struct {
	Pays         string `json:"pays"`
	AsksTheHuman string `json:"asks_the_human"`
	Declined     string `json:"declined"`
	NoMoney      string `json:"no_money"`
}

var sandboxCards = cardsInfo{
	Pays: "4242424242424242", AsksTheHuman: "4000002500003155", Declined: "4000000000000002", NoMoney: "4000000000009995",
}

// transferInfo is a name at another registrar, and what moves it here.
type transferInfo struct {
	Name     string `json:"name"`
	AuthCode string `json:"auth_code"`
}

// transfers are names that can be moved to us: every label that begins with
// transfer- can, in every extension.
func transfers() []transferInfo {
	all := []transferInfo{}
	for _, name := range []string{"transfer-kaffeefahrt.com", "transfer-kaffeefahrt.de"} {
		all = append(all, transferInfo{Name: name, AuthCode: "auth-transfer-kaffeefahrt"})
	}
	return all
}

func (m money) info() moneyInfo {
	control := m.provider.Control()
	return moneyInfo{API: m.provider.API(), Control: control.Address, ControlSecret: control.Secret, Cards: sandboxCards}
}
