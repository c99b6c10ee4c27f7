// Package order takes orders, has them paid, and sees each one through to its
// end: every line registered or its money given back.
//
// # One record, two views
//
// An order is one row with its items, payments and refunds. A checkout session
// of the Agentic Commerce Protocol is another view of the same row under the
// same id. Every change is a compare-and-swap on state and version together; of
// two that meet, one finds nothing to change, reads the order again and thinks
// anew.
//
//	state                  means                                    next
//	awaiting_verification  the holder's identity must be shown      awaiting_payment, canceled, expired
//	                       first
//	awaiting_payment       prepared; nothing is charged. Data may   paying, provisioning ¹, canceled,
//	                       be missing                               expired, awaiting_verification ²
//	paying                 one payment is under way, and closes     provisioning, awaiting_payment ³,
//	                       every other way to pay                   expired ³
//	provisioning           paid. Each item has a line               completed, partially_completed,
//	                       (package provision)                      failed
//	completed              every item was carried out               (end)
//	partially_completed    some were; the others' money goes back   (end)
//	failed                 none was; all money goes back            (end)
//	canceled               by its customer or their agent           (end)
//	expired                nobody paid before the price's end       (end)
//
//	¹ A gross of 0 is never charged: a person's confirmation, or an agent's
//	  completion, moves it on.
//	² If the order has come to need an identity since it was made.
//	³ The payment was declined or given up, or the bank asks for the human.
//
// A session shows the same in other words:
//
//	session status         the order is
//	not_ready_for_payment  awaiting_verification, or awaiting_payment with something missing
//	ready_for_payment      awaiting_payment, and all is told
//	in_progress            paying
//	completed              provisioning and everything after it but the next two
//	canceled               (the same word)
//	expired                (the same word)
//
// A completion answers in this order, and the first that fits is the answer: no
// such session; registrant data missing; an item refused; another price (the order
// has it then); identity open, auth code open, no token (each with a link for a
// human); the token expired, too small or declined, or the bank asks for the human;
// completed. What is completed already is completed, and charges nothing.
//
// A completion that meets another one in progress waits up to CompletionWait and
// returns its outcome: completed, declined, or the link because the bank asks for the
// human. If the other one ended without an outcome, because its process died, this one
// pays. A human at the payment page is not waited for. The wait reads the order's row
// again and again and holds nothing, so it works across nodes; it ends with the caller
// and with the node.
//
// # Buyers without an account
//
// An agent's order belongs to the customer who has linked the agent, if the buyer's
// address is that customer's; if the link ends before it is paid, the agent can't touch
// it any more. Every other one is unclaimed: it hangs on a shadow
// account that nobody can sign in to, which holds what the agent told of the buyer.
// A letter with a link goes to the buyer's address when a human is needed and when
// the order is paid; whoever has the link and is signed in takes over the order, its
// domains, and the registrant if they have none. Knowing an address opens nothing.
//
// After the end only refunds happen: those of failed items, and that of a payment
// which arrived though the order did not wait for it any more.
//
// # Money
//
// A payment is written down before the provider hears of it, and its id is the
// provider's idempotency key.
//
//	payment    means, and what may have happened outside          next
//	opening    the page to pay at may exist; nobody has seen it   open, closed
//	open       the human has the page                             closing, kept, surplus, closed
//	closing    we asked to close the page; it may be paid         kept, surplus, closed
//	kept       the money is there and pays for the order          (end)
//	surplus    the money is there, and the order does not want    returned
//	           it: too late, another payment was kept, or the
//	           account was closed meanwhile
//	returned   all of it was given back                           (end)
//	closed     it can't be paid any more                          (end) ⁴
//
//	⁴ surplus, if the provider says after all that it was paid.
//
//	refund     due → made. One for each failed item of a paid order, and one for
//	           a surplus payment. Its id is the idempotency key too; before a
//	           repetition the provider is asked for a refund with this id.
//
// Whoever hears of a payment (a webhook, the human's return, the clock) only
// learns which one to look at; what counts is what the provider then answers
// about it. So a lost, doubled, late or reordered message changes nothing.
//
// A payment by token has the same states, and an intent in the place of the page.
// The intent is made without the token and can't take money. Only when it is stored
// is it confirmed with the token, by the one who stored it, and by nobody else ever:
// the token is kept nowhere.
//
//	payment    by token: what may have happened outside           after a crash
//	opening    the intent may exist; nobody will confirm it       closed
//	open       the intent was confirmed, or is being so, or       the intent is canceled,
//	           never will be                                      or is found to be paid
//	closing    we asked to cancel the intent; it may be paid      the same
//
// What the bank declines, or wants to ask the human about, is canceled before the
// order can be paid in another way. So an intent takes money once, and no order has
// two that can.
//
// # Boundaries between intent and effect
//
// Each name is a place where a test kills the process.
//
//	 #  boundary          committed before it          the call beside it        after a crash there
//	 1  payment_written   paying, payment opening      page create next          page create, same key
//	 2  page_made         the same                     page create was           page create, same key
//	 3  page_known        payment open                 (the human's)             a look at the page
//	 4  money_seen        payment open                 look was: it is paid      the same look again
//	 5  paid_written      provisioning, kept, lines    (provisioning's)          the lines go on
//	 6  close_written     payment closing              page close next           page close, or a look
//	 7  page_closed       payment closing              page close was            a look at the page
//	 8  refund_written    refund due                   refund create next        a question, then the refund
//	 9  refund_made       refund due                   refund create was         the question finds it
//	10  refund_known      refund made                  (none)                    nothing
//	11  settled           the order's end              (none)                    nothing
//	12  charge_written    paying, payment opening      intent create next        the payment is closed
//	13  intent_known      payment open                 confirm next              intent cancel: nothing was paid
//	14  charge_made       payment open                 confirm was               intent cancel finds it paid
//
// # Consent
//
// Consumers may withdraw from an order for 14 days, and a domain can't wait that
// long. So nobody who buys as a consumer gets to pay, or to confirm what costs
// nothing, without having said expressly that we are to begin at once, and that they
// know what becomes of their right (BGB §§ 356 (4), 357a (2)). When they said it, and
// in which words, is stored with the payment that it goes with, told by the audit,
// and repeated in the receipt; it goes when the payment is given up. Businesses have
// no such right and are not asked. Where an agent completes an order no human stands
// before us: none is stored.
//
// # Prices
//
// Prices and availability come from the price list and from the registry that
// will carry the order out, never from the caller and never from a cache: when
// the order is made, and again before money moves. If they have changed, nothing
// is charged; the order gets the new totals and its customer sees them first.
//
// Only what is shown of an open order may rest on what a registry said a moment
// ago; prices are read from the list also then. Each customer and each agent has
// a budget of names to ask registries about, and another one for attempts to pay.
// Over it, an order can't be made, changed or paid for a while, and pages and
// sessions show the last answer with its time.
//
//	purpose     who asks                                    cache  budget    EPP class
//	ForPayment  Pay and CompleteSession that may charge     never  payments  orders
//	ForQuote    Start, SetCode, CreateSession,              never  quotes    quotes
//	            UpdateSession; Pay and CompleteSession
//	            that can't charge as the order stands
//	ForDisplay  Visit, Session, and the session beside an   yes    quotes    quotes
//	            error
package order
