package stripe

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// bankOutcome is the bank's decision on a card.
type bankOutcome struct {
	brand string
	// needsAuthentication means that the customer must approve first.
	needsAuthentication bool
	// alwaysAuthenticates means that they must do so for each charge of the saved card, too.
	alwaysAuthenticates bool
	// refusal is the reason of a decline, chargeRefusal that of a card that can be saved but
	// not charged.
	refusal, chargeRefusal *refusal
}

func declined(code, decline, message string) *refusal {
	return &refusal{status: 402, Type: "card_error", Code: code, Decline: decline, Message: message}
}

// testCards are Stripe's test numbers.
var testCards = map[string]bankOutcome{
	"4242424242424242": {brand: "visa"},
	"4000000000003220": {brand: "visa", needsAuthentication: true, alwaysAuthenticates: true},
	"4000002760003184": {brand: "visa", needsAuthentication: true, alwaysAuthenticates: true},
	"4000002500003155": {brand: "visa", needsAuthentication: true},
	"5555555555554444": {brand: "mastercard"},
	"378282246310005":  {brand: "amex"},
	"4000000000000002": {brand: "visa", refusal: declined("card_declined", "generic_decline", "Your card was declined.")},
	"4000000000000341": {brand: "visa", chargeRefusal: declined("card_declined", "generic_decline", "Your card was declined.")},
	"4000000000009995": {brand: "visa", refusal: declined("card_declined", "insufficient_funds", "Your card has insufficient funds.")},
	"4000000000009987": {brand: "visa", refusal: declined("card_declined", "lost_card", "Your card was declined.")},
	"4000000000000069": {brand: "visa", refusal: declined("expired_card", "expired_card", "Your card has expired.")},
	"4000000000000127": {brand: "visa", refusal: declined("incorrect_cvc", "", "Your card's security code is incorrect.")},
	"4000000000000119": {brand: "visa", refusal: declined("processing_error", "", "An error occurred while processing your card. Try again in a little bit.")},
}

// alwaysPaysPrefix begins card numbers that always succeed, for tests that need
// many cards.
const alwaysPaysPrefix = "424242"

// readCard parses the customer's input. The refusal is for the page; the bank was
// not asked.
func (b *state) readCard(number, expiry, name string) (card, bankOutcome, *refusal) {
	number = strings.NewReplacer(" ", "", "-", "", "\u00a0", "").Replace(number)
	bank, known := testCards[number]
	if !known && strings.HasPrefix(number, alwaysPaysPrefix) && len(number) == 16 && validLuhn(number) {
		bank, known = bankOutcome{brand: "visa"}, true
	}
	if !known {
		message := "Your card number is invalid."
		if validLuhn(number) {
			message = "Your card was declined. Your request was in test mode, but used a non test card."
		}
		return card{}, bankOutcome{}, declined("incorrect_number", "", message)
	}
	now := b.now()
	one := card{Number: number, Brand: bank.brand, Last4: number[len(number)-4:], Month: 12, Year: now.Year() + 3, Fingerprint: b.fingerprint(number), Name: name}
	if expiry != "" {
		month, year, ok := readExpiry(expiry)
		if !ok || time.Date(year, time.Month(month)+1, 1, 0, 0, 0, 0, time.UTC).Before(now) {
			return card{}, bankOutcome{}, declined("invalid_expiry_year", "", "Your card's expiration date is in the past or can't be read.")
		}
		one.Month, one.Year = month, year
	}
	return one, bank, nil
}

// chosenCard is the saved card that the customer chose, or the one that was typed. A saved card
// authenticated when it was saved; only some banks ask again.
func (b *state) chosenCard(s *session, number, expiry, name string) (card, bankOutcome, *refusal) {
	if s.PayWith == "" {
		return b.readCard(number, expiry, name)
	}
	m := b.methods.get(s.PayWith)
	if m == nil || !s.ShowSaved || m.Customer != s.Customer {
		return card{}, bankOutcome{}, declined("incorrect_number", "", "This card is no longer saved.")
	}
	behaves := m.Behaves
	if behaves == "" {
		behaves = m.Card.Number
	}
	bank := testCards[behaves]
	bank.needsAuthentication = bank.alwaysAuthenticates
	return m.Card, bank, nil
}

func readExpiry(text string) (month, year int, ok bool) {
	before, after, found := strings.Cut(strings.ReplaceAll(text, " ", ""), "/")
	month, err := strconv.Atoi(before)
	year, yearErr := strconv.Atoi(after)
	if year < 100 {
		year += 2000
	}
	return month, year, found && err == nil && yearErr == nil && month >= 1 && month <= 12 && year < 2200
}

