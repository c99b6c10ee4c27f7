package invoice

import (
	"fmt"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// dayFormat is the stored form of a day.
const dayFormat = time.DateOnly

// categories maps billing's rules to EN 16931 categories.
var categories = map[string]Category{
	"domestic": Standard, "unknown_country": Standard, "eu_consumer": Standard, "eu_consumer_oss": Standard,
	"reverse_charge": ReverseCharge, "outside_eu": OutOfScope,
}

// saleError reports amounts that no order of ours can have.
func saleError(format string, args ...any) error {
	return &registrar.Error{Kind: registrar.KindInternal, Code: "bad_sale", Detail: fmt.Sprintf(format, args...)}
}

// draft builds the invoice of a sale, without a number.
func draft(sale Sale, seller Seller, buyer Buyer, at time.Time, germany *time.Location) (Document, error) {
	category, known := categories[sale.Rule]
	if !known {
		return Document{}, saleError("order %s: unknown VAT rule %q", sale.Order, sale.Rule)
	}
	language := buyer.Language
	if sale.VATID != "" { // the validated one
		buyer.VATID = sale.VATID
	}
	paid := sale.PaidAt.In(germany)
	d := Document{
		ID: registrar.NewID("inv_", at), Kind: Invoice, Order: sale.Order, Customer: sale.Customer,
		IssuedAt: at, Day: at.In(germany).Format(dayFormat), SuppliedOn: paid.Format(dayFormat), PaidOn: paid.Format(dayFormat), Payment: sale.Payment,
		Language: language, Seller: seller, Buyer: buyer,
		Net: sale.Net, VAT: sale.VAT, Gross: sale.Gross, RateBasisPoints: sale.RateBasisPoints, Rule: sale.Rule,
		Category: category, Reason: reason(category),
	}
	var net, vat, gross registrar.Cents
	for _, item := range sale.Items {
		d.Lines = append(d.Lines, newLine(item, language))
		net, vat, gross = net+item.Net, vat+item.VAT, gross+item.Gross
	}
	if net != sale.Net || vat != sale.VAT || gross != sale.Gross || gross != net+vat {
		return Document{}, saleError("order %s: items do not add up to the totals", sale.Order)
	}
	if category != Standard && vat != 0 {
		return Document{}, saleError("order %s has VAT, which its rule %s excludes", sale.Order, sale.Rule)
	}
	d.Notes = notes(d, sale.Country)
	return d, nil
}

// correction builds the document of a refund, without a number. Everything else is copied
// from the invoice as issued.
func correction(sale Sale, refund string, of Document, at time.Time, germany *time.Location) (Document, error) {
	r := slices.IndexFunc(sale.Refunds, func(r Refund) bool { return r.ID == refund })
	if r < 0 {
		return Document{}, saleError("order %s: no refund %s", sale.Order, refund)
	}
	back := sale.Refunds[r]
	i := slices.IndexFunc(of.Lines, func(line Line) bool { return line.Item == back.Item })
	if i < 0 || of.Lines[i].Gross != back.Amount {
		return Document{}, saleError("refund %s matches no line of %s", refund, of.Number)
	}
	line := of.Lines[i]
	d := of
	d.ID, d.Kind, d.Refund = registrar.NewID("inv_", at), Correction, refund
	d.IssuedAt, d.Day, d.PaidOn = at, at.In(germany).Format(dayFormat), back.MadeAt.In(germany).Format(dayFormat)
	d.Corrects = &Reference{Number: of.Number, Day: of.Day}
	d.Lines = []Line{line}
	d.Net, d.VAT, d.Gross = line.Net, line.VAT, line.Gross
	d.Notes = notes(d, sale.Country)
	return d, nil
}

func newLine(item Item, language string) Line {
	return Line{Item: item.ID, Text: lineText(item, language), Net: item.Net, VAT: item.VAT, Gross: item.Gross}
}
