// Package billing says what VAT a sale bears, and proves that the books add up.
//
// # VAT
//
// We sell from Germany, and what we sell is a service that is delivered
// electronically: VAT is that of the customer's place.
//
//	the customer                                  rule              rate
//	has told no country, or none that exists      unknown_country   Germany's
//	is in Germany                                 domestic          Germany's
//	is outside the EU's VAT territory             outside_eu        0
//	is in the EU, with a valid VAT id of          reverse_charge    0, the customer owes it
//	that country
//	is in the EU, and we take part in the         eu_consumer_oss   that country's
//	One-Stop-Shop
//	is in the EU, and we don't                    eu_consumer       Germany's
//
// The VAT territory is not the political map. The Canary Islands, Livigno, Büsingen
// or Åland belong to member states and are outside of it; Madeira and the Azores are
// inside with rates of their own; Monaco counts as France. Northern Ireland is
// inside for goods only: for us it is outside, so an XI number decides nothing.
// Rates change by law on a day, so rates.csv holds them with their first days, and
// the sale's day in Germany decides.
//
// A VAT id counts only if VIES calls it valid. While VIES can't be asked VAT is
// charged as if there were none, and the assessment says so: VAT that was not
// charged can't be got from the customer later, VAT that was can be given back.
//
// VAT is rounded half-up once over the net sum, as EN 16931 wants it, and shared out
// to the lines by largest remainder: the lines always add up to the sum.
//
// # The threshold
//
// Without the One-Stop-Shop German VAT is right for EU consumers up to 10,000 EUR a
// year; Watch counts, and warns before that.
package billing
