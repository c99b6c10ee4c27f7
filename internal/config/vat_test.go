package config

import (
	"strings"
	"testing"
)

func TestVAT_GermanUnlessOSSEnabled(t *testing.T) {
	t.Parallel()
	cfg, err := Load("", nil)
	if err != nil || cfg.VAT != (VAT{WarnAtEUR: 8000}) {
		t.Fatalf("%+v, %v", cfg.VAT, err)
	}
	cfg, err = Load("", []string{"DOTKONTOR_VAT_OSS=true", "DOTKONTOR_VAT_VIES_URL=http://127.0.0.1:9000/vies", "DOTKONTOR_VAT_WARN_AT_EUR=0"})
	if err != nil || cfg.VAT != (VAT{OSS: true, VIESURL: "http://127.0.0.1:9000/vies"}) {
		t.Errorf("%+v, %v", cfg.VAT, err)
	}
	for variable, want := range map[string]string{
		"DOTKONTOR_VAT_OSS=perhaps":       "neither true nor false",
		"DOTKONTOR_VAT_VIES_URL=vies":     "vat.vies_url",
		"DOTKONTOR_VAT_WARN_AT_EUR=10001": "vat.warn_at_eur",
	} {
		if _, err := Load("", []string{variable}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", variable, err)
		}
	}
}
