// Package checkout is where people see orders: the page behind payment_url, where
// one is read, paid or declined and then watched until every line is done; the
// page behind verification_url; and the list of orders in the portal.
//
// Whoever holds the link sees what is ordered, what it costs, what kind of program
// asked for it, and a masked address of the account that will own the domains. All
// else is shown to that account only, and only that account can pay, decline or
// change the order. These pages decide none of this: order.Service does.
//
// The price that a page has shown travels back with the button that accepts it.
// If it is another one by then, nothing is charged and the page shows the new one.
//
// The secret of a link is in the address and nowhere else: no page of ours links
// elsewhere with a referrer, and logs hold the route's pattern. GET changes nothing
// that matters; the two addresses to which the payment provider sends people back
// only have the service look at how the payment stands, or close a page that they
// have left.
//
// While a payment or a line is under way the page follows it: a stream brings what
// has changed, as the same page would show it to the same visitor. Without script, or
// where there is no stream to be had, the page reloads itself, so all of this works
// without script.
package checkout
