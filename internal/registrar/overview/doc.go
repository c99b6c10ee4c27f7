// Package overview says what a customer's account needs: the page after sign-in.
//
// Everything is read from what other packages store; nothing is changed. An order or a
// domain appears once, in the first part that applies; a restricted domain again if its term ends:
//
//	part         what                                               until
//	decide       transfer that another registrar has requested      the registry approves it
//	             domain suspended, on hold, or with a disputed      –
//	             payment
//	             address missing for an order above the sum that    the order expires
//	             requires a verified identity
//	             identity to verify for an order                    the order expires
//	             order that a token, application or agent prepared  the order expires
//	             term ended, or a deleted domain can be restored    see the text of its term
//	             charge of an automatic renewal failed              the end of the term
//	             term ends within DecideWithin, nothing chosen      the end of the term
//	             term ends within ExpiringWithin, and automatic     the end of the term
//	             renewal begins with the next one
//	             registrant data missing                            –
//	             change of address not confirmed                    the link expires
//	unpaid       any other order that can be paid                   the order expires
//	in progress  automatic renewal being charged                    –
//	             paid order being provisioned                       its transfers are expected
//	                                                                to be complete
//	             change of a domain                                 the end of its wait
//	             outgoing transfer that is stopped, approved or     the registry approves it
//	             about to end
//	expiring     any other domain whose term ends within            the end of the term
//	             ExpiringWithin
//
// A deleted domain that can't be restored, or not any more, is in no part.
//
// Each kind is listed up to a limit; the page counts the others and links to their list.
// Domains that need a decision have a limit of their own, and orders that wait for the customer
// come first, so that others don't displace them.
//
// An order of an automatic renewal whose charge failed is unpaid: the customer may pay it.
//
// Months are those of UTC, like the dates on pages. Spending is what was paid this year,
// without refunds and what a bank took back for a lost dispute, which count in the month of their
// payment.
package overview
