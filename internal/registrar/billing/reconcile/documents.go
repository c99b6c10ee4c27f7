package reconcile

import (
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// Document is an invoice, or the correction for a refund.
type Document struct {
	ID, Order       string
	Refund          string // the one that a correction is for; empty means an invoice
	Owed            bool   // not issued yet; the following fields are then empty
	Series, Number  string
	Count           int64
	Net, VAT, Gross registrar.Cents
	At              time.Time // when it was issued, or since when it is pending
}

type expectedDocument struct {
	order, what     string
	net, vat, gross registrar.Cents
	issued          int
	owed, fresh     bool
}

func (a *reconciler) expectDocuments(o order.Order, fresh bool) {
	if !isPaid(o) || o.Totals.Gross == 0 {
		return
	}
	a.expectedDocuments[[2]string{o.ID, ""}] = &expectedDocument{order: o.ID, what: "the invoice", net: o.Totals.Net, vat: o.Totals.VAT, gross: o.Totals.Gross, fresh: fresh}
	for _, r := range o.Refunds {
		if r.Provider == "" || r.Replaces != "" || r.Item == "" && len(r.Parts) == 0 {
			continue // an unmatched payment has no invoice to correct, and a repeated refund is corrected once
		}
		p := &expectedDocument{order: o.ID, what: "the correction for " + r.ID, gross: r.Amount, fresh: fresh || a.isFresh(r.CreatedAt)}
		for _, part := range r.Parts {
			p.vat += part.VAT
		}
		for _, i := range o.Items {
			if i.ID == r.Item && len(r.Parts) == 0 {
				p.vat = i.VAT
			}
		}
		p.net = p.gross - p.vat
		a.expectedDocuments[[2]string{o.ID, r.ID}] = p
	}
}

func (a *reconciler) checkDocument(d Document) {
	p := a.expectedDocuments[[2]string{d.Order, d.Refund}]
	fresh := a.isFresh(d.At)
	if p == nil {
		a.addFinding(fresh, "invoice", d.ID, "there is a document for %s %s without a payment or refund", d.Order, d.Refund)
		p = &expectedDocument{fresh: fresh}
	}
	if d.Owed {
		p.owed = true
		if a.options.GracePeriod > 0 && !fresh {
			a.addFinding(p.fresh, "stuck", d.Order, "%s is pending since %s; is company.name set?", p.what, d.At.UTC().Format(time.DateTime))
		}
		return
	}
	a.Documents++
	p.issued++
	if p.order != "" && (d.Net != p.net || d.VAT != p.vat || d.Gross != p.gross) {
		a.addFinding(fresh || p.fresh, "invoice", d.Order, "%s says %s + %s = %s, the order %s + %s = %s", d.Number, d.Net, d.VAT, d.Gross, p.net, p.vat, p.gross)
	}
	a.usedNumbers[d.Series] = append(a.usedNumbers[d.Series], usedNumber{d.Count, fresh})
}

type usedNumber struct {
	number int64
	fresh  bool
}

func (a *reconciler) checkMissingDocuments() {
	for _, p := range a.expectedDocuments {
		if p.issued != 1 && (p.issued != 0 || !p.owed) {
			a.addFinding(p.fresh, "invoice", p.order, "%s should exist once and exists %d times", p.what, p.issued)
		}
	}
	for series, used := range a.usedNumbers {
		slices.SortFunc(used, func(x, y usedNumber) int { return int(x.number - y.number) })
		for i, one := range used {
			before := int64(0)
			if i > 0 {
				before = used[i-1].number
			}
			if one.number != before+1 {
				a.addFinding(one.fresh, "invoice", series, "number %d comes after %d", one.number, before)
			}
		}
	}
	a.expectedDocuments, a.usedNumbers = nil, nil
}
