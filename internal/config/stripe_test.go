package config

import (
	"fmt"
	"strings"
	"testing"
)

const (
	goodKey    = "sk_test_51abcDEF0123"
	goodSecret = "whsec_abcdefgh0123"
)

func TestStripe_FromFileOrEnvironment(t *testing.T) {
	cfg, err := Load(writeConfig(t, "[stripe]\nsecret_key = \""+goodKey+"\"\nwebhook_secrets = [\""+goodSecret+"\"]\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Stripe.SecretKey != goodKey || len(cfg.Stripe.PaymentMethods) != 1 || cfg.Stripe.PaymentMethods[0] != "card" {
		t.Errorf("got a key: %t, methods %v", cfg.Stripe.SecretKey == goodKey, cfg.Stripe.PaymentMethods)
	}
	cfg, err = Load("", []string{
		"DOTKONTOR_STRIPE_SECRET_KEY=" + goodKey, "DOTKONTOR_STRIPE_WEBHOOK_SECRETS=" + goodSecret + "," + goodSecret + "2",
		"DOTKONTOR_STRIPE_PAYMENT_METHODS=card,paypal",
	})
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Stripe.SecretKey != goodKey || len(cfg.Stripe.WebhookSecrets) != 2 || len(cfg.Stripe.PaymentMethods) != 2 {
		t.Errorf("got %d secrets, methods %v", len(cfg.Stripe.WebhookSecrets), cfg.Stripe.PaymentMethods)
	}
}

func TestCheckStripe_ReportsEveryMistakeWithoutSecrets(t *testing.T) {
	for name, test := range map[string]struct{ text, says string }{
		"publishable key":     {`secret_key = "pk_live_SECRETSECRET"`, "publishable"},
		"not a key":           {`secret_key = "SECRETSECRET"`, "stripe.secret_key"},
		"live key over http":  {`secret_key = "sk_live_SECRETSECRET"`, "https"},
		"no signing secret":   {`secret_key = "sk_test_SECRETSECRET"` + "\n" + `webhook_secrets = ["SECRETSECRET"]`, "stripe.webhook_secrets"},
		"secret without key":  {`webhook_secrets = ["whsec_SECRETSECRET"]`, "secret_key is not"},
		"late method":         {`payment_methods = ["sepa_debit"]`, "sepa_debit"},
		"no method":           {`secret_key = "sk_test_SECRETSECRET"` + "\n" + `payment_methods = []`, "at least one"},
		"key in clear":        {`api_url = "http://api.stripe.example"`, "stripe.api_url"},
		"address with a user": {`api_url = "https://user@api.stripe.example"`, "stripe.api_url"},
		"not an address":      {`api_url = "api.stripe.example"`, "stripe.api_url"},
	} {
		_, err := Load(writeConfig(t, "[stripe]\n"+test.text+"\n"), nil)
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "SECRETSECRET") {
			t.Errorf("%s: the error quotes the secret", name)
		}
	}
}

func TestStripe_SecretsAreNeverPrinted(t *testing.T) {
	cfg, err := Load("", []string{"DOTKONTOR_STRIPE_SECRET_KEY=" + goodKey, "DOTKONTOR_STRIPE_WEBHOOK_SECRETS=" + goodSecret})
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%v %+v %#v", cfg.Stripe, cfg.Stripe, cfg.Stripe); strings.Contains(text, goodKey) || strings.Contains(text, goodSecret) {
		t.Error("a secret is printed")
	}
}

func TestStripe_APIURLMayBeLoopback(t *testing.T) {
	for _, address := range []string{"http://127.0.0.1:4000", "http://localhost:4000", "http://[::1]:4000", "https://gateway.example"} {
		if _, err := Load("", []string{"DOTKONTOR_STRIPE_API_URL=" + address}); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}
