package config

import (
	"strings"
	"testing"
)

func TestRDAP_RejectsWhatNoRegistrarHas(t *testing.T) {
	t.Parallel()
	for variable, want := range map[string]string{
		"DOTKONTOR_RDAP_IANA_ID=1234":                 "",
		"DOTKONTOR_RDAP_IANA_ID=0":                    "rdap.iana_id",
		"DOTKONTOR_RDAP_IANA_ID=01":                   "rdap.iana_id",
		"DOTKONTOR_RDAP_IANA_ID=IANA-1":               "rdap.iana_id",
		"DOTKONTOR_RDAP_IANA_ID=9995":                 "rdap.iana_id",
		"DOTKONTOR_RDAP_IANA_ID=9999":                 "rdap.iana_id",
		"DOTKONTOR_RDAP_ABUSE_EMAIL=abuse@d.example":  "",
		"DOTKONTOR_RDAP_ABUSE_EMAIL=abuse":            "rdap.abuse_email",
		"DOTKONTOR_RDAP_ABUSE_PHONE=+49 40 123456":    "",
		"DOTKONTOR_RDAP_ABUSE_PHONE=040 123456":       "rdap.abuse_phone",
		"DOTKONTOR_LIMITS_RDAP_PER_MINUTE=0":          "limits.rdap_per_minute",
		"DOTKONTOR_RDAP_REGISTRAR=Kontor GmbH":        "REGISTRAR",
		"DOTKONTOR_RDAP_ABUSE_PHONE=+49 40 x":         "rdap.abuse_phone",
		"DOTKONTOR_RDAP_ABUSE_EMAIL=A <a@d.example>":  "rdap.abuse_email",
		"DOTKONTOR_RDAP_ABUSE_PHONE=+49 (0)40/123-45": "",
	} {
		_, err := Load("", []string{variable})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", variable, err)
		}
	}
}

func TestAbuseContact_DefaultsToCompany(t *testing.T) {
	t.Parallel()
	cfg := Default()
	cfg.Company.Email, cfg.Company.Phone = "post@kontor.example", "+49 (0)40 123-456"
	if cfg.AbuseEmail() != "post@kontor.example" || cfg.AbusePhone() != "+4940123456" {
		t.Errorf("got %s, %s", cfg.AbuseEmail(), cfg.AbusePhone())
	}
	cfg.RDAP.AbuseEmail, cfg.RDAP.AbusePhone = "abuse@kontor.example", "+1 703 555 0100"
	if cfg.AbuseEmail() != "abuse@kontor.example" || cfg.AbusePhone() != "+17035550100" {
		t.Errorf("got %s, %s", cfg.AbuseEmail(), cfg.AbusePhone())
	}
	cfg.RDAP.AbusePhone, cfg.Company.Phone = "", "040 123456"
	if phone := cfg.AbusePhone(); phone != "" {
		t.Errorf("a national number is published as %s", phone)
	}
}

func TestWarnings_AccreditedRegistrarNeedsAbuseContactAndHTTPS(t *testing.T) {
	t.Parallel()
	cfg := Default()
	cfg.BaseURL = "http://domains.example"
	if got := cfg.rdapWarnings(); len(got) != 0 {
		t.Errorf("without an accreditation: %q", got)
	}
	cfg.RDAP.IANAID = "1234"
	warnings := strings.Join(cfg.Warnings(), "\n")
	for _, key := range []string{"company.name", "rdap.abuse_email", "rdap.abuse_phone", "base_url"} {
		if !strings.Contains(warnings, key+": ") {
			t.Errorf("no warning about %s in\n%s", key, warnings)
		}
	}
	cfg.BaseURL, cfg.Company.Name, cfg.RDAP.AbuseEmail, cfg.RDAP.AbusePhone = "https://domains.example", "Kontor GmbH", "abuse@kontor.example", "+49 40 123456"
	if got := cfg.rdapWarnings(); len(got) != 0 {
		t.Errorf("complete: %q", got)
	}
}
