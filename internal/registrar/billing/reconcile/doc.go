// Package reconcile checks that payments, orders and domains agree, in our database and
// at the payment provider.
//
// It only reads, depends on no database or provider, and shares types but no rules with
// what it checks, so that a bug there is not repeated here. Findings name the rule they
// violate:
//
//	totals     An order's items add up to its totals, gross is net plus VAT, and the VAT
//	           matches the rate.
//	charge     A paid order with a gross above 0 has exactly one captured payment of
//	           exactly that amount, and the provider has exactly one charge for it. An
//	           order that is unpaid or free has none.
//	line       An item of a paid order has exactly one matching provision item, and
//	           both have the same result. An unpaid order has none.
//	domain     A registered domain has exactly one active provision item that
//	           registered or transferred it, and an active item has its domain.
//	refund     A failed item of a paid order has exactly one refund of exactly its gross,
//	           and so has an unmatched payment. Other refunds were ordered by an operator or
//	           made at the provider. Together they exceed neither an item nor the invoice,
//	           nor its VAT, and every refund exists once here and at the provider, with the
//	           same amount and outcome.
//	renewal    An automatic renewal that renewed a term was charged, at most what was
//	           announced, and one that was charged and provisioned extended the term.
//	invoice    A paid order with a gross above 0 has exactly one invoice over its
//	           amounts, each executed refund of it exactly one correction, and there
//	           are no other documents, issued or pending. Number series have no gaps.
//	dispute    A dispute is the same here and at the provider. An open or lost one has its
//	           amount withdrawn and locks its domains, every other one has nothing withdrawn.
//	           Refunds and disputes of a payment don't exceed it.
//	stray      Every charge at the provider belongs to an order, unless it was refunded
//	           or taken back in full.
//	stuck      Nothing is overdue.
//
// # While the service runs
//
// The data is not read at one instant: a payment may arrive between two queries. Rows
// changed within Options.GracePeriod are therefore counted but not judged; an actual
// inconsistency persists and is found later. With a grace period of 0, in tests,
// everything is judged.
package reconcile
