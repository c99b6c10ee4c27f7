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
// The transfer page takes up to order.MaxPortalItems lines of a domain and its auth code.
//
//	line                                        next form
//	accepted by the registry                    kept, sealed
//	locked, or its registry did not respond     kept, sealed; checked again
//	wrong, missing or malformed code            its name is in the text field, without a code
//	other mistakes in the name                  its name is in the text field, without a code
//	duplicate, or already the customer's        dropped
//
// A code is never rendered, neither in the field nor next to its line. order.SealTransfers
// seals the kept lines into a hidden field; nothing is stored before every line of a submission
// is right, and then they are one order. "Only with the checked ones" submits the sealed lines
// alone.
//
// While a payment or an item is in progress the page updates itself from a stream that
// renders the same page for the same visitor. Without script or stream the page reloads
// itself.
package checkout
