// Package billing computes the VAT of a sale.
//
// # VAT
//
// We sell electronically supplied services from Germany, so the customer's location decides:
//
//	the customer                                  rule              rate
//	has given no country, or an invalid one       unknown_country   Germany's
//	is in Germany                                 domestic          Germany's
//	is outside the EU's VAT territory             outside_eu        0
//	is in the EU, with a valid VAT ID of          reverse_charge    0, the customer owes it
//	that country
//	is in the EU, and we use the                  eu_consumer_oss   that country's
//	One-Stop-Shop
//	is in the EU, and we don't                    eu_consumer       Germany's
//
// The VAT territory is not the political map. The Canary Islands, Livigno, Büsingen and
// Åland belong to member states but are outside it; Madeira and the Azores are inside
// with their own rates; Monaco counts as France. Northern Ireland is inside for goods
// only, so for us it is outside and an XI number has no effect. Rates change on legal
// effective dates: vatrates.csv lists each rate with its first day, and the day of the sale
// in Germany decides.
//
// A VAT ID counts only if VIES reports it as valid. While VIES is unavailable VAT is
// charged as if there were no ID, and the assessment is marked Unchecked: VAT that was
// not charged can't be collected later, VAT that was charged can be refunded.
//
// VAT is rounded half-up once over the net total, as EN 16931 requires, and allocated to
// the items by largest remainder, so the items always add up to the total.
//
// # The threshold
//
// Without the One-Stop-Shop, German VAT applies to EU consumers up to 10,000 EUR a year;
// ThresholdMonitor sums the sales and warns before that.
package billing
