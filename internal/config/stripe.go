package config

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Stripe is how customers pay and show who they are. Without a secret key nothing
// can be ordered; everything else works.
type Stripe struct {
	// SecretKey is the key of the account at Stripe: sk_live_… or sk_test_…, or a
	// restricted one, rk_…, that may write checkout sessions, refunds and
	// verification sessions and read payment intents, charges and payment methods.
	// Default: none.
	SecretKey Secret `toml:"secret_key"`
	// WebhookSecrets are the signing secrets, whsec_…, of the endpoint that Stripe
	// calls: base_url and /api/stripe/webhook. While one is being replaced, both
	// count. Without any, payments are noticed a little later, because we ask.
	// Default: none.
	WebhookSecrets []Secret `toml:"webhook_secrets"`
	// APIURL is where Stripe's interface is reached, for the sandbox and for
	// gateways. Default: Stripe's own.
	APIURL string `toml:"api_url"`
	// PaymentMethods are the means of payment that are offered. Only those whose
	// payment is certain at once can be named, because a domain can't be taken
	// back: card, link, paypal, klarna, bancontact, eps, ideal, p24, revolut_pay,
	// amazon_pay. Default: card.
	PaymentMethods []string `toml:"payment_methods"`
	// TokenParameter is what Stripe calls a shared payment token when a payment is
	// confirmed with it, TokenVersion the Stripe-Version of the calls that have to
	// do with tokens. They are settings because Stripe's interface to tokens is a
	// preview that changes. Defaults:
	// payment_method_data[shared_payment_granted_token] and 2025-09-30.preview.
	TokenParameter string `toml:"token_parameter"`
	TokenVersion   string `toml:"token_version"`
	// TokenMethodType is sent beside it as payment_method_data[type].
	// Default: nothing is.
	TokenMethodType string `toml:"token_method_type"`
}

// instantMethods are Stripe's means of payment in euros that fail or succeed while
// the customer is watching. Direct debits and bank transfers do so days later.
var instantMethods = []string{
	"card", "link", "paypal", "klarna", "bancontact", "eps", "ideal", "p24", "revolut_pay", "amazon_pay",
}

var stripeKey = regexp.MustCompile(`^(sk|rk)_(live|test)_[A-Za-z0-9_]{8,}$`)

var (
	stripeVersion = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(\.[a-z]+)?$`)
	stripeParam   = regexp.MustCompile(`^[a-z_]+(\[[a-z_]+\])*$`)
)

func (c *Config) checkStripe(k *checker) {
	s := c.Stripe
	for _, method := range s.PaymentMethods {
		if !slices.Contains(instantMethods, method) {
			k.addf("stripe.payment_methods", "%q is none of %s", method, strings.Join(instantMethods, ", "))
		}
	}
	for _, secret := range s.WebhookSecrets {
		// Neither here nor below is the text quoted: it is a secret.
		if !strings.HasPrefix(string(secret), "whsec_") || len(secret) < len("whsec_")+8 {
			k.addf("stripe.webhook_secrets", "one of them is not a signing secret like whsec_…")
		}
	}
	if s.APIURL != "" && !secureURL(s.APIURL) {
		k.addf("stripe.api_url", "%q is not an https address (http is allowed to 127.0.0.1, [::1] and localhost only: the key would travel in clear)", s.APIURL)
	}
	if s.TokenVersion != "" && !stripeVersion.MatchString(s.TokenVersion) {
		k.addf("stripe.token_version", "%q is not a version like 2025-09-30.preview", s.TokenVersion)
	}
	for setting, word := range map[string]string{"stripe.token_parameter": s.TokenParameter, "stripe.token_method_type": s.TokenMethodType} {
		if word != "" && !stripeParam.MatchString(word) {
			k.addf(setting, "%q is no word of Stripe's", word)
		}
	}
	if s.SecretKey == "" {
		if len(s.WebhookSecrets) > 0 {
			k.addf("stripe.secret_key", "webhook_secrets are set, but no key")
		}
		return
	}
	if !stripeKey.MatchString(string(s.SecretKey)) {
		k.addf("stripe.secret_key", "it is not a secret key like sk_live_…, sk_test_… or rk_live_…; a publishable key, pk_…, is of no use here")
	}
	if len(s.PaymentMethods) == 0 {
		k.addf("stripe.payment_methods", "at least one is needed")
	}
	if strings.Contains(string(s.SecretKey), "_live_") && !strings.HasPrefix(c.BaseURL, "https://") {
		k.addf("stripe.secret_key", "with a live key base_url must begin with https://")
	}
}

// secureURL says whether a key may travel to that address.
func secureURL(text string) bool {
	address, err := url.Parse(text)
	if err != nil || address.Hostname() == "" || address.User != nil || address.RawQuery != "" || address.Fragment != "" {
		return false
	}
	if address.Scheme == "http" {
		ip, err := netip.ParseAddr(address.Hostname())
		return address.Hostname() == "localhost" || err == nil && ip.IsLoopback()
	}
	return address.Scheme == "https"
}
