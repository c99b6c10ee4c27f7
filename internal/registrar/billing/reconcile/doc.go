// Package books proves that money, orders and domains agree: what our database says
// of them, and what the payment provider says.
//
// It reads and changes nothing, knows no database and no provider, and shares no
// code with what it examines: a mistake made there must not be made here again. What
// must hold, in the words of the findings:
//
//	totals     An order's items add up to its totals, gross is net and VAT, and the
//	           VAT is that of the rate.
//	charge     A paid order with a gross above 0 keeps exactly one payment of exactly
//	           that sum, and the provider has exactly one charge for it. An order
//	           that is not paid, or costs nothing, keeps none.
//	line       An item of a paid order has exactly one line, which wants what the item
//	           says, and both say the same about how it went. A line of an order
//	           that is not paid does not exist.
//	domain     A registered domain has exactly one active line that brought it here,
//	           paid, free or by an operator; an active line has its domain.
//	refund     A failed item of a paid order has exactly one refund of exactly its
//	           gross, and so has a payment that the order does not want. No other
//	           refund exists, here or at the provider.
//	invoice    A paid order with a gross above 0 has exactly one invoice of its sums,
//	           each refund of an item that was made exactly one correction, and no
//	           other exists, issued or owed. The numbers of a series have no gap.
//	stray      The provider has no charge beside those that orders keep, but for
//	           charges that were given back whole.
//	stuck      Nothing waits that should long have happened.
//
// # While the service runs
//
// What is read is not one moment: a payment may arrive between two questions. So what
// has changed within the last minutes (Options.Patience) is not judged, only counted.
// Whatever is wrong stays wrong and is found later; with a patience of 0, in tests,
// everything is judged.
package reconcile
