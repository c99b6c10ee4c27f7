// Package site serves the public pages: search, prices, and how to connect an
// assistant.
//
// # Search
//
// A search checks eight extensions at a time. With script the rows are reserved first
// and filled in as registries respond; without script the same form returns a page with
// the same rows. The rows are rendered here in both cases, so that the meaning of a
// result is defined once.
//
// A searched name is in no URL: forms and script POST it, and the browser's history
// keeps it in its state. It is therefore in no access log, neither ours nor a proxy's,
// and in no Referer. That is why the script reads the event stream of a POST instead of
// using EventSource, which can only GET.
//
// A search costs the same as one of the REST interface, from the same budget of the
// address, and so does each further batch of eight. WHOIS has its own budget.
//
// # Prices
//
// The price list is net, and consumers pay gross: gross is shown first, with the VAT of
// the seller's country, and net next to it. Renewal and five-year prices are shown next
// to the first year, and a badge marks a renewal that costs more than the first year. A
// premium name has no price until it is known.
package site
