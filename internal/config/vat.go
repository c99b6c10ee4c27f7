package config

import "net/url"

// VAT controls VAT; package billing has the rules.
type VAT struct {
	// OSS states that the company uses the EU One-Stop-Shop: consumers in other EU
	// countries pay their own country's VAT instead of Germany's. Default: false.
	OSS bool `toml:"oss"`
	// VIESURL is the URL of the VIES service that validates VAT IDs. Default: the European
	// Commission's.
	VIESURL string `toml:"vies_url"`
	// WarnAtEUR is the net amount of this year's sales to consumers in other EU countries
	// from which the service warns that the threshold of 10,000 EUR is near, where their
	// countries' VAT is due. 0 disables the warning. Default: 8000.
	WarnAtEUR int `toml:"warn_at_eur"`
}

func (v *VAT) check(k *checker) {
	if v.VIESURL != "" {
		if address, err := url.Parse(v.VIESURL); err != nil || address.Hostname() == "" || address.Scheme != "http" && address.Scheme != "https" {
			k.addf("vat.vies_url", "%q is not an http or https URL", v.VIESURL)
		}
	}
	k.intRange("vat.warn_at_eur", v.WarnAtEUR, 0, 10_000)
}