// validLuhn checks the Luhn digit.
func validLuhn(number string) bool {
	sum := 0
	for i, digit := range number {
		if digit < '0' || digit > '9' {
			return false
		}
		value := int(digit - '0')
		if (len(number)-i)%2 == 0 {
			if value *= 2; value > 9 {
				value -= 9
			}
		}
		sum += value
	}
	return number != "" && sum%10 == 0
}

// fingerprint is the same for the same card, whoever uses it.
func (b *state) fingerprint(number string) string {
	mac := hmac.New(sha256.New, []byte(b.settings.CardSalt))
	mac.Write([]byte(number))
	return hex.EncodeToString(mac.Sum(nil))[:16]
}

// paymentAttempt is the result of a payment attempt.
type paymentAttempt struct {
	session             *session
	needsAuthentication bool
	refusal             *refusal
}

// pay charges a card for an open session, or requests authentication. The caller
// has checked that it is open.
func (t *tx) pay(s *session, c card, bank bankOutcome) paymentAttempt {
	if s.Setup {
		return t.setUp(s, c, bank)
	}
	s, i := copyOf(s), t.intentOf(s)
	s.Intent = i.ID
	if bank.needsAuthentication {
		s.Asking, i.Status, i.Error = &c, "requires_action", nil
		t.putSession(s)
		t.putIntent(i)
		return paymentAttempt{session: s, needsAuthentication: true}
	}
	if bank.refusal != nil {
		return t.declinePayment(s, i, c, bank.refusal)
	}
	if bank.chargeRefusal != nil {
		return t.declinePayment(s, i, c, bank.chargeRefusal)
	}
	return t.charge(s, i, c)
}

// finishAuthentication ends the bank's authentication.
func (t *tx) finishAuthentication(s *session, yes bool) paymentAttempt {
	if s.Setup {
		return t.finishSetupAuthentication(s, yes)
	}
	asked := *s.Asking
	s, i := copyOf(s), t.intentOf(s)
	s.Asking = nil
	if !yes {
		return t.declinePayment(s, i, asked, declined("payment_intent_authentication_failure", "",
			"We are unable to authenticate your payment method. Please choose a different payment method and try again."))
	}
	return t.charge(s, i, asked)
}

// intentOf returns a copy of the session's payment intent, which the first attempt
// creates.
func (t *tx) intentOf(s *session) *intent {
	if i := copyOf(t.intents.get(s.Intent)); i != nil {
		return i
	}
	return &intent{
		ID: newID("pi_"), Created: t.at, Status: "requires_payment_method", Currency: s.Currency, Amount: s.Amount,
		Customer: s.Customer, FutureUse: s.FutureUse, Description: s.Description, Metadata: s.IntentMetadata, Session: s.ID,
	}
}

func (t *tx) declinePayment(s *session, i *intent, c card, wrong *refusal) paymentAttempt {
	paid := &charge{
		ID: newID("ch_"), Created: t.at, Status: "failed", Currency: i.Currency, Amount: i.Amount, Intent: i.ID,
		Customer: i.Customer, Card: c, Metadata: i.Metadata, Error: wrong,
	}
	i.Status, i.Charge, i.Error = "requires_payment_method", paid.ID, wrong
	t.putSession(s)
	t.putIntent(i)
	t.putCharge(paid)
	t.emit("payment_intent.payment_failed", t.viewIntent(i))
	return paymentAttempt{session: s, refusal: wrong}
}

func (t *tx) charge(s *session, i *intent, c card) paymentAttempt {
	if s.Customer == "" && (s.Creation == "always" || s.FutureUse != "") {
		one := &customer{ID: newID("cus_"), Created: t.at, Email: s.Email, Name: c.Name, Locales: locales(s.Locale)}
		t.change.Customers = append(t.change.Customers, one)
		s.Customer = one.ID
	}
	way := t.methods.get(s.PayWith)
	if way == nil {
		way = &method{ID: newID("pm_"), Created: t.at, Card: c}
		if s.FutureUse != "" {
			way.Customer = s.Customer
		}
		t.change.Methods = append(t.change.Methods, way)
	}
	paid := &charge{
		ID: newID("ch_"), Created: t.at, Status: "succeeded", Currency: i.Currency, Amount: i.Amount, Intent: i.ID,
		Customer: s.Customer, Method: way.ID, Card: c, Metadata: i.Metadata,
	}
	i.Status, i.Received, i.Customer, i.Method, i.Charge, i.Error = "succeeded", i.Amount, s.Customer, way.ID, paid.ID, nil
	s.Status, s.PaymentStatus, s.Asking = "complete", "paid", nil
	t.putSession(s)
	t.putIntent(i)
	t.putCharge(paid)
	t.emit("payment_intent.succeeded", t.viewIntent(i))
	t.emit("checkout.session.completed", t.viewSession(s))
	return paymentAttempt{session: s}
}

func locales(locale string) []string {
	if locale == "" || locale == "auto" {
		return nil
	}
	return []string{locale}
}
