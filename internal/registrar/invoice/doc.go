// Package invoice issues the documents that a sale owes its customer: an invoice
// for every order that was paid for, and a correction for every refund of it.
//
// # What is issued
//
//	document     for                                      type   series
//	invoice      an order with a gross above 0,           380    RE-2026
//	             once it is paid
//	correction   a refund of one of its items,            381    RK-2026
//	             once the provider has made it
//
// An order that costs nothing has no invoice, and a payment that came too late or
// twice paid for nothing: it has no invoice, so its refund corrects none. A
// correction is called Rechnungskorrektur and not Gutschrift, because in German tax
// law that word means an invoice which the customer writes (§ 14 UStG).
//
// A document is a snapshot: the seller's particulars, the customer's as they were
// when the money came, the lines, the VAT with its reason, and every sentence that
// the law wants. It is written once and never changed or deleted. Paper and XML are
// made from it and are the same each time.
//
// # Numbers
//
// Numbers are unique and without a gap in each series, which is a prefix and a year
// in Germany. The counter is a row that is raised in the transaction that stores the
// document: whatever fails takes the number back with it, and of two that race one
// waits for the other.
//
// # Why not in the transaction that books the payment
//
// That transaction writes down that a document is owed, with the customer's
// particulars, and nothing else; a duty issues it a moment later. So a payment never
// waits for the one counter that all nodes share, and never fails because the
// operator has not told who sells: those documents wait, and doctor --books says so.
// What is owed becomes a document in one transaction, so a crash leaves either.
//
// # VAT
//
// The categories are those of EN 16931:
//
//	billing's rule                               category   and the document says
//	domestic, unknown_country, eu_consumer       S          the rate
//	eu_consumer_oss                              S          whose VAT it is
//	reverse_charge                               AE         that the customer owes it
//	outside_eu                                   O          that it is not subject to VAT
//
// K and G are for goods, which we do not sell.
package invoice
