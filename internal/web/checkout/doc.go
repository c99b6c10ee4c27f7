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
// While a payment or an item is in progress the page updates itself from a stream that
// renders the same page for the same visitor. Without script or stream the page reloads
// itself.
package checkout
