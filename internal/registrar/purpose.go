package registrar

// Purpose is what a question to a registry is asked for. It decides whether the
// answer may be a recent one, and which questions go first.
type Purpose uint8

const (
	// ForPayment: money moves, or a domain is registered, by the answer. The registry
	// is always asked, before everything else.
	ForPayment Purpose = iota
	// ForQuote: an order is made or changed, and nothing is charged. The registry is
	// always asked, after payments.
	ForQuote
	// ForDisplay: a page or a session shows an open order. An answer of a few seconds
	// ago serves as well.
	ForDisplay
)
