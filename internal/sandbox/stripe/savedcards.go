package stripe

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Saved cards are charged off-session: an intent that names the customer and the payment
// method is confirmed with off_session=true. The customer can't authenticate then, so a bank
// that requires it declines.

// readSavedMethod reads the parameters of an intent for a saved card.
func (c *call) readSavedMethod(i *intent) {
	p := c.params
	i.Customer, i.Method = p.text("customer"), p.text("payment_method")
	i.Types = p.list("payment_method_types")
	if i.Customer != "" && c.customers.get(i.Customer) == nil {
		p.fail(invalid("resource_missing", "customer", "No such customer: '"+i.Customer+"'"))
	}
	if len(i.Types) > 0 && p.text("automatic_payment_methods[enabled]") == "true" {
		p.fail(invalid("", "payment_method_types", "You may only specify one of these parameters: automatic_payment_methods, payment_method_types."))
	}
	if i.Method == "" {
		return
	}
	p.fail(c.checkSavedMethod(i))
	i.Status = "requires_confirmation"
}

// checkSavedMethod returns why an intent can't use its payment method; nil if it can.
func (t *tx) checkSavedMethod(i *intent) *refusal {
	m := t.methods.get(i.Method)
	switch {
	case m == nil:
		return invalid("resource_missing", "payment_method", "No such PaymentMethod: '"+i.Method+"'")
	case m.Customer == "":
		return invalid("", "payment_method", "The provided PaymentMethod was previously used with a PaymentIntent without Customer attachment, shared with a connected account without Customer attachment, or was detached from a Customer. It may not be used again.")
	case i.Customer == "":
		return invalid("", "payment_method", "The payment method you provided belongs to a customer, so you must provide the customer.")
	case m.Customer != i.Customer:
		return invalid("", "payment_method", "The payment method you provided does not belong to the customer.")
	}
	if len(i.Types) > 0 && !slices.Contains(i.Types, "card") {
		return invalid("", "payment_method", "The PaymentMethod provided (card) is not allowed for this PaymentIntent. Please attempt with one of the allowed payment method types.")
	}
	return nil
}

// confirmSaved charges a saved card.
func (c *call) confirmSaved() (map[string]any, *refusal) {
	p := c.params
	named := p.text("payment_method")
	offSession := p.oneOf("off_session", "true", "false") == "true"
	p.address("return_url")
	i := copyOf(c.intents.get(c.id))
	switch {
	case i == nil:
		return nil, missing("intent", "payment_intent", c.id)
	case named != "":
		i.Method = named
	}
	if wrong := p.finish(); wrong != nil {
		return nil, wrong
	}
	if i.Session != "" || i.Status != "requires_payment_method" && i.Status != "requires_confirmation" {
		return nil, unexpectedState(i, "confirm")
	}
	if wrong := c.checkSavedMethod(i); wrong != nil {
		return nil, wrong
	}
	m := c.methods.get(i.Method)
	wrong, asks := c.offSessionDecision(m)
	if asks && !offSession {
		i.Status, i.Error = "requires_action", nil
		c.putIntent(i)
		c.emit("payment_intent.requires_action", c.viewIntent(i))
		return c.showIntent(i, c.expand)
	}
	if asks {
		wrong = declined("authentication_required", "authentication_required", "Your card was declined. This transaction requires authentication.")
	}
	paid := &charge{
		ID: newID("ch_"), Created: c.at, Status: "succeeded", Currency: i.Currency, Amount: i.Amount, Intent: i.ID,
		Customer: i.Customer, Method: m.ID, Card: m.Card, Metadata: i.Metadata,
	}
	if wrong != nil {
		wrong = copyOf(wrong)
		wrong.happened = true
		paid.Status, paid.Error = "failed", wrong
		i.Status, i.Charge, i.Error, i.Method = "requires_payment_method", paid.ID, wrong, ""
		c.putIntent(i)
		c.putCharge(paid)
		c.emit("payment_intent.payment_failed", c.viewIntent(i))
		return nil, wrong
	}
	i.Status, i.Received, i.Charge, i.Error = "succeeded", i.Amount, paid.ID, nil
	c.putIntent(i)
	c.putCharge(paid)
	c.emit("payment_intent.succeeded", c.viewIntent(i))
	return c.showIntent(i, c.expand)
}

