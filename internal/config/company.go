package config

import (
	"net/mail"
	"regexp"
	"strings"
)

// Company is the seller, as named on invoices and in the legal notice. It must be
// established in Germany, because the VAT rules assume that. Without a name, orders are
// accepted but their invoices are issued only once it is set. If any of these settings is
// set, the required ones must be, too.
type Company struct {
	// Name is the full name with its legal form. Required.
	Name string `toml:"name"`
	// Street, PostalCode and City are the address. Required.
	Street     string `toml:"street"`
	PostalCode string `toml:"postal_code"`
	City       string `toml:"city"`
	// Register is the register court and number, such as "Amtsgericht Hamburg, HRB
	// 123456". Leave it out if the company is not registered. Default: none.
	Register string `toml:"register"`
	// VATID is the USt-IdNr., such as DE123456789, TaxNumber the Steuernummer. One of them
	// is required; sales to businesses in other EU countries require VATID.
	VATID     string `toml:"vat_id"`
	TaxNumber string `toml:"tax_number"`
	// Email and Phone are the contact for questions about invoices. Withdrawals and
	// terminations are also announced to Email, which is required.
	Email string `toml:"email"`
	Phone string `toml:"phone"`
	// Representative is the name of the authorised representative, which the legal notice and mails show
	// in every language, without a title. Responsible is the name of the person responsible for the
	// content, with an address if it differs. Default: none.
	Representative string `toml:"representative"`
	Responsible    string `toml:"responsible"`
	// Texts is a folder with files that replace the built-in legal texts and the help page:
	// agb.txt, datenschutz.txt, widerruf.txt, kuendigung.txt, impressum.txt and hilfe.txt in
	// German, terms.txt, privacy.txt, withdrawal.txt, cancellation.txt, imprint.txt and help.txt
	// in English. They are
	// read at start. 'dotkontor texts FOLDER' writes the built-in ones as a starting
	// point. Default: none.
	Texts string `toml:"texts"`
	// InvoicePrefix and CorrectionPrefix start the document numbers, such as
	// RE-2026-000001 and RK-2026-000001. They must differ: one to eight capital letters
	// and digits. Default: RE and RK.
	InvoicePrefix    string `toml:"invoice_prefix" default:"RE"`
	CorrectionPrefix string `toml:"correction_prefix" default:"RK"`
}

var (
	numberPrefix     = regexp.MustCompile(`^[A-Z0-9]{1,8}$`)
	germanVATID      = regexp.MustCompile(`^DE[0-9]{9}$`)
	germanPostalCode = regexp.MustCompile(`^[0-9]{5}$`)
)

// maxFieldLength is what fits on an invoice.
const maxFieldLength = 100

func (c *Company) check(k *checker) {
	for key, prefix := range map[string]string{"company.invoice_prefix": c.InvoicePrefix, "company.correction_prefix": c.CorrectionPrefix} {
		if !numberPrefix.MatchString(prefix) {
			k.addf(key, "%q is not one to eight capital letters and digits", prefix)
		}
	}
	if c.InvoicePrefix == c.CorrectionPrefix {
		k.addf("company.correction_prefix", "it must differ from company.invoice_prefix")
	}
	required := map[string]string{
		"company.name": c.Name, "company.street": c.Street, "company.postal_code": c.PostalCode, "company.city": c.City, "company.email": c.Email,
	}
	all := c.Register + c.VATID + c.TaxNumber + c.Phone + c.Representative + c.Responsible
	for key, value := range required {
		all += value
		if len(value) > maxFieldLength || strings.TrimSpace(value) != value {
			k.addf(key, "it is longer than %d characters, or starts or ends with white space", maxFieldLength)
		}
	}
	if all == "" {
		return
	}
	for key, value := range required {
		if value == "" {
			k.addf(key, "it is required on invoices")
		}
	}
	if c.VATID == "" && c.TaxNumber == "" {
		k.addf("company.vat_id", "vat_id or tax_number is required on invoices")
	}
	if c.VATID != "" && !germanVATID.MatchString(c.VATID) {
		k.addf("company.vat_id", "%q is not a VAT ID like DE123456789", c.VATID)
	}
	if c.PostalCode != "" && !germanPostalCode.MatchString(c.PostalCode) {
		k.addf("company.postal_code", "%q is not five digits", c.PostalCode)
	}
	if address, err := mail.ParseAddress(c.Email); c.Email != "" && (err != nil || address.Address != c.Email) {
		k.addf("company.email", "%q is not an email address", c.Email)
	}
}

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
	WarnAtEUR int `toml:"warn_at_eur" default:"8000" range:"0..10000"`
}

func (v *VAT) check(k *checker) {
	if v.VIESURL != "" {
		k.httpURL("vat.vies_url", v.VIESURL)
	}
}
