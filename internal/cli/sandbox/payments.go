package sandbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	sandboxstripe "github.com/dotkontor/dotkontor/internal/sandbox/stripe"
	sandboxvies "github.com/dotkontor/dotkontor/internal/sandbox/vies"
	"github.com/dotkontor/dotkontor/internal/web/stripehook"
)

// payments is the part of the simulated world that payment and VAT need.
type payments struct {
	provider *sandboxstripe.Server
	vies     *sandboxvies.Server
}

// startPayments starts the payment provider and the register of VAT ids. now is the
// world's clock: pages end by it. A product in another process has the time of its
// machine, and says by that when its pages end; so there the provider has it, too.
func (c Command) startPayments(now func() time.Time) (payments, error) {
	if c.WorldOnly {
		now = time.Now
	}
	provider, err := sandboxstripe.Start(sandboxstripe.Options{
		Data: c.Data, Holder: demoRegistrant, Latency: c.WorldLatency, Chaos: c.Chaos, Seed: c.Seed, Now: now,
	})
	if err != nil {
		return payments{}, err
	}
	register, err := sandboxvies.Start(sandboxvies.Options{Latency: c.WorldLatency, Chaos: c.Chaos, Seed: c.Seed, Now: now})
	if err != nil {
		return payments{}, errors.Join(err, provider.Close())
	}
	return payments{provider, register}, nil
}

func (m payments) close() error { return errors.Join(m.vies.Close(), m.provider.Close()) }

// configure tells the product where both are.
func (m payments) configure(cfg *config.Config) {
	if m.provider == nil {
		return // a world without money, in which nothing can be ordered
	}
	cfg.Stripe.APIURL = m.provider.API()
	cfg.Stripe.SecretKey = config.Secret(m.provider.SecretKey())
	cfg.Stripe.WebhookSecrets = []config.Secret{config.Secret(m.provider.WebhookSecret())}
	cfg.VAT.VIESURL = m.vies.Address()
	cfg.Company = company
}

// company is who sells in the simulated world. Nobody has these numbers.
var company = config.Company{
	Name: "Sandkasten Domainkontor GmbH", Street: "Musterkai 1", PostalCode: "20457", City: "Hamburg",
	Register: "Amtsgericht Hamburg, HRB 000000", VATID: "DE000000000", TaxNumber: "27/000/00000",
	Email: "rechnung@dotkontor.example", Phone: "+49 40 0000000",
	Representative: "Geschäftsführerin Erika Beispiel", Responsible: "Erika Beispiel, Anschrift wie oben",
	InvoicePrefix: "RE", CorrectionPrefix: "RK",
}

// registerWebhook tells the provider where the product listens; not by its base
// address, behind which there may be a tunnel. A port that nobody knows yet is
// told later, through the provider's control.
func (m payments) registerWebhook(listen string) error {
	if strings.HasSuffix(listen, ":0") {
		return nil
	}
	return m.provider.SetEndpoint("http://" + listen + stripehook.Path)
}

// paymentMethods keeps a means of payment at the provider.
type paymentMethods interface {
	SavedMethod(email, name string) (holder, id, label string, err error)
	HasMethod(id string) bool
}

// ensurePaymentMethod lets the demo customer have a card that may be charged again, at the
// provider and here: without one nothing could be renewed by itself. A means of
// payment that somebody has chosen stays.
func (d *demo) ensurePaymentMethod(provider paymentMethods) func(context.Context, *app.Services, registrar.Actor) error {
	return func(ctx context.Context, services *app.Services, operator registrar.Actor) error {
		saved, found, err := services.DB.GetPaymentMethod(ctx, operator.Customer)
		if err != nil || found && provider.HasMethod(saved.ID) {
			return err
		}
		holder, id, label, err := provider.SavedMethod(d.Email, demoRegistrant)
		if err != nil {
			return fmt.Errorf("the means of payment: %w", err)
		}
		return services.DB.PutPaymentMethod(ctx, operator.Customer, order.PaymentMethod{ProviderCustomer: holder, ID: id, Label: label}, time.Now())
	}
}

// paymentInfo is what scripts need to know of the payment provider.
type paymentInfo struct {
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
	Pays              string `json:"pays"`
	RequiresAction    string `json:"asks_the_human"`
	Declined          string `json:"declined"`
	InsufficientFunds string `json:"no_money"`
}

var testCards = cardsInfo{
	Pays: "4242424242424242", RequiresAction: "4000002500003155", Declined: "4000000000000002", InsufficientFunds: "4000000000009995",
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

func (m payments) info() paymentInfo {
	control := m.provider.Control()
	return paymentInfo{API: m.provider.API(), Control: control.Address, ControlSecret: control.Secret, Cards: testCards}
}