// offSessionDecision is the bank's decision on a saved card: a decline, or that the customer
// must authenticate. A card that authenticated when it was saved need not do so again, unless
// its bank always asks.
func (t *tx) offSessionDecision(m *method) (wrong *refusal, asks bool) {
	number := m.Card.Number
	if m.Behaves != "" {
		number = m.Behaves
	}
	bank := testCards[number]
	switch {
	case time.Date(m.Card.Year, time.Month(m.Card.Month)+1, 1, 0, 0, 0, 0, time.UTC).Before(t.now()):
		return declined("expired_card", "expired_card", "Your card has expired."), false
	case bank.refusal != nil:
		return bank.refusal, false
	default:
		return bank.chargeRefusal, bank.alwaysAuthenticates
	}
}

// SavedCard is a card that a customer has saved.
type SavedCard struct {
	ID       string `json:"payment_method"`
	Customer string `json:"customer"`
	Email    string `json:"email,omitempty"` // the customer's
	Last4    string `json:"last4"`
	// Fingerprint and Expires (2027-04) are those of the card.
	Fingerprint string `json:"fingerprint,omitempty"`
	Expires     string `json:"expires,omitempty"`
	// Behaves is the test number whose decisions apply to the next charges; empty means those
	// of the card's own number.
	Behaves string `json:"behaves,omitempty"`
}

func savedCardOf(m *method, email string) SavedCard {
	return SavedCard{
		ID: m.ID, Customer: m.Customer, Email: email, Last4: m.Card.Last4, Fingerprint: m.Card.Fingerprint,
		Expires: fmt.Sprintf("%04d-%02d", m.Card.Year, m.Card.Month), Behaves: m.Behaves,
	}
}

// SavedCards returns the saved cards, oldest first.
func (s *Server) SavedCards() []SavedCard {
	b := s.state
	b.mu.Lock()
	defer b.mu.Unlock()
	all := []SavedCard{}
	for _, m := range b.methods.all() {
		if m.Customer == "" {
			continue
		}
		email := ""
		if owner := b.customers.get(m.Customer); owner != nil {
			email = owner.Email
		}
		all = append(all, savedCardOf(m, email))
	}
	return all
}

// ChangeCards makes saved cards behave like a test number from now on: that of a payment
// method, or all of a customer or of an address; without any, all cards. Without a number they
// behave as before.
func (s *Server) ChangeCards(change SavedCard) error {
	number := strings.NewReplacer(" ", "", "-", "").Replace(change.Behaves)
	if _, known := testCards[number]; !known && number != "" {
		return fmt.Errorf("behaves: no such test card")
	}
	b := s.state
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.begin()
	for _, m := range b.methods.all() {
		owner := b.customers.get(m.Customer)
		switch {
		case m.Customer == "", change.ID != "" && m.ID != change.ID, change.Customer != "" && m.Customer != change.Customer:
		case change.Email != "" && (owner == nil || !strings.EqualFold(owner.Email, change.Email)):
		default:
			changed := copyOf(m)
			changed.Behaves = number
			t.change.Methods = append(t.change.Methods, changed)
		}
	}
	if len(t.change.Methods) == 0 {
		return fmt.Errorf("no such saved card")
	}
	return s.commit(t)
}

func (s *Server) cardControls() map[string]func(*http.Request) (any, error) {
	return map[string]func(*http.Request) (any, error){
		"GET /control/cards": func(*http.Request) (any, error) { return s.SavedCards(), nil },
		"PUT /control/cards": func(r *http.Request) (any, error) {
			var wanted SavedCard
			if err := readJSON(r, &wanted); err != nil {
				return nil, err
			}
			saved, err := s.SavedMethod(wanted.Email, wanted.Email)
			if err == nil {
				saved.Behaves = wanted.Behaves
				err = s.ChangeCards(SavedCard{ID: saved.ID, Behaves: wanted.Behaves})
			}
			return saved, err
		},
		"POST /control/cards": func(r *http.Request) (any, error) {
			var change SavedCard
			if err := readJSON(r, &change); err != nil {
				return nil, err
			}
			err := s.ChangeCards(change)
			return s.SavedCards(), err
		},
	}
}
