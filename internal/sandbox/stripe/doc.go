// Package stripe is the sandbox's payment provider. It implements the calls of Stripe's
// API that the product makes, and the pages that customers use. No real money moves, and
// nothing leaves the machine.
//
// It shares no code with the client; both meet on a socket. It uses Stripe's formats:
// bracketed parameters, JSON responses, error objects, expand[], lists with
// starting_after, idempotent POSTs, signed webhooks. Like Stripe, it rejects unknown
// parameters, because one that is ignored here would fail with real money.
//
//	POST /v1/checkout/sessions                            GET …/{id}   POST …/{id}/expire
//	POST /v1/refunds                                      GET …/{id}   GET …?payment_intent=
//	GET  /v1/disputes                                     GET …/{id}
//	POST /v1/customers                                    GET …/{id}
//	GET  /v1/payment_intents, /v1/charges                 GET …/{id}
//	POST /v1/payment_intents                              POST …/{id}/confirm, …/{id}/cancel
//	GET  /v1/shared_payment/granted_tokens/{id}
//	POST /v1/test_helpers/shared_payment/granted_tokens   POST …/{id}/revoke
//	GET  /v1/payment_methods?customer=                    GET …/{id}   POST …/{id}/detach
//	POST /v1/identity/verification_sessions               GET …/{id}   POST …/{id}/cancel
//
// # Cards
//
//	4242 4242 4242 4242   succeeds; so does every other number that begins with 424242
//	                      and has a valid check digit, each a card of its own
//	5555 5555 5555 4444   succeeds (Mastercard)
//	4000 0025 0000 3155   requires authentication: approve or deny. Once saved, it pays
//	                      off-session
//	4000 0027 6000 3184   requires authentication each time, also off-session
//	4000 0000 0000 0341   can be saved (mode setup), but every charge is declined
//	4000 0000 0000 0002   declined
//	4000 0000 0000 9995   declined: insufficient funds
//	4000 0000 0000 0069   declined: expired
//
// A saved card is charged off-session by a payment intent with customer and payment_method,
// confirmed with off_session=true. It behaves as its number, until the control endpoint makes
// it behave like another one; after its expiry date it is declined as expired.
//
// The pages work without scripts and have Stripe's field names: cardNumber, cardExpiry,
// cardCvc, billingName. A POST of cardNumber alone is enough. A session of mode setup has the
// same page and saves the card without a charge. The page of an identity
// verification has firstName, lastName and outcome (verified, unverified or processing).
//
// # Tokens
//
// A shared payment token pays once. The test helper creates one from a payment method
// (pm_card_visa, pm_card_visa_chargeDeclined, pm_card_threeDSecureRequired) and
// usage_limits. Others are predefined by their prefix:
//
//	spt_ok…         pays up to 10,000.00 EUR
//	spt_declined…   is declined
//	spt_expired…    expired an hour ago
//	spt_small…      pays no more than 0.50 EUR
//	spt_human…      requires authentication, which is not possible
//
// # Persistence
//
// Everything is written to a journal in the data folder before it is confirmed,
// including responses under an idempotency key and undelivered webhooks, so a killed
// process loses nothing. Keys expire after 24 hours of the sandbox clock, and sessions
// by the same clock; signatures use the machine's time.
//
// # Faults
//
// Rules inject faults into operations; Options.Chaos selects them at random. The control
// endpoint below /control/ requires the secret of the control file.
//
//	operation                 faults
//	checkout.create …         fail_before  500, not executed
//	checkout.retrieve         fail_after   executed, but the response is 500; a
//	checkout.expire                        retry with the same key gets the result
//	refund.create             fail_kept    the same, and the key stores the 500, as
//	refund.list                            documented by Stripe
//	identity.create           drop_before  the connection breaks, not executed
//	identity.retrieve         drop_after   executed, and the connection breaks
//	customer.create           hang_before  no response until the caller leaves
//	(* means all)             hang_after   the same, but executed
//	                          throttle     429
//	                          lock         409, another call has the lock
//	                          slow         correct, but late
//	page.pay                  fail_before, fail_after: the customer sees a 500
//	webhook                   lose, double, delay, reorder (sent after the next
//	                          one), garble (a wrong signature; the event is sent
//	                          again after it is refused)
//
// The start page, for people, does what /control/disputes and /control/refunds do.
//
//	GET    /control/money     all charges, refunds and sessions
//	GET    /control/webhooks  delivery statistics
//	GET    /control/faults    the current rules
//	POST   /control/faults    add one: {"on":"refund.create","do":"fail_after","times":3}
//	DELETE /control/faults    remove all
//	POST   /control/endpoint  webhook URL: {"url":"http://127.0.0.1:8080/api/stripe/webhook"}
//	POST   /control/redeliver send pending and lost webhooks at once
//	POST   /control/refunds   refunds a payment: {"payment_intent":"pi_…","amount":500}, without an
//	                          amount all that is left; or lets a refund fail, as if the bank
//	                          returned it: {"refund":"re_…"}
//	GET    /control/cards     the saved cards
//	PUT    /control/cards     saves one: {"email":"a@example.com","behaves":"4242424242424242"}
//	POST   /control/cards     what they do next: {"email":"a@example.com","behaves":"4000000000009995"};
//	                          also by payment_method or customer, without any for all cards, and
//	                          without a number as before
//	GET    /control/disputes  all disputes
//	POST   /control/disputes  opens one: {"payment_intent":"pi_…","kind":"dispute"}; kind is dispute,
//	                          inquiry or bank_return; also by order, with reason and amount.
//	                          Without a payment or order, of a charge that no order knows
//	PUT    /control/disputes  moves one: {"id":"du_…","status":"won"}
//
// # Disputes
//
// A dispute withdraws its amount and a fee; if it is won, the amount returns. An inquiry
// (warning_…) withdraws nothing unless it becomes a dispute. A bank return is lost from the
// start, and its charge is a debit. A charge that was taken back can't be refunded.
package stripe
