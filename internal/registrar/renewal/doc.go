// Package renewal renews domains automatically with the customer's default payment method.
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
// While a notice of the customer (package withdrawal) about the domain is open, none can be given:
// pages and tools don't offer it, and the transaction that stores a consent checks it again. A
// consent given at checkout counts from the moment when the domain becomes active, so a notice that
// arrives before then voids it, even if an operator has handled the notice meanwhile. A notice names
// an order of the contract, or the domain and was sent since that was ordered. It is that of the
// account whose address it names, now or when it arrived, or that sent it signed in.
// A domain that has the consent already is not charged while a notice is open: the charge is due
// again every hour, and fails at the end of the term. It is announced in time, but as on hold and
// outside the total, so that it can be made as soon as the notice is closed and the contract stays.
// The first such notice about a domain and a voided consent are confirmed to the account by mail, never
// to the address in the notice, which nothing has verified.
//
// # Timeline
//
// With T the end of the paid term:
//
//	T-45 days  the charge is announced: price, day and card. That fixes the maximum for
//	           this term; a later increase applies to the next one
//	T-14 days  the charge (Policy.LeadDays), one order for all of the customer's domains
//	           that are due on that day (UTC)
//	+3, +7     the second and third attempt, each failure with a mail
//
// One mail lists all charges that are announced to a customer on a day, and another one those
// whose price has risen: it names the price that the customer was shown last, by the consent
// or the announcement of the last renewal. A domain whose extension is no longer sold gets a
// failed renewal instead, and the customer a mail that says so.
//
// A consent given later than T-45 is its own announcement. There are always at least 30
// days between announcement and charge. If that would put the charge past the last day
// before T, automatic renewal starts with the next term, and the page that asks for the
// consent says so and offers to renew this term by hand. So do the pages and the mail of an
// order whose domain renews automatically. A row in the state stopped keeps that term from
// being announced.
//
// # States
//
// A renewal is one row for one domain and one term. Each transition is a compare-and-swap.
//
//	state      meaning                                     next
//	announced  the customer knows price and day            charging, stopped, failed ¹
//	charging   its order exists and may take money         renewed, announced ², failed, stopped
//	renewed    the term was paid and extended              (final)
//	failed     the last attempt failed; the notices at     announced ³
//	           the end of the term follow
//	stopped    consent ended, was given too late for       announced ³
//	           this term, or the customer renewed by hand
//
//	¹ The extension is not sold any more, the registry refuses the renewal, or the term ended
//	  before it could be charged.
//	² The payment was declined or interrupted, and another attempt is due.
//	³ A new consent in time announces the term again.
//
// The transaction that moves rows to charging also inserts the order and its payment. It
// locks the domains and checks that each still has the consent and this term, and that no
// other order for it is being paid or provisioned. So a customer who turns automatic
// renewal off, or renews by hand, one second before the charge is not charged; one second
// later, the order's payment is in flight and the other side is refused.
//
// From there on the order decides (package order): its payment has the states of a payment
// by token, because the provider confirms it once, and after a crash it is canceled or
// found to be paid. Every attempt is an order of its own, with a link in the mail
// about its failure: a customer whose bank requires authentication pays there. The order
// expires when the next attempt is due; that of the last attempt, at the end of the term. It
// is expired before the next attempt begins, so a term is never payable twice.
//
// When the order is paid, by the saved method or by hand, the transaction that captures the
// payment leaves the renewals to its items (charge_at 0), and the transaction that ends an item
// ends its renewal: renewed with the new term, or failed with the refund. A term that another
// order extends stops its renewal in the same way. Everything else is found out by looking at
// the order: right after the charge, and again when charge_at is due, which is a few seconds
// after the charge began. So a renewal whose process died is looked at, and an attempt that
// was interrupted is repeated at once and does not count.
//
//	order of the attempt            failure of its payment      renewal
//	paying                                                      looked at again
//	provisioning, or ended                                      its items decide
//	unpaid                          none: interrupted           announced, due now
//	unpaid                          provider_unavailable        announced, due in an hour
//	unpaid                          payment_refused: an         announced, due in a day
//	                                operator must act
//	unpaid                          any other                   announced, due 3 or 4 days after
//	                                                            the attempt; failed after the third
//	                                                            or if the term ends before
//
// A renewal that can't be attempted is due again in an hour: its registry or the VAT register
// does not answer, or another order for the domain is being paid or provisioned.
//
// Several nodes may list the same customer. The transaction that starts the order lets one of
// them charge; the other one finds no renewal that qualifies.
//
// # Prices
//
// The price of an attempt is the current one, but at most the announced gross. If VAT or
// the price has risen since, the net is reduced until the gross fits. That of a premium name is
// the registry's fee at the time of the consent and of the announcement; if the announced price
// no longer covers the fee, the renewal is refused with name_premium. A domain whose
// extension is no longer sold, or whose registry refuses the renewal, fails alone; the
// others are charged without it.
//
// VAT is rounded once over the whole order. The announcement has the total of the domains that are
// due on the same day, and an item's price is a cent higher if its share of that total is. A net is
// reduced by a cent only if fewer domains are charged together, and their total would be above the
// announced prices.
//
// # Failpoints
//
// The first three lie in package order.
//
//	failpoint             committed before          provider call        after a crash there
//	renewal_written       charging, order paying,   create intent: next  close the payment, charge again
//	                      payment opening
//	renewal_intent_known  payment open              confirm: next        cancel intent: unpaid, charge again
//	renewal_charged       payment open              confirm: done        cancel intent: it is paid, or was
//	                                                                     declined: charge again
//	renewal_settling      order unpaid              (none)               the order's failure is stored
//
// # Brake
//
// Charges and announcements stop while the brake of package lifecycle is engaged by the
// clock rule.
package renewal
