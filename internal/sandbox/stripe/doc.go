// Package stripe is the sandbox's payment provider: a server that keeps money, for
// just those calls of Stripe's API that the product makes, and the pages that a
// human clicks through. No real money moves, and nothing leaves the machine.
//
// It shares no code with the client that calls it; both meet on a socket. It
// speaks Stripe's own form: parameters with brackets, JSON answers, error objects,
// expand[], lists with starting_after, the idempotency of POST, signed webhooks.
// What it does not know it refuses, as Stripe does, because a parameter that is
// silently passed over here would be found out by somebody's money there.
//
//	POST /v1/checkout/sessions                            GET …/{id}   POST …/{id}/expire
//	POST /v1/refunds                                      GET …/{id}   GET …?payment_intent=
//	POST /v1/customers                                    GET …/{id}
//	GET  /v1/payment_intents, /v1/charges                 GET …/{id}
//	POST /v1/payment_intents                              POST …/{id}/confirm, …/{id}/cancel
//	GET  /v1/shared_payment/granted_tokens/{id}
//	POST /v1/test_helpers/shared_payment/granted_tokens   POST …/{id}/revoke
//	GET  /v1/payment_methods?customer=                    GET …/{id}
//	POST /v1/identity/verification_sessions               GET …/{id}   POST …/{id}/cancel
//
// # Cards
//
//	4242 4242 4242 4242   pays; so does every other number that begins with 424242
//	                      and has a true check digit, each a card of its own
//	5555 5555 5555 4444   pays (Mastercard)
//	4000 0025 0000 3155   the bank asks the human first: approve or deny
//	4000 0000 0000 0002   declined
//	4000 0000 0000 9995   declined: not enough money on it
//	4000 0000 0000 0069   declined: expired
//
// The pages work without script, and their fields are called as on Stripe's page:
// cardNumber, cardExpiry, cardCvc, billingName. A POST of cardNumber alone is
// enough. The page of an identity check takes firstName, lastName and outcome
// (verified, unverified or processing).
//
// # Tokens
//
// A shared payment token pays once. The test helper makes one of a means of payment
// (pm_card_visa, pm_card_visa_chargeDeclined, pm_card_threeDSecureRequired) and its
// usage_limits. Others need not be made; their name says what becomes of them:
//
//	spt_ok…         pays up to 10,000.00 EUR
//	spt_declined…   is declined
//	spt_expired…    has expired an hour ago
//	spt_small…      pays no more than 0.50 EUR
//	spt_human…      the bank wants to ask the human, who is not there
//
// # What is kept
//
// Everything is written to a journal in the data folder before it is answered,
// the answers under an idempotency key and webhooks that nobody has taken
// included: whoever kills the process finds the money where it was. Keys are
// forgotten after 24 hours of the sandbox's clock. Pages end by the same clock;
// signatures have the time of the machine.
//
// # Faults
//
// Rules say what goes wrong at which operation, how often; Options.Chaos draws
// them by lot. The control below /control/ wants the secret of the control file.
//
//	operation                 what can go wrong
//	checkout.create …         fail_before  500, and nothing was done
//	checkout.retrieve         fail_after   it was done, but the answer is 500; a
//	checkout.expire                        repetition with the same key gets the result
//	refund.create             fail_kept    the same, and the key remembers the 500, which
//	refund.list                            is what Stripe says that it does
//	identity.create           drop_before  the connection breaks, and nothing was done
//	identity.retrieve         drop_after   it was done, and the connection breaks
//	customer.create           hang_before  no answer until the caller leaves
//	(* is every one)          hang_after   the same, and it was done
//	                          throttle     429
//	                          lock         409, another call has the lock
//	                          slow         right, and later
//	page.pay                  fail_before, fail_after: the human sees a 500
//	webhook                   lose, double, delay, reorder (it comes after the next
//	                          one), garble (a signature that is not ours beside the
//	                          right event, which comes again after it is refused)
//
//	GET    /control/money     charges, refunds and pages, all of them
//	GET    /control/webhooks  how many were made, delivered, lost, refused; who waits
//	GET    /control/faults    the rules in force
//	POST   /control/faults    one more: {"on":"refund.create","do":"fail_after","times":3}
//	DELETE /control/faults    none any more
//	POST   /control/endpoint  where webhooks go: {"url":"http://127.0.0.1:8080/api/stripe/webhook"}
//	POST   /control/redeliver webhooks that wait are sent at once, those that were lost too
package stripe
