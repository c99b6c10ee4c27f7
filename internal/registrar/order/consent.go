package order

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Consent is a consumer's express wish that we begin at once, and their word that they
// know what becomes of their right to withdraw. The zero value is none.
type Consent struct {
	At time.Time
	// Wording names the words that they have read and ticked: ConsentWords has them.
	Wording string
}

// Given says that there is one.
func (c Consent) Given() bool { return !c.At.IsZero() }

// Text are what was ticked; empty where nothing was.
func (c Consent) Text() string { return ConsentText(c.Wording) }

// consentVersion is the one that is shown today.
const consentVersion = "2026-11"

// consentTexts are all that anybody has ever ticked. They are here and not with the
// pages, because the page, the letter and the operator must quote the same. Whoever
// changes a word adds a version: what stands in old orders keeps its meaning.
var consentTexts = map[string]string{
	"2026-11-de": "Ich verlange ausdrücklich, dass Sie sofort mit der Ausführung beginnen, also bevor die Widerrufsfrist von 14 Tagen " +
		"endet. Ich weiß, dass mein Widerrufsrecht erlischt, sobald Sie den Auftrag vollständig ausgeführt haben, und dass ich, " +
		"wenn ich vorher widerrufe, einen angemessenen Betrag für das bis dahin Geleistete zahlen muss.",
	"2026-11-en": "I expressly ask you to begin at once, that is before the 14 days in which I can withdraw are over. " +
		"I know that my right to withdraw ends as soon as you have carried out the order completely, " +
		"and that if I withdraw before that I have to pay a fair amount for what you have done until then.",
}

// ConsentWording names the words that consumers are shown today, in a language.
func ConsentWording(language string) string {
	if language != "en" {
		language = "de"
	}
	return consentVersion + "-" + language
}

// ConsentText are the words that a wording names; empty for a wording that never was.
func ConsentText(wording string) string { return consentTexts[wording] }

// Consumer says that the buyer of an order with these totals is taken for one: they hold
// domains neither for a company nor with a VAT id. One that does not count for the VAT
// does not count here, or any made up number would do.
func (b Buyer) Consumer(totals Totals) bool {
	return !b.Company && (b.VATID == "" || totals.ForConsumer())
}

// ConsentMissing goes with KindInvalid: a consumer has not ticked the words that are
// shown today.
const ConsentMissing registrar.Code = "consent_missing"

// hasConsent says that the words of today were ticked. Those of a page that was opened
// before they changed don't count: its human sees the new ones first.
func (c Confirmation) hasConsent() bool {
	return c.Consent == ConsentWording("de") || c.Consent == ConsentWording("en")
}

// newConsent is what an order of somebody's stores.
func (s *Service) newConsent(consumer bool, confirmation Confirmation) Consent {
	if !consumer || !confirmation.hasConsent() {
		return Consent{}
	}
	return Consent{At: s.now(), Wording: confirmation.Consent}
}

// lacksConsent says that a payment is under way for a consumer who was not asked: an agent
// pays, or the page was opened by a release that did not ask.
func (s *Service) lacksConsent(ctx context.Context, o Order) (bool, error) {
	if o.Consent.Given() {
		return false, nil
	}
	buyer, err := s.cfg.Store.GetBuyer(ctx, o.Customer)
	return err == nil && buyer.Consumer(o.Totals), err
}
