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

// payments are the simulated upstreams for payment and VAT.
type payments struct {
	provider *sandboxstripe.Server
	vies     *sandboxvies.Server
}

// startPayments starts the payment provider and VIES. now is the sandbox's clock, by which
// payment pages expire. A service in another process sets that expiry by real time, so
// with --world-only the provider uses real time, too.
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

// configure adds both to the configuration.
func (m payments) configure(cfg *config.Config) {
	if m.provider == nil {
		return // without a provider, nothing can be ordered
	}
	cfg.Stripe.APIURL = m.provider.API()
	cfg.Stripe.SecretKey = config.Secret(m.provider.SecretKey())
	cfg.Stripe.WebhookSecrets = []config.Secret{config.Secret(m.provider.WebhookSecret())}
	cfg.VAT.VIESURL = m.vies.Address()
	cfg.Company = company
}

// company is the seller in the sandbox. Its numbers are fictitious.
var company = config.Company{
	Name: "Sandkasten Domainkontor GmbH", Street: "Musterkai 1", PostalCode: "20457", City: "Hamburg",
	Register: "Amtsgericht Hamburg, HRB 000000", VATID: "DE000000000", TaxNumber: "27/000/00000",
	Email: "rechnung@dotkontor.example", Phone: "+49 40 0000000",
	Representative: "Geschäftsführerin Erika Beispiel", Responsible: "Erika Beispiel, Anschrift wie oben",
	InvoicePrefix: "RE", CorrectionPrefix: "RK",
}

// registerWebhook registers the service's webhook endpoint at the provider. It uses the
// listen address, because BaseURL may lead through a tunnel. A port that is not known yet
// is registered later, through the provider's control API.
func (m payments) registerWebhook(listen string) error {
	if strings.HasSuffix(listen, ":0") {
		return nil
	}
	return m.provider.SetEndpoint("http://" + listen + stripehook.Path)
}

// paymentMethods stores payment methods at the provider.
type paymentMethods interface {
	SavedMethod(email, name string) (holder, id, label string, err error)
	HasMethod(id string) bool
}

// ensurePaymentMethod saves a card for the demo customer, at the provider and in the
// database: automatic renewal requires one. A payment method that the user has chosen is
// kept.
func (d *demo) ensurePaymentMethod(provider paymentMethods) func(context.Context, *app.Services, registrar.Actor) error {
	return func(ctx context.Context, services *app.Services, operator registrar.Actor) error {
		saved, found, err := services.DB.GetPaymentMethod(ctx, operator.Customer)
		if err != nil || found && provider.HasMethod(saved.ID) {
			return err
		}
		holder, id, label, err := provider.SavedMethod(d.Email, demoRegistrant)
		if err != nil {
			return fmt.Errorf("payment method: %w", err)
		}
		return services.DB.PutPaymentMethod(ctx, operator.Customer, order.PaymentMethod{ProviderCustomer: holder, ID: id, Label: label}, time.Now())
	}
}

// paymentInfo has the addresses of the payment provider, for scripts.
type paymentInfo struct {
	API string `json:"api"`
	// Control is the API that inspects the provider's records and injects faults. It
	// expects ControlSecret as a bearer token; see package sandbox/stripe.
	Control       string `json:"control"`
	ControlSecret string `json:"control_secret"`
	// Cards are test numbers for the payment page.
	Cards cardsInfo `json:"cards"`
}

// cardsInfo has Stripe's own test numbers.
type cardsInfo struct {
	Pays              string `json:"pays"`
	RequiresAction    string `json:"asks_the_human"`
	Declined          string `json:"declined"`
	InsufficientFunds string `json:"no_money"`
}

var testCards = cardsInfo{
	Pays: "4242424242424242", RequiresAction: "4000002500003155", Declined: "4000000000000002", InsufficientFunds: "4000000000009995",
}

// transferInfo is a name at another registrar and its auth code.
type transferInfo struct {
	Name     string `json:"name"`
	AuthCode string `json:"auth_code"`
}

// transfers returns examples of names that can be transferred: every label that starts
// with transfer- can, in every extension.
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
