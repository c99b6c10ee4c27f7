package config

import "net/url"

// VAT is how VAT is charged; package billing has the rules.
type VAT struct {
	// OSS says that we take part in the One-Stop-Shop: consumers in other EU
	// countries then pay their country's VAT, and else Germany's. Default: false.
	OSS bool `toml:"oss"`
	// VIESURL is where VAT ids are checked. Default: the European Commission's.
	VIESURL string `toml:"vies_url"`
	// WarnAtEUR is the year's net sales to consumers in other EU countries from
	// which on it is warned that the One-Stop-Shop becomes a duty, at 10,000 EUR. 0
	// never warns. Default: 8000.
	WarnAtEUR int `toml:"warn_at_eur"`
}

func (v *VAT) check(k *checker) {
	if v.VIESURL != "" {
		if address, err := url.Parse(v.VIESURL); err != nil || address.Hostname() == "" || address.Scheme != "http" && address.Scheme != "https" {
			k.addf("vat.vies_url", "%q is not a web address", v.VIESURL)
		}
	}
	k.intRange("vat.warn_at_eur", v.WarnAtEUR, 0, 10_000)
}
