package invoice

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// categories maps billing's rules to EN 16931 categories.
var categories = map[string]Category{
	"domestic": Standard, "unknown_country": Standard, "eu_consumer": Standard, "eu_consumer_oss": Standard,
	"reverse_charge": ReverseCharge, "outside_eu": OutOfScope,
}

// saleError reports amounts that no order of ours can have.
func saleError(format string, args ...any) error {
	return &registrar.Error{Kind: registrar.KindInternal, Code: "bad_sale", Detail: fmt.Sprintf(format, args...)}
}

// draft builds the invoice of a paid order, without a number.
func draft(o order.Order, seller Seller, buyer Buyer, at time.Time) (Document, error) {
	totals := o.Totals
	category, known := categories[totals.Rule]
	if !known {
		return Document{}, saleError("order %s: unknown VAT rule %q", o.ID, totals.Rule)
	}
	buyer.VATID = cmp.Or(totals.VATID, buyer.VATID) // the validated one
	paid := o.PaidAt.In(registrar.Germany()).Format(time.DateOnly)
	d := Document{
		ID: registrar.NewID("inv_", at), Kind: Invoice, Order: o.ID, Customer: o.Customer,
		IssuedAt: at, Day: at.In(registrar.Germany()).Format(time.DateOnly), SuppliedOn: paid, PaidOn: paid,
		Language: buyer.Language, Seller: seller, Buyer: buyer,
		Net: totals.Net, VAT: totals.VAT, Gross: totals.Gross, RateBasisPoints: totals.RateBasisPoints, Rule: totals.Rule,
		Category: category, Reason: reasons[category],
	}
	if payment := o.CapturedPayment(); payment != nil {
		d.Payment = payment.ID
	}
	var net, vat, gross registrar.Cents
	for _, item := range o.Items {
		d.Lines = append(d.Lines, Line{Item: item.ID, Text: lineText(item, o.PaidAt, d.Language), Net: item.Net, VAT: item.VAT, Gross: item.Gross})
		net, vat, gross = net+item.Net, vat+item.VAT, gross+item.Gross
	}
	if net != d.Net || vat != d.VAT || gross != d.Gross || gross != net+vat {
		return Document{}, saleError("order %s: items do not add up to the totals", o.ID)
	}
	if category != Standard && vat != 0 {
		return Document{}, saleError("order %s has VAT, which its rule %s excludes", o.ID, d.Rule)
	}
	d.Notes = notes(d, totals.Country)
	return d, nil
}

// correction builds the document of a refund, without a number. Everything else is copied
// from the invoice as issued.
func correction(o order.Order, refund string, of Document, at time.Time) (Document, error) {
	r := slices.IndexFunc(o.Refunds, func(r order.Refund) bool { return r.ID == refund })
	if r < 0 {
		return Document{}, saleError("order %s: no refund %s", o.ID, refund)
	}
	back := o.Refunds[r]
	d := of
	d.Lines, d.Net, d.VAT, d.Gross = nil, 0, 0, 0
	for _, part := range o.PartsOf(back) {
		line := Line{Text: partText.Text(of.Language, of.Number), Net: part.Gross - part.VAT, VAT: part.VAT, Gross: part.Gross}
		if part.Item != "" {
			i := slices.IndexFunc(of.Lines, func(line Line) bool { return line.Item == part.Item })
			if i < 0 || part.Gross > of.Lines[i].Gross || len(back.Parts) == 0 && part.Gross != of.Lines[i].Gross {
				return Document{}, saleError("refund %s matches no line of %s", refund, of.Number)
			}
			line.Item, line.Text = part.Item, of.Lines[i].Text
			if part.Gross < of.Lines[i].Gross {
				line.Text += partialText.Text(of.Language)
			}
		}
		d.Lines = append(d.Lines, line)
		d.Net, d.VAT, d.Gross = d.Net+line.Net, d.VAT+line.VAT, d.Gross+line.Gross
	}
	if len(d.Lines) == 0 || d.Gross != back.Amount {
		return Document{}, saleError("the parts of refund %s do not add up", refund)
	}
	d.ID, d.Kind, d.Refund = registrar.NewID("inv_", at), Correction, refund
	d.IssuedAt, d.Day, d.PaidOn = at, at.In(registrar.Germany()).Format(time.DateOnly), back.MadeAt.In(registrar.Germany()).Format(time.DateOnly)
	d.Corrects = &Reference{Number: of.Number, Day: of.Day}
	d.Notes = notes(d, o.Totals.Country)
	if back.Source != order.BySystem {
		d.Notes[0] = correctionNote(d, back)
	}
	return d, nil
}
