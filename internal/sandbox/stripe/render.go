package stripe

import (
	"fmt"
	"strings"
)

// Rendering of objects, with the fields of Stripe's API that matter here. A
// reference is an id unless it is expanded.

func euros(cents int64) string { return fmt.Sprintf("€%d.%02d", cents/100, cents%100) }

// nullIfEmpty returns null for an empty text, like Stripe.
func nullIfEmpty(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func (t *tx) viewSession(s *session) map[string]any {
	var page, details any
	if s.Status == "open" {
		page = t.settings.origin() + "/c/pay/" + s.ID
	}
	if s.Status == "complete" || s.Email != "" {
		details = map[string]any{"email": nullIfEmpty(s.Email), "name": nil, "phone": nil, "tax_exempt": "none", "tax_ids": []any{}, "address": nil}
	}
	methods := s.Methods
	if len(methods) == 0 {
		methods = []string{"card"}
	}
	mode := "payment"
	if s.Setup {
		mode = "setup"
	}
	return map[string]any{
		"id": s.ID, "object": "checkout.session", "created": s.Created, "expires_at": s.ExpiresAt, "livemode": false,
		"mode": mode, "status": s.Status, "payment_status": s.PaymentStatus, "currency": nullIfEmpty(s.Currency),
		"amount_subtotal": s.Amount, "amount_total": s.Amount, "client_reference_id": nullIfEmpty(s.Reference),
		"customer": nullIfEmpty(s.Customer), "customer_creation": nullIfEmpty(s.Creation), "customer_email": nullIfEmpty(s.Email),
		"customer_details": details, "locale": nullIfEmpty(s.Locale), "metadata": cloneMetadata(s.Metadata),
		"payment_intent": nullIfEmpty(s.Intent), "payment_method_types": methods, "setup_intent": nullIfEmpty(s.SetupIntent), "subscription": nil,
		"success_url": s.SuccessURL, "cancel_url": nullIfEmpty(s.CancelURL), "url": page, "ui_mode": "hosted_page",
		"payment_method_collection": "if_required", "automatic_tax": map[string]any{"enabled": false, "status": nil},
		"total_details": map[string]any{"amount_discount": 0, "amount_shipping": 0, "amount_tax": 0},
	}
}

func (t *tx) viewIntent(i *intent) map[string]any {
	var wrong, next any
	if i.Error != nil {
		wrong = i.Error
	}
	if i.Status == "requires_action" {
		next = map[string]any{"type": "redirect_to_url"}
	}
	return map[string]any{
		"id": i.ID, "object": "payment_intent", "created": i.Created, "livemode": false, "status": i.Status,
		"amount": i.Amount, "amount_received": i.Received, "amount_capturable": 0, "currency": i.Currency,
		"customer": nullIfEmpty(i.Customer), "payment_method": nullIfEmpty(i.Method), "latest_charge": nullIfEmpty(i.Charge),
		"setup_future_usage": nullIfEmpty(i.FutureUse), "description": nullIfEmpty(i.Description), "metadata": cloneMetadata(i.Metadata),
		"last_payment_error": wrong, "next_action": next, "payment_method_types": []string{"card"},
		"capture_method": "automatic_async", "confirmation_method": "automatic", "canceled_at": nil,
	}
}

func (t *tx) viewCharge(c *charge) map[string]any {
	failure, message := "", ""
	if c.Error != nil {
		failure, message = c.Error.Code, c.Error.Message
	}
	return map[string]any{
		"id": c.ID, "object": "charge", "created": c.Created, "livemode": false, "status": c.Status,
		"paid": c.Status == "succeeded", "captured": c.Status == "succeeded", "amount": c.Amount, "amount_refunded": c.Refunded,
		"refunded": c.Refunded == c.Amount, "amount_captured": captured(c), "currency": c.Currency,
		"customer": nullIfEmpty(c.Customer), "payment_intent": nullIfEmpty(c.Intent), "payment_method": nullIfEmpty(c.Method),
		"payment_method_details": map[string]any{"type": t.methodType(c.ID), "card": viewCard(c.Card)},
		"billing_details":        map[string]any{"name": nullIfEmpty(c.Card.Name), "email": nil, "phone": nil, "address": nil},
		"metadata":               cloneMetadata(c.Metadata), "failure_code": nullIfEmpty(failure), "failure_message": nullIfEmpty(message), "disputed": len(t.disputesOf[c.ID]) > 0,
	}
}

func captured(c *charge) int64 {
	if c.Status == "succeeded" {
		return c.Amount
	}
	return 0
}

func viewCard(c card) map[string]any {
	return map[string]any{
		"brand": c.Brand, "last4": c.Last4, "exp_month": c.Month, "exp_year": c.Year, "fingerprint": c.Fingerprint,
		"funding": "credit", "country": "DE",
	}
}

func (t *tx) viewRefund(r *refund) map[string]any {
	status, failure := "succeeded", ""
	if r.Failed {
		status, failure = "failed", "lost_or_stolen_card"
	}
	return map[string]any{
		"id": r.ID, "object": "refund", "created": r.Created, "amount": r.Amount, "currency": r.Currency, "status": status, "failure_reason": nullIfEmpty(failure),
		"charge": r.Charge, "payment_intent": nullIfEmpty(r.Intent), "reason": nullIfEmpty(r.Reason), "metadata": cloneMetadata(r.Metadata),
		"destination_details": map[string]any{"type": "card"},
	}
}

func (t *tx) viewCustomer(c *customer) map[string]any {
	all := c.Locales
	if all == nil {
		all = []string{}
	}
	return map[string]any{
		"id": c.ID, "object": "customer", "created": c.Created, "livemode": false, "email": nullIfEmpty(c.Email), "name": nullIfEmpty(c.Name),
		"description": nullIfEmpty(c.Description), "metadata": cloneMetadata(c.Metadata), "preferred_locales": all,
		"invoice_settings": map[string]any{"default_payment_method": nil},
	}
}

func (t *tx) viewMethod(m *method) map[string]any {
	return map[string]any{
		"id": m.ID, "object": "payment_method", "created": m.Created, "livemode": false, "type": "card",
		"customer": nullIfEmpty(m.Customer), "card": viewCard(m.Card), "metadata": map[string]string{},
		"billing_details": map[string]any{"name": nullIfEmpty(m.Card.Name), "email": nil, "phone": nil, "address": nil},
		"allow_redisplay": "unspecified",
	}
}

func (t *tx) viewVerification(v *verification) map[string]any {
	var page, wrong any
	if v.Status == "requires_input" {
		page = t.settings.origin() + "/verify/" + v.Secret
	}
	if v.Error != nil {
		wrong = map[string]any{"code": v.Error.Code, "reason": v.Error.Reason}
	}
	return map[string]any{
		"id": v.ID, "object": "identity.verification_session", "created": v.Created, "livemode": false, "status": v.Status,
		"type": "document", "client_reference_id": nullIfEmpty(v.Reference), "metadata": cloneMetadata(v.Metadata), "url": page,
		"client_secret": v.ID + "_secret_" + v.Secret, "last_error": wrong, "last_verification_report": nullIfEmpty(v.Report),
		"options": map[string]any{"document": map[string]any{}}, "provided_details": map[string]any{"email": nullIfEmpty(v.Email)},
		"redaction": nil,
	}
}

// find looks at the objects of this change before the stored ones.
func find[T any](made []*T, kept *table[T], id string, idOf func(*T) string) *T {
	for _, one := range made {
		if idOf(one) == id {
			return one
		}
	}
	return kept.get(id)
}

// expander returns the object behind a field, or null.
type expander func(below tree) (map[string]any, *refusal)

// expandFields replaces ids with objects.
func expandFields(view map[string]any, wanted tree, fields map[string]expander) (map[string]any, *refusal) {
	for field, below := range wanted {
		grow, known := fields[field]
		if !known {
			return nil, invalid("", "expand", "This property cannot be expanded ("+field+").")
		}
		object, wrong := grow(below)
		if wrong != nil {
			return nil, wrong
		}
		if object != nil {
			view[field] = object
		}
	}
	return view, nil
}

func noExpansion(wanted tree) *refusal {
	_, wrong := expandFields(nil, wanted, nil)
	return wrong
}

func (t *tx) intentExpander(id string) expander {
	return func(below tree) (map[string]any, *refusal) {
		if i := find(t.change.Intents, &t.intents, id, func(i *intent) string { return i.ID }); i != nil {
			return t.showIntent(i, below)
		}
		return nil, nil
	}
}

func (t *tx) chargeExpander(id string) expander {
	return func(below tree) (map[string]any, *refusal) {
		if c := find(t.change.Charges, &t.charges, id, func(c *charge) string { return c.ID }); c != nil {
			return t.showCharge(c, below)
		}
		return nil, nil
	}
}

func (t *tx) methodExpander(id string) expander {
	return func(below tree) (map[string]any, *refusal) {
		if m := t.methods.get(id); m != nil {
			return t.viewMethod(m), noExpansion(below)
		}
		return nil, nil
	}
}

func (t *tx) customerExpander(id string) expander {
	return func(below tree) (map[string]any, *refusal) {
		if c := t.customers.get(id); c != nil {
			return t.viewCustomer(c), noExpansion(below)
		}
		return nil, nil
	}
}

func (t *tx) showSession(s *session, wanted tree) (map[string]any, *refusal) {
	return expandFields(t.viewSession(s), wanted, map[string]expander{
		"payment_intent": t.intentExpander(s.Intent), "setup_intent": t.setupIntentExpander(s), "customer": t.customerExpander(s.Customer),
		"line_items": func(below tree) (map[string]any, *refusal) {
			items := []any{}
			for _, one := range s.Lines {
				items = append(items, map[string]any{
					"id": one.ID, "object": "item", "description": one.Name, "quantity": one.Quantity, "currency": s.Currency,
					"amount_subtotal": one.Unit * one.Quantity, "amount_total": one.Unit * one.Quantity, "amount_tax": 0, "amount_discount": 0,
				})
			}
			return map[string]any{"object": "list", "data": items, "has_more": false, "url": "/v1/checkout/sessions/" + s.ID + "/line_items"}, noExpansion(below)
		},
	})
}

func (t *tx) showIntent(i *intent, wanted tree) (map[string]any, *refusal) {
	return expandFields(t.viewIntent(i), wanted, map[string]expander{
		"latest_charge": t.chargeExpander(i.Charge), "payment_method": t.methodExpander(i.Method), "customer": t.customerExpander(i.Customer),
	})
}

func (t *tx) showCharge(c *charge, wanted tree) (map[string]any, *refusal) {
	return expandFields(t.viewCharge(c), wanted, map[string]expander{
		"payment_intent": t.intentExpander(c.Intent), "customer": t.customerExpander(c.Customer),
		"refunds": func(below tree) (map[string]any, *refusal) {
			list := []any{}
			for _, id := range t.refundsOf[c.Intent] {
				list = append(list, t.viewRefund(t.refunds.get(id)))
			}
			return map[string]any{"object": "list", "data": list, "has_more": false, "url": "/v1/charges/" + c.ID + "/refunds"}, noExpansion(below)
		},
	})
}

func (t *tx) showRefund(r *refund, wanted tree) (map[string]any, *refusal) {
	return expandFields(t.viewRefund(r), wanted, map[string]expander{
		"charge": t.chargeExpander(r.Charge), "payment_intent": t.intentExpander(r.Intent),
	})
}

func (t *tx) showVerification(v *verification, wanted tree) (map[string]any, *refusal) {
	return expandFields(t.viewVerification(v), wanted, map[string]expander{
		"verified_outputs": func(below tree) (map[string]any, *refusal) {
			if v.Status != "verified" {
				return nil, noExpansion(below)
			}
			return map[string]any{
				"first_name": v.First, "last_name": v.Last, "id_number_type": nil, "address": nil, "email": nil, "phone": nil,
			}, noExpansion(below)
		},
		"last_verification_report": func(below tree) (map[string]any, *refusal) {
			if v.Report == "" {
				return nil, noExpansion(below)
			}
			return map[string]any{
				"id": v.Report, "object": "identity.verification_report", "type": "document", "verification_session": v.ID,
				"document": map[string]any{"status": map[bool]string{true: "verified", false: "unverified"}[v.Status == "verified"], "first_name": nullIfEmpty(v.First), "last_name": nullIfEmpty(v.Last)},
			}, noExpansion(below)
		},
	})
}

// origin is the origin of this server.
func (s settings) origin() string { return "http://" + strings.TrimSpace(s.Listen) }
