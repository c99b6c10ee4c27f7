// Package order takes orders, collects payment and follows each order to its end:
// every item is provisioned or refunded.
//
// # Order states
//
// An order is one row with its items, payments and refunds. A checkout session of
// the Agentic Commerce Protocol is another view of the same row, under the same id.
// Every change is a compare-and-swap on state and version; on a version conflict the
// loser reloads the order and retries.
//
//	state                  meaning                                  next
//	awaiting_verification  the registrant's identity must be        awaiting_payment, canceled, expired
//	                       verified first
//	awaiting_payment       prepared; nothing is charged. Data may   paying, provisioning ¹, canceled,
//	                       be missing                               expired, awaiting_verification ²
//	paying                 one payment is in flight and blocks      provisioning, awaiting_payment ³,
//	                       every other one                          expired ³
//	provisioning           paid; each item has a provision.Item     completed, partially_completed,
//	                                                                failed
//	completed              every item was provisioned               (final)
//	partially_completed    some were; the others are refunded       (final)
//	failed                 none was; everything is refunded         (final)
//	canceled               by the customer or their agent           (final)
//	expired                not paid before the prices expired       (final)
//
//	¹ A gross of 0 is never charged: the customer's confirmation or the agent's
//	  completion starts provisioning.
//	² If the order has come to require an identity check since it was created.
//	³ The payment was declined or abandoned, or the bank requires authentication.
//
// Only refunds happen after a final state: those of failed items, that of a payment that arrived
// although the order no longer expected it, those that an operator orders, and those made at the
// provider. They don't change the state: a refunded item stays active.
//
// A session maps the states:
//
//	session status         order
//	not_ready_for_payment  awaiting_verification, or awaiting_payment with data missing
//	ready_for_payment      awaiting_payment with nothing missing
//	in_progress            paying
//	completed              provisioning, completed, partially_completed, failed
//	canceled               canceled
//	expired                expired
//
// # Completion
//
// A completion returns the first of these that applies: no such session; registrant data
// missing; an item refused; price changed (the order then has the new one); identity
// missing, auth code missing, no token (each with a link for a human); token expired, too
// small or declined, or the bank requires authentication; completed. Completing a paid
// order again succeeds and charges nothing.
//
// A completion that finds another one in progress waits up to CompletionWait and returns
// that one's outcome: completed, declined, or the link for the human. If the other one
// ended without an outcome because its process died, this one pays. It does not wait for
// a human at the payment page. Waiting polls the order's row and holds no lock, so it
// works across nodes; it ends when the caller leaves or the node drains.
//
// # Guest orders
//
// An agent's order belongs to the customer who linked the agent, if the buyer's address is
// that customer's; if the link ends before payment, the agent loses access to the order.
// Every other agent order is unclaimed: it belongs to a guest account, which holds the
// contact that the agent sent and which can't sign in. When a human is needed and when the
// order is paid, the buyer's address gets a mail with a claim link. A signed-in customer
// who opens the link takes over the order, its domains and, if they have none, the
// registrant data. Knowing an address or an order id gives no access.
//
// # Payments
//
// A payment is stored before the provider is called, and its id is the provider's
// idempotency key.
//
//	payment    meaning, and what may exist at the provider        next
//	opening    the payment page may exist; its URL is unknown     open, closed
//	open       the customer has the page                          closing, captured, unmatched, closed
//	closing    closing the page was requested; it may be paid     captured, unmatched, closed
//	captured   paid, and it pays for the order                    (final)
//	unmatched  paid, but the order can't use it: too late,        refunded
//	           another payment was captured, or the account
//	           was closed meanwhile
//	refunded   refunded in full                                   (final)
//	closed     it can't be paid any more                          (final) ⁴
//
//	⁴ unmatched, if the provider reports it as paid after all.
//
// # Refunds
//
// A refund is stored before the provider is called. Its id is the idempotency key; before a
// retry the provider is queried for a refund with this id.
//
//	refund     meaning                                            next
//	due        the provider may have been called                  made, refused ¹
//	made       the provider has refunded; the invoice is          returned
//	           corrected and the customer gets a mail ²
//	returned   the bank sent the money back: an operator repeats  (final) ³
//	           the refund, or pays another way and closes it,
//	           of which a mail tells the customer
//	refused    nothing was refunded, so nothing is corrected      made ⁴
//
//	¹ The provider refuses what an operator ordered, for example because the payment is
//	  disputed; or the money was refunded there meanwhile (Superseded).
//	² The refund of a failed item is named when the item fails, by a mail of its own while
//	  other items are in progress, otherwise by the mail about the outcome.
//	³ Its correction stays: the customer is still owed the money. A repetition (Replaces)
//	  has no correction of its own.
//	⁴ If the provider reports it after all.
//
//	source     cause                                              amount
//	(empty)    a failed item, or an unmatched payment             its whole price, or the payment
//	operator   an operator: an item or an order, in full or in    up to what is left
//	           part, with a reason and a note
//	provider   made at the provider; found by a webhook or the    what the provider reports
//	           daily listing
//
// The parts of a refund divide it among items. The VAT of a part is the share that the item's VAT
// has in its price, rounded so that all parts of an item add up to its VAT, and those of an order to
// the VAT of its invoice. One made at the provider that is not all that is left belongs to no item
// until an operator assigns it.
//
// One made at the provider with which everything is refunded does not say what is to become of the
// domains: it is open work (TaskDomains) until an operator has decided about each of them. A domain is
// deleted like one that an operator refunds, or left as it is, with a reason; the decision is stored in
// the part of the last refund of the item that was made at the provider. The last decision closes the task.
//
// An operator confirms a preview. If the order was refunded since, the confirmation is refused with
// RefundChanged, so two operators never refund more than one of them saw. A refund that completes a
// withdrawal notice closes it when the customer has the money: when it is made or, if the bank has returned
// one of those for the notice, when that is made again or settled another way. A refund that the bank
// returns opens its notice again.
//
// With a registration that is refunded in full, the operator may have the domain deleted. The
// preview says whether that returns the registry's fee (lifecycle.AddGraceOf). The deletion is
// stored in the transaction that records the refund as made, as a term in state deleting (package
// lifecycle), unless the domain was renewed or locked meanwhile.
//
// A webhook, the customer's return and the poll only name the payment to check; the
// decision rests on what the provider then reports about it. So lost, duplicate, late
// and reordered messages do no harm.
//
// A payment by token has the same states, with a payment intent instead of a page. The
// intent is created without the token and can't take money. Once it is stored, the process
// that stored it, and no other, confirms it with the token; the token is never stored.
//
//	payment    by token: what may exist at the provider           after a crash
//	opening    the intent may exist; it is never confirmed        closed
//	open       the intent may have been confirmed                 the intent is canceled,
//	                                                              or found to be paid
//	closing    canceling the intent was requested; it may be      the same
//	           paid
//
// If the bank declines the token or requires authentication, the intent is canceled before
// the order can be paid another way. So an intent takes money at most once, and an order never
// has two that can.
//
// A payment by saved method (ByMethod) is the charge of an automatic renewal, without the
// customer. It has the states of a payment by token: the process that stored the intent, and
// no other, confirms it off-session.
//
// # Mails
//
//	cause                        mail
//	paid, or confirmed           the receipt, with the invoice attached, after receiptDelay
//	completed before it is sent  receipt and outcome in one mail, with the invoice attached
//	completed after that         the outcome
//	not provisioned after        once, what is late and what happens next; transfers take days
//	delayNoticeAfter             anyway
//	an item failed               with its reason and refund, if it has one: gathered for failedDelay
//	                             while others are in progress, otherwise the outcome
//	automatic renewal            the receipt; an outcome only if something failed
//	payment unmatched            the refund
//
// A mail is merged in the transaction that ends the order, unless a node has claimed it.
//
// # Automatic renewals
//
// An order of ChannelRenewal is created by package renewal, together with its payment and in
// the transaction that moves its renewals to charging. It differs from other orders:
//
//   - Its gross never rises: the announced amount is the maximum, also when the customer pays
//     it by hand after a decline.
//   - It has up to 1000 items, and no limit of open orders applies.
//   - It requires no identity verification: the customer holds these domains already.
//   - Registries are queried as ForQuote, so that a night of renewals does not delay customers
//     who pay.
//   - Its receipt says that the charge was announced; an order that completes sends no second
//     mail.
//
// While it is being paid or provisioned, payment of another order for one of its domains is
// refused with RenewalInProgress, in the transaction that would start it. An automatic order
// can't be paid by hand once one of its terms was renewed by another order.
//
// # Lists of transfers
//
// The portal orders up to MaxPortalItems transfers at once, with their auth codes. Prepare
// passes each code to the registry, which checks it together with the lock, and stores it sealed
// with the order. Lines that are not ordered yet are in the customer's list of transfers, sealed,
// for 14 days after its last change: no code is ever sent back to the browser. They return to
// the list if the order is discarded or expires. If items are refused, Prepare also returns the
// prices of the others, so that a person can decide to order only these.
//
// # Renewal basket
//
// Renewals and restores that a person orders in the portal share one order, the renewal
// basket: AddRenewals adds to the one that awaits payment and opens one if there is none. An
// item for a domain that is in it already replaces that item, for example with another number
// of years. So all of them are paid at once, and none is paid twice.
//
//   - A basket changes only while it awaits payment or verification. Its new version makes a
//     payment that begins at the same moment reload it. A confirmation names the items that
//     were shown (ItemsDigest); if the order has others, Pay returns ItemsChanged, even if the
//     total is the same.
//   - Once its payment has begun, an order is never changed: other domains go to a new basket,
//     and the same ones lead to that order. After the payment was abandoned, the order is a
//     basket again.
//   - It has up to MaxPortalItems items; RemoveItem removes one, and cancels the order with
//     the last. It does so for every order of a person, so that one domain that can't be
//     ordered any more does not block the others.
//   - Items are independent: those that can't be renewed are left out and reported.
//
// Every item that extends a domain's term stores the end of that term. If the domain was
// renewed since, automatically or by another order, the item is refused with TermPaid: when
// the order is shown, and in the transaction that would start its payment. That transaction
// also refuses a domain that another order is paying for or extending (PaymentOpenElsewhere).
// This applies to orders of agents, too. The order of a failed automatic renewal expires in the
// transaction that renews the last of its domains otherwise.
//
// # Failpoints
//
// Each failpoint lies between a committed intent and its effect; tests kill the process
// there.
//
//	 #  failpoint         committed before             provider call         after a crash
//	 1  payment_written   paying, payment opening      create page: next     create page, same key
//	 2  page_made         the same                     create page: done     create page, same key
//	 3  page_known        payment open                 (customer pays)       fetch page
//	 4  money_seen        payment open                 fetch: it is paid     fetch page again
//	 5  paid_written      provisioning, captured       (provision's)         provisioning continues
//	 6  close_written     payment closing              close page: next      close or fetch page
//	 7  page_closed       payment closing              close page: done      fetch page
//	 8  refund_written    refund due                   create refund: next   query, then create refund
//	 9  refund_made       refund due                   create refund: done   query finds the refund
//	10  refund_known      refund made ⁵                (delete: next)        the deletion continues
//	11  settled           final state                  (none)                nothing
//	12  charge_written    paying, payment opening      create intent: next   close the payment
//	13  intent_known      payment open                 confirm: next         cancel intent: unpaid
//	14  charge_made       payment open                 confirm: done         cancel intent: it is paid
//
//	⁵ With the intent to delete a domain, if the operator chose that.
//
// Package renewal has those of automatic renewals.
//
// # Consumer consent
//
// Consumers may withdraw from an order for 14 days, but a domain is registered at once. So
// a consumer can pay, or confirm a free order, only after expressly asking for immediate
// performance and acknowledging the effect on their right of withdrawal (BGB §§ 356 (4),
// 357a (2)). Time and wording are stored with the order while the payment lasts, recorded
// in the audit log and repeated in the receipt; they are dropped when the payment is
// abandoned. Businesses have no such right and are not asked. An order that an agent
// completes has no consent, because no human is present.
//
// # Prices
//
// Prices and availability come from the price list, or for a premium name from the fee of its
// registry (package premium has the policy), and from the registry that will provision the item, never from the caller and never from a cache: when the order is
// created, and again before it is charged. If they have changed, nothing is charged; the
// order gets the new totals, and the customer sees them first.
//
// Only the display of an open order may use a recent registry response; its prices still
// come from the list or from that response's fee. Each customer and each agent has one budget of names to query at
// registries and another one for payment attempts. Over budget, an order can't be created,
// changed or paid for a while, and pages and sessions show the last response with its time.
//
//	purpose     callers                                     cache  budget    EPP priority
//	ForPayment  Pay and CompleteSession that may charge     never  payments  orders
//	ForQuote    Create, SetAuthCode, CreateSession,         never  quotes    quotes
//	            UpdateSession; Pay and CompleteSession
//	            that can't charge the order as it is;
//	            ChargeRenewals, without a budget
//	ForDisplay  View, Session, and the session returned     yes    quotes    quotes
//	            with an error
package order
