// Package renewal renews domains automatically with the customer's saved payment method.
//
// # Consent
//
// A domain renews automatically only with its customer's consent to a wording, a price
// and a date, given by a signed-in person: in the portal or at checkout. The consent is
// stored as evidence, audited and confirmed by mail. Agents can end it, not give it: no
// tool causes a charge on its own. It ends when the customer turns automatic renewal off
// or chooses to let the domain expire, and when the last payment method is removed, the
// domain leaves, or the account is closed.
//
// # Timeline
//
// With T the end of the paid term:
//
//	T-45 days  the charge is announced: price, day and card. That fixes the maximum for
//	           this term; a later increase applies to the next one
//	T-14 days  the charge (Policy.LeadDays), one order for all of the customer's domains
//	           that are due by then
//	+3, +7     the second and third attempt, each failure with a mail
//
// A consent given later than T-45 is its own announcement. There are always at least 30
// days between announcement and charge. If that would put the charge past the last day
// before T, automatic renewal starts with the next term, and the page that asks for the
// consent says so and offers to renew this term by hand. A row in the state stopped keeps
// that term from being announced.
//
// # States
//
// A renewal is one row for one domain and one term. Each transition is a compare-and-swap.
//
//	state      meaning                                     next
//	announced  the customer knows price and day            charging, stopped
//	charging   its order exists and may take money         renewed, announced ¹, failed, stopped
//	renewed    the term was paid and extended              (final)
//	failed     the last attempt failed; the notices at     (final)
//	           the end of the term follow
//	stopped    consent ended, was given too late for       (final) ²
//	           this term, or the customer renewed by hand
//
//	¹ The payment was declined and another attempt is due.
//	² A new consent in time announces the term again.
//
// The transaction that moves rows to charging also inserts the order and its payment. It
// locks the domains and checks that each still has the consent and this term, and that no
// other order for it is being paid or provisioned. So a customer who turns automatic
// renewal off, or renews by hand, one second before the charge is not charged; one second
// later, the order's payment is in flight and the other side is refused.
//
// From there on the order decides (package order): its payment has the states of a payment
// by token, because the provider confirms it once, and after a crash it is canceled or
// found to be paid. Every attempt is an order of its own, with the pay link in the mail
// about its failure: a customer whose bank requires authentication pays there. The order
// expires when the next attempt is due.
//
// # Prices
//
// The price of an attempt is the current one, but at most the announced gross. If VAT or
// the price has risen since, the net is reduced until the gross fits. A domain whose
// extension is no longer sold, or whose registry refuses the renewal, fails alone; the
// others are charged without it.
//
// # Brake
//
// Charges and announcements stop while the brake of package lifecycle is engaged by the
// clock rule.
package renewal
