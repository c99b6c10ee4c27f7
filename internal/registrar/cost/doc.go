// Package cost knows what registries charge, and compares it with what customers pay.
//
// # Charges
//
// Each operation at a registry that costs money has one row, written in the transaction that
// completes it. A row never changes.
//
//	operation  of                                           the row's id      written when
//	register   a provision item                             the item's        the item becomes active
//	transfer   a provision item                             the item's        the item becomes active
//	renew      a provision item; the registry may have      the item's        the item becomes active
//	           renewed by itself, then no command is sent
//	restore    a provision item: the restore and the years  the item's        the item becomes active
//	           that it adds
//	delete     a domain whose registration was refunded     the command's     the domain is deleted or gone
//	           (package lifecycle); below zero in the add   (dom_…-x)
//	           grace period, when the registry returns the
//	           registration's fee
//
// No other deletion has a row: a domain whose term is not paid is deleted long after its add grace
// period, and customers can't delete domains themselves.
//
// An item that fails has no row: a registry charges nothing for a command that it refuses, and
// refunds a transfer that it does not execute. An automatic renewal by the registry that no
// customer pays has none either: the registry refunds it when the domain is deleted in its grace
// period, so the two cancel out. Until then the account is short of that amount; the
// reconciliation lists such domains.
//
// The source of the amount:
//
//	source        meaning
//	registry      the response to the command reported it (RFC 8748); for a premium name, also the
//	              check before the payment, if the response was lost or no command was sent
//	catalogue     the response reported nothing or was lost, or no command was sent; it is the
//	              cost in the price list
//	registration  the response to a deletion reported nothing or was lost, but the domain was gone
//	              at once, so that it was in its add grace period (lifecycle.AddGraceOf); it is the
//	              negative charge of the registration
//	unknown       none of them has one. The amount is unknown, which is not 0
//
// # Euros
//
// A charge in another currency is converted with the rate in force on its day: the newest one
// that is not later and at most MaxRateAge older. Without one the amount in euros is unknown.
// Operators import rates from the European Central Bank's file of reference rates; none ship
// with the program, because they would be out of date. A stored amount is never converted again.
//
// # Margin
//
// margin_months sums revenue and cost by month and extension, in the transaction of each charge.
// Revenue is the net price of the order item, counted when its item becomes active; an item
// that an operator vouched for has no order and no revenue. Items of unknown cost are counted
// with their revenue apart from the others and never appear in a margin.
//
// A credit note reduces the revenue of its items in the month in which it is issued, and the fee
// that a registry returns reduces the cost in its own. Neither is an item. margin_credits has a row
// per credit note and item, written when the credit note is issued and the item has a charge,
// whichever is later; for a refund at the provider that an operator assigns to items, when it is
// assigned. The repetition of a returned refund has no credit note, and a failed item no revenue.
//
// # Selling below cost
//
// A registration or transfer whose net price is less than its cost in the price list, both in
// euros for one term, is not for sale, unless the list allows it (below_cost). An unknown cost
// refuses nothing. Renewals and restores stay for sale, because customers would lose their
// domains otherwise; an import reports their prices, too.
//
// # Balance
//
// An account that is paid in advance has entries: the opening balance, deposits, and the balance
// that the registry stated at some time. Poll messages about a low balance count as statements,
// too. The opening balance and the deposits less the charges must equal the newest statement.
package cost
