package checkout

import (
	"slices"

	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// invalidField is a line of the list of what is wrong, with a link to it.
type invalidField struct{ ID, LabelKey, ProblemKey string }

// explainTotal replaces the message that the price or the tax has changed, if the page knows
// why: because of the address or VAT ID that the customer has just entered.
func (h *Handler) explainTotal(language string, s *payData, t formError) {
	if !t.stored || t.problem != ui.ProblemKey(order.PriceChanged) {
		return
	}
	totals, owner := s.Order.Totals, s.View.Owner
	gross, before := ui.FormatMoney(language, totals.Gross), ui.FormatMoney(language, t.confirmation.Gross)
	switch {
	case !owner.VATIDIgnored(totals):
		key := "problem.tax_higher"
		if s.Good = totals.Gross < t.confirmation.Gross; s.Good {
			key = "problem.tax_lower"
		}
		if totals.Gross != t.confirmation.Gross {
			s.Problem = h.templates.Text(language, key, gross, before)
		}
		return
	case totals.Unchecked:
		s.Problem = h.templates.Text(language, "problem.vat_unchecked", owner.VATID, gross)
	case billing.VATIDOfCountry(owner.VATID, owner.Country):
		s.Problem = h.templates.Text(language, "problem.vat_not_confirmed", owner.VATID, gross)
	default:
		s.Problem = h.templates.Text(language, "problem.vat_other_country", owner.VATID, gross)
	}
	s.Correct = ui.WithNext(ui.RegistrantPath, s.Page)
}

// asksConsumer reports whether the registrant that was entered with the order and rejected
// describes a consumer, who is asked for the consent.
func (t formError) asksConsumer() bool {
	return t.registrant != nil && t.confirmation != nil && t.registrant.Organisation == "" && t.registrant.VATID == ""
}

func (s *payData) invalidFields() (invalid []invalidField) {
	if s.Registrant == nil {
		return nil
	}
	for _, field := range slices.Concat(s.Registrant.Fields, s.Registrant.More) {
		if field.Problem != "" {
			invalid = append(invalid, invalidField{field.Key(), field.Label, field.Problem})
		}
	}
	if len(invalid) > 0 && s.Consent != nil && s.Consent.ProblemKey != "" {
		invalid = append(invalid, invalidField{"consent", "consent.heading", s.Consent.ProblemKey})
	}
	return invalid
}
