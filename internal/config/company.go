package config

import (
	"net/mail"
	"regexp"
	"strings"
)

// Company is who sells, as invoices and the legal notice must name it. The seat is in Germany, as the
// rules of VAT suppose. Without a name orders are taken and no invoice is issued:
// they wait, and are issued once it is set.
type Company struct {
	// Name is the full one, with its legal form. Default: none.
	Name string `toml:"name"`
	// Street, PostalCode and City are the address.
	Street     string `toml:"street"`
	PostalCode string `toml:"postal_code"`
	City       string `toml:"city"`
	// Register is the court and the number, "Amtsgericht Hamburg, HRB 123456".
	// Default: none, for those who are in no register.
	Register string `toml:"register"`
	// VATID and TaxNumber are the USt-IdNr., DE123456789, and the Steuernummer. One
	// of them is needed, and the first for sales to businesses in other EU countries.
	VATID     string `toml:"vat_id"`
	TaxNumber string `toml:"tax_number"`
	// Email and Phone are for questions about invoices. The first is needed.
	// Declarations about contracts are announced there, too.
	Email string `toml:"email"`
	Phone string `toml:"phone"`
	// Representative is who may sign for it, "Geschäftsführerin: Erika Mustermann".
	// Responsible answers for what the pages say, with an address if it is another
	// one. Both are for the legal notice. Default: none.
	Representative string `toml:"representative"`
	Responsible    string `toml:"responsible"`
	// Texts is a folder whose files replace the texts of the law's pages: agb.txt,
	// datenschutz.txt, widerruf.txt, kuendigung.txt and impressum.txt, and in English
	// terms.txt, privacy.txt, withdrawal.txt, cancellation.txt and imprint.txt.
	// "dotkontor texts" prints ours to begin with. They are read at start. Default:
	// none, all texts are ours.
	Texts string `toml:"texts"`
	// InvoicePrefix and CorrectionPrefix begin the numbers, before the year. Default:
	// RE and RK, which makes RE-2026-000001 and RK-2026-000001.
	InvoicePrefix    string `toml:"invoice_prefix"`
	CorrectionPrefix string `toml:"correction_prefix"`
}

var (
	numberPrefix     = regexp.MustCompile(`^[A-Z0-9]{1,8}$`)
	germanVATID      = regexp.MustCompile(`^DE[0-9]{9}$`)
	germanPostalCode = regexp.MustCompile(`^[0-9]{5}$`)
)

// maxFieldLength is what fits on a sheet.
const maxFieldLength = 100

func (c *Company) check(k *checker) {
	for key, prefix := range map[string]string{"company.invoice_prefix": c.InvoicePrefix, "company.correction_prefix": c.CorrectionPrefix} {
		if !numberPrefix.MatchString(prefix) {
			k.addf(key, "%q is not one to eight capital letters and digits", prefix)
		}
	}
	if c.InvoicePrefix == c.CorrectionPrefix {
		k.addf("company.correction_prefix", "it must be another one than company.invoice_prefix")
	}
	required := map[string]string{
		"company.name": c.Name, "company.street": c.Street, "company.postal_code": c.PostalCode, "company.city": c.City, "company.email": c.Email,
	}
	all := c.Register + c.VATID + c.TaxNumber + c.Phone + c.Representative + c.Responsible
	for key, value := range required {
		all += value
		if len(value) > maxFieldLength || strings.TrimSpace(value) != value {
			k.addf(key, "it is longer than %d characters, or has white space around it", maxFieldLength)
		}
	}
	if all == "" {
		return
	}
	for key, value := range required {
		if value == "" {
			k.addf(key, "an invoice must name it")
		}
	}
	if c.VATID == "" && c.TaxNumber == "" {
		k.addf("company.vat_id", "an invoice must name the VAT id or the tax number")
	}
	if c.VATID != "" && !germanVATID.MatchString(c.VATID) {
		k.addf("company.vat_id", "%q is not like DE123456789", c.VATID)
	}
	if c.PostalCode != "" && !germanPostalCode.MatchString(c.PostalCode) {
		k.addf("company.postal_code", "%q is not five digits", c.PostalCode)
	}
	if address, err := mail.ParseAddress(c.Email); c.Email != "" && (err != nil || address.Address != c.Email) {
		k.addf("company.email", "%q is not an address", c.Email)
	}
}
