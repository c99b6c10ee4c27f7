// Package checkout serves the pages of orders: the page behind payment_url, where an
// order is reviewed, paid or declined and then followed until every item is
// provisioned; the page behind verification_url; the basket; and the customer's orders
// and invoices in the portal.
//
// Anyone with the link sees the items, their prices, which kind of client prepared the
// order, and a masked address of the account that will own the domains. Everything else
// is shown to that account only, and only that account can pay, decline or change the
// order. order.Service decides all of this.
//
// The displayed price is submitted with the button that accepts it. If it has changed
// since, nothing is charged and the page shows the new one.
//
// The secret of a link appears only in the path: no page sends a referrer to other
// hosts, and logs contain the route's pattern. GET changes nothing that matters; the
// two paths to which the payment provider returns visitors only make the service fetch
// the payment's status, or close an abandoned payment page.
//
// # Transfers
//
// The transfer page shows the customer's list of transfers: up to order.MaxListedTransfers lines
// of a domain and its auth code, stored sealed for 14 days after the last change. Each submission
// checks all lines.
//
//	line                                        stored
//	accepted by the registry                    with its code and price
//	locked, or its registry did not respond     with its code; checked again
//	wrong, missing or malformed code            without a code, which its field asks for
//	not registered, or not transferable here    until the customer removes it
//	no domain, an extension we don't carry,     not at all; shown once
//	  a second code for the same domain, or
//	  already the customer's
//
// A code is never rendered. If every line of a submission is right, they are one order. Otherwise
// the customer orders the accepted ones alone, and the others stay in the list.
//
// While a payment or an item is in progress the page updates itself from a stream that
// renders the same page for the same visitor. Without script or stream the page reloads
// itself.
package checkout
