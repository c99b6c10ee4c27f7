package registrar

// QueryPurpose is the reason for a registry query. It decides whether a cached result may be
// used and the priority of the query.
type QueryPurpose uint8

const (
	// ForPayment: the result decides about a charge or a registration. The registry is
	// always queried, with the highest priority.
	ForPayment QueryPurpose = iota
	// ForQuote: an order is created or changed, and nothing is charged. The registry is
	// always queried, after payments.
	ForQuote
	// ForDisplay: a page or a session shows an open order. A result from the last few
	// seconds suffices.
	ForDisplay
)
