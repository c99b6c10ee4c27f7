package config

import (
	"cmp"
	"net/mail"
	"regexp"
	"slices"
	"strings"
)

// RDAP is what /rdap/ publishes about the registrar in addition to [company]. An accredited
// registrar needs all of it; without iana_id the service answers, but claims no conformance to
// ICANN's profile.
type RDAP struct {
	// IANAID is the registrar's IANA ID, which comes with its accreditation, such as 1234.
	// Default: none.
	IANAID string `toml:"iana_id"`
	// AbuseEmail and AbusePhone receive reports of abuse. The phone number is international,
	// such as "+49 40 123456". Default: company.email, and company.phone if it is international.
	AbuseEmail string `toml:"abuse_email"`
	AbusePhone string `toml:"abuse_phone"`
}

var (
	ianaID             = regexp.MustCompile(`^[1-9][0-9]{0,6}$`)
	internationalPhone = regexp.MustCompile(`^\+[1-9][0-9 ()./-]{5,30}$`)
	// reservedIANAIDs belong to no registrar: IANA, registries' own registrations, emergency
	// operators, tests and monitoring.
	reservedIANAIDs = []string{"376", "9994", "9995", "9996", "9997", "9998", "9999"}
)

func (c *Config) checkRDAP(k *checker) {
	if id := c.RDAP.IANAID; id != "" && (!ianaID.MatchString(id) || slices.Contains(reservedIANAIDs, id)) {
		k.addf("rdap.iana_id", "%q is not the IANA ID of a registrar", id)
	}
	if address, err := mail.ParseAddress(c.RDAP.AbuseEmail); c.RDAP.AbuseEmail != "" && (err != nil || address.Address != c.RDAP.AbuseEmail) {
		k.addf("rdap.abuse_email", "%q is not an email address", c.RDAP.AbuseEmail)
	}
	if phone := c.RDAP.AbusePhone; phone != "" && !internationalPhone.MatchString(phone) {
		k.addf("rdap.abuse_phone", "%q is not an international phone number like +49 40 123456", phone)
	}
}

// AbuseEmail returns the address for reports of abuse; empty if there is none.
func (c *Config) AbuseEmail() string { return cmp.Or(c.RDAP.AbuseEmail, c.Company.Email) }

// AbusePhone returns the phone number for reports of abuse, as + and digits; empty if there is
// none.
func (c *Config) AbusePhone() string {
	return cmp.Or(InternationalPhone(c.RDAP.AbusePhone), InternationalPhone(c.Company.Phone))
}

// InternationalPhone returns a phone number as + and digits; empty if it is not international.
func InternationalPhone(phone string) string {
	if !internationalPhone.MatchString(phone) {
		return ""
	}
	phone = strings.ReplaceAll(phone, "(0)", "") // the trunk prefix, as in +49 (0) 40
	return "+" + strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, phone)
}

// rdapWarnings lists what an accredited registrar lacks.
func (c *Config) rdapWarnings() (warnings []string) {
	if c.RDAP.IANAID == "" {
		return nil
	}
	for _, setting := range []struct{ key, value string }{
		{"company.name", c.Company.Name}, {"rdap.abuse_email", c.AbuseEmail()}, {"rdap.abuse_phone", c.AbusePhone()},
	} {
		if setting.value == "" {
			warnings = append(warnings, setting.key+": not set, but rdap.iana_id is; RDAP responses don't conform to ICANN's profile")
		}
	}
	if !strings.HasPrefix(c.BaseURL, "https://") {
		warnings = append(warnings, "base_url: not https, but rdap.iana_id is set; ICANN requires RDAP over HTTPS")
	}
	return warnings
}
