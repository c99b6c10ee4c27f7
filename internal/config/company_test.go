package config

import (
	"strings"
	"testing"
)

func TestCompany_CompleteOrAbsent(t *testing.T) {
	t.Parallel()
	cfg, err := Load("", nil)
	if err != nil || cfg.Company != (Company{InvoicePrefix: "RE", CorrectionPrefix: "RK"}) {
		t.Fatalf("%+v, %v", cfg.Company, err)
	}
	whole := []string{
		"DOTKONTOR_COMPANY_NAME=Kontor GmbH", "DOTKONTOR_COMPANY_STREET=Kai 1", "DOTKONTOR_COMPANY_POSTAL_CODE=20457", "DOTKONTOR_COMPANY_CITY=Hamburg",
		"DOTKONTOR_COMPANY_EMAIL=rechnung@kontor.example", "DOTKONTOR_COMPANY_VAT_ID=DE123456789",
	}
	if cfg, err := Load("", whole); err != nil || cfg.Company.Name != "Kontor GmbH" || cfg.Company.VATID != "DE123456789" {
		t.Errorf("%+v, %v", cfg.Company, err)
	}
	for i := range whole {
		part := append(append([]string(nil), whole[:i]...), whole[i+1:]...)
		key, _, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(whole[i], "DOTKONTOR_COMPANY_")), "=")
		if _, err := Load("", part); err == nil || !strings.Contains(err.Error(), "company."+key) {
			t.Errorf("without %s: %v", key, err)
		}
	}
	for variable, want := range map[string]string{
		"DOTKONTOR_COMPANY_VAT_ID=ATU12345678":     "company.vat_id",
		"DOTKONTOR_COMPANY_POSTAL_CODE=2045":       "company.postal_code",
		"DOTKONTOR_COMPANY_EMAIL=Kontor":           "company.email",
		"DOTKONTOR_COMPANY_NAME= Kontor":           "company.name",
		"DOTKONTOR_COMPANY_INVOICE_PREFIX=re-":     "company.invoice_prefix",
		"DOTKONTOR_COMPANY_CORRECTION_PREFIX=RE":   "company.correction_prefix",
		"DOTKONTOR_COMPANY_INVOICE_PREFIX=":        "company.invoice_prefix",
		"DOTKONTOR_COMPANY_LEGAL_FORM=UG":          "LEGAL_FORM",
		"DOTKONTOR_COMPANY_REGISTER=HRB 1":         "",
		"DOTKONTOR_COMPANY_TAX_NUMBER=27/123/4567": "",
	} {
		_, err := Load("", append(append([]string(nil), whole...), variable))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", variable, err)
		}
	}
	if _, err := Load("", []string{"DOTKONTOR_COMPANY_REGISTER=HRB 1"}); err == nil {
		t.Error("a register without a company is accepted")
	}
}
