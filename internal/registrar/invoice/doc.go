// Package invoice issues the documents of a sale: an invoice for every paid order, and a
// correction for every refund of it.
//
// # What is issued
//
//	document     for                                      type   series
//	invoice      an order with a gross above 0,           380    RE-2026
//	             once it is paid
//	correction   each refund of it, in full or in part,   381    RK-2026
//	             once the provider has executed it
//
// A free order has no invoice. Neither does a late or duplicate payment, so its refund
// needs no correction. A correction is titled Rechnungskorrektur, not Gutschrift, because
// in German tax law a Gutschrift is an invoice issued by the customer (§ 14 UStG).
//
// A document is a snapshot: the seller, the customer at the time of payment, the lines,
// the VAT with its reason, and all legally required texts. It is written once and never
// changed or deleted. PDF and XML are rendered from it reproducibly.
//
// # Numbers
//
// Numbers are unique and without gaps in each series, which is a prefix and a year in
// Germany. The counter is a row incremented in the transaction that stores the documents,
// so a rollback also returns their numbers and concurrent transactions wait for each other.
// Documents that are pending together are stored in one transaction; if it fails, they are
// tried one by one.
//
// # Why not in the payment's transaction
//
// That transaction only records a pending document with the customer's data; a job issues
// it a moment later. A payment therefore never waits for the one counter that all nodes
// share, and never fails because the operator has not configured the seller: those
// documents stay pending, and doctor --reconcile reports them. Issuing is one transaction, so
// after a crash a document is either pending or issued.
//
// # VAT
//
// The categories are those of EN 16931:
//
//	billing's rule                               category   the document states
//	domestic, unknown_country, eu_consumer       S          the rate
//	eu_consumer_oss                              S          whose VAT it is
//	reverse_charge                               AE         that the customer owes it
//	outside_eu                                   O          that it is not subject to VAT
//
// K and G are for goods, which we do not sell.
//
// # Revenue
//
// The revenue of a month in Germany is its invoices minus its corrections, by date of issue.
// Documents never change, so the sums of a day are stored once, an hour after its end, by the
// first request that needs them; only later documents are summed on request. The hour covers
// a transaction that began on the day and was stored after it.
package invoice
