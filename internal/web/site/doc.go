// Package start is what everybody sees: the search, the prices, and how to
// connect an assistant.
//
// # The search
//
// One field, eight extensions at a time. With script the rows are reserved first
// and filled in as registries answer; without script the same form is answered
// by a page with the same rows. The rows are rendered here in both cases, so
// that there is one place that says what an answer means.
//
// A searched name is in no address: forms and script POST it, and the browser's
// history keeps it in its own state. So it is in no log, neither in ours nor in
// that of a proxy in front, and in no Referer. That is why the script reads the
// event stream of a POST, and not with EventSource, which can only GET.
//
// A search costs what a search of the REST interface costs, from the same
// budget of the address, and so does each further row of eight. WHOIS has its
// own.
//
// # What a price says
//
// Prices in the list are net, and consumers pay gross: gross stands first, with
// the VAT of where we sell from, and net beside it. Beside the first year stand
// what each further year costs and what five years cost, and where renewing is
// dearer than the first year a mark says so. A name at a price of its own shows
// none before it is known.
package site
