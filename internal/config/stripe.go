package config

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Orders controls orders, which require stripe.secret_key.
type Orders struct {
	// Hold is how long an order waits for its payment before it expires. Default: 24h.
	Hold Duration `toml:"hold" default:"24h" range:"10m..720h"`
	// MaxOpen is how many unpaid orders one customer may have at a time. Default: 20.
	MaxOpen int `toml:"max_open" default:"20" range:"1..1000"`
	// VerifyOverEUR is the gross total of 30 days, per account, email address or card,
	// above which the customer's identity must be verified. Default: 500.
	VerifyOverEUR int `toml:"verify_over_eur" default:"500" range:"1..1000000"`
	// ReuseQuotes is how long pages and checkout sessions reuse a quote before the
	// registry is queried again. Ordering and paying always query it. Default: 10s.
	ReuseQuotes Duration `toml:"reuse_quotes" default:"10s" range:"1s..1m"`
	// RecheckInterval is the minimum time between two queries to the payment provider that
	// page views cause, per payment or identity verification and node. Default: 3s.
	RecheckInterval Duration `toml:"recheck_interval" default:"3s" range:"1s..1m"`
	// MaxQuotes limits the quotes in memory. Default: 20000.
	MaxQuotes int `toml:"max_quotes" default:"20000" range:"100..10000000"`
}

// Stripe is the payment provider, which also verifies identities. Without a secret key
// nothing can be ordered; everything else works.
type Stripe struct {
	// SecretKey is the API key of the Stripe account: sk_live_… or sk_test_…, or a
	// restricted key rk_… with write access to checkout sessions, refunds and verification
	// sessions and read access to payment intents, charges and payment methods. A live key
	// requires an https base_url. Default: none.
	SecretKey Secret `toml:"secret_key"`
	// WebhookSecrets are the signing secrets, whsec_…, of the webhook endpoint
	// BASE_URL/api/stripe/webhook. List the old and the new one while you replace it.
	// Without any, payments are found by polling, which takes a little longer.
	// Default: none.
	WebhookSecrets []Secret `toml:"webhook_secrets"`
	// APIURL is the base URL of the Stripe API, for the sandbox and for gateways.
	// Default: Stripe's.
	APIURL string `toml:"api_url"`
	// PaymentMethods are the payment methods on offer. Only methods that confirm
	// immediately are allowed, because a registration can't be undone: card, link,
	// paypal, klarna, bancontact, eps, ideal, p24, revolut_pay, amazon_pay.
	// Default: card.
	PaymentMethods []string `toml:"payment_methods" default:"card"`
	// TokenParameter is the request parameter for a shared payment token, TokenVersion the
	// Stripe-Version header of calls with such tokens. They are settings because this part
	// of Stripe's API is a preview that changes. Default:
	// payment_method_data[shared_payment_granted_token] and 2025-09-30.preview.
	TokenParameter string `toml:"token_parameter"`
	TokenVersion   string `toml:"token_version"`
	// TokenMethodType is sent with the token as payment_method_data[type].
	// Default: not sent.
	TokenMethodType string `toml:"token_method_type"`
}

// instantMethods are Stripe's payment methods in euros that succeed or fail immediately.
// Direct debits and bank transfers take days.
var instantMethods = []string{
	"card", "link", "paypal", "klarna", "bancontact", "eps", "ideal", "p24", "revolut_pay", "amazon_pay",
}

var (
	stripeKey     = regexp.MustCompile(`^(sk|rk)_(live|test)_[A-Za-z0-9_]{8,}$`)
	stripeVersion = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(\.[a-z]+)?$`)
	stripeParam   = regexp.MustCompile(`^[a-z_]+(\[[a-z_]+\])*$`)
)

func (c *Config) checkStripe(k *checker) {
	s := c.Stripe
	for _, method := range s.PaymentMethods {
		k.oneOf("stripe.payment_methods", method, instantMethods...)
	}
	for _, secret := range s.WebhookSecrets {
		// Here and below the value is not quoted: it is a secret.
		if !strings.HasPrefix(string(secret), "whsec_") || len(secret) < len("whsec_")+8 {
			k.addf("stripe.webhook_secrets", "one entry is not a signing secret like whsec_…")
		}
	}
	if s.APIURL != "" && !secureURL(s.APIURL) {
		k.addf("stripe.api_url", "%q is not an https URL (http is allowed for loopback only, because the key would be sent unencrypted)", s.APIURL)
	}
	if s.TokenVersion != "" && !stripeVersion.MatchString(s.TokenVersion) {
		k.addf("stripe.token_version", "%q is not a version like 2025-09-30.preview", s.TokenVersion)
	}
	for setting, word := range map[string]string{"stripe.token_parameter": s.TokenParameter, "stripe.token_method_type": s.TokenMethodType} {
		if word != "" && !stripeParam.MatchString(word) {
			k.addf(setting, "%q is not a Stripe parameter like payment_method_data[type]", word)
		}
	}
	if s.SecretKey == "" {
		if len(s.WebhookSecrets) > 0 {
			k.addf("stripe.secret_key", "webhook_secrets is set, but secret_key is not")
		}
		return
	}
	if !stripeKey.MatchString(string(s.SecretKey)) {
		k.addf("stripe.secret_key", "it is not a secret key like sk_live_…, sk_test_… or rk_live_…; a publishable key (pk_…) does not work")
	}
	if len(s.PaymentMethods) == 0 {
		k.addf("stripe.payment_methods", "at least one is required")
	}
	if strings.Contains(string(s.SecretKey), "_live_") && !strings.HasPrefix(c.BaseURL, "https://") {
		k.addf("stripe.secret_key", "a live key requires a base_url with https://")
	}
}

// secureURL reports whether a key may be sent to a URL: https, or http on loopback.
func secureURL(text string) bool {
	address, err := url.Parse(text)
	if err != nil || address.Hostname() == "" || address.User != nil || address.RawQuery != "" || address.Fragment != "" {
		return false
	}
	if address.Scheme == "http" {
		return registrar.IsLoopbackHost(address.Hostname())
	}
	return address.Scheme == "https"
}
