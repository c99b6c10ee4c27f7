package sandbox

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	sandboxstripe "github.com/dotkontor/dotkontor/internal/sandbox/stripe"
	"github.com/dotkontor/dotkontor/internal/web/stripehook"
)

// configurePayments adds the payment provider, VIES and a seller to the configuration.
func (s simulation) configurePayments(cfg *config.Config) {
	if s.stripe == nil {
		return // without a provider, nothing can be ordered
	}
	cfg.Stripe.APIURL = s.stripe.API()
	cfg.Stripe.SecretKey = config.Secret(s.stripe.SecretKey())
	cfg.Stripe.WebhookSecrets = []config.Secret{config.Secret(s.stripe.WebhookSecret())}
	cfg.VAT.VIESURL = s.vies.Address()
	cfg.Company = company
}

// company is the seller in the sandbox. Its numbers are fictitious.
var company = config.Company{
	Name: "Sandkasten Domainkontor GmbH", Street: "Musterkai 1", PostalCode: "20457", City: "Hamburg",
	Register: "Amtsgericht Hamburg, HRB 000000", VATID: "DE000000000", TaxNumber: "27/000/00000",
	Email: "rechnung@dotkontor.example", Phone: "+49 40 0000000",
	Representative: "Erika Beispiel", Responsible: "Erika Beispiel",
	InvoicePrefix: "RE", CorrectionPrefix: "RK",
}

// registerWebhook registers the service's webhook endpoint at the provider. It uses the
// listen address, because BaseURL may lead through a tunnel. A port that is not known yet
// is registered later, through the provider's control API.
func (s simulation) registerWebhook(listen string) error {
	if strings.HasSuffix(listen, ":0") {
		return nil
	}
	return s.stripe.SetEndpoint("http://" + listen + stripehook.Path)
}

// paymentMethods stores payment methods at the provider.
type paymentMethods interface {
	SavedMethod(email, name string) (sandboxstripe.SavedCard, error)
	HasMethod(id string) bool
}

// ensurePaymentMethod saves a card for the demo customer, at the provider and in the
// database: automatic renewal requires one. A payment method that the user has chosen is kept.
func (d *demo) ensurePaymentMethod(provider paymentMethods) func(context.Context, *app.Services, registrar.Actor) error {
	return func(ctx context.Context, services *app.Services, operator registrar.Actor) error {
		saved, found, err := services.DB.GetPaymentMethod(ctx, operator.Customer)
		if err != nil || found && provider.HasMethod(saved.ID) {
			return err
		}
		card, err := provider.SavedMethod(d.Email, demoRegistrant)
		if err != nil {
			return fmt.Errorf("payment method: %w", err)
		}
		return services.DB.PutPaymentMethod(ctx, operator.Customer, order.PaymentMethod{
			ProviderCustomer: card.Customer, ID: card.ID, Label: "Visa •••• " + card.Last4, Fingerprint: card.Fingerprint, Expires: card.Expires,
		}, time.Now())
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

// transfers are examples of names that can be transferred: every label that starts with
// transfer- can, in every extension.
var transfers = []transferInfo{
	{"transfer-kaffeefahrt.com", "auth-transfer-kaffeefahrt"}, {"transfer-kaffeefahrt.de", "auth-transfer-kaffeefahrt"},
}
