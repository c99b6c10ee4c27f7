package config

import "time"

// Orders controls orders, which require stripe.secret_key.
type Orders struct {
	// Hold is how long an order waits for its payment before it expires. Default: 24h.
	Hold Duration `toml:"hold"`
	// MaxOpen is how many unpaid orders one customer may have at a time. Default: 20.
	MaxOpen int `toml:"max_open"`
	// VerifyOverEUR is the gross total of 30 days, per account, email address or card,
	// above which the customer's identity must be verified. Default: 500.
	VerifyOverEUR int `toml:"verify_over_eur"`
	// ReuseQuotes is how long pages and checkout sessions reuse a quote before the
	// registry is queried again. Ordering and paying always query it. Default: 10s.
	ReuseQuotes Duration `toml:"reuse_quotes"`
	// RecheckInterval is the minimum time between two queries to the payment provider that
	// page views cause, per payment or identity verification and node. Default: 3s.
	RecheckInterval Duration `toml:"recheck_interval"`
	// MaxQuotes limits the quotes in memory. Default: 20000.
	MaxQuotes int `toml:"max_quotes"`
}

func (o *Orders) check(k *checker) {
	k.durationRange("orders.hold", o.Hold, 10*time.Minute, 30*24*time.Hour)
	k.intRange("orders.max_open", o.MaxOpen, 1, 1000)
	k.durationRange("orders.reuse_quotes", o.ReuseQuotes, time.Second, time.Minute)
	k.durationRange("orders.recheck_interval", o.RecheckInterval, time.Second, time.Minute)
	k.intRange("orders.max_quotes", o.MaxQuotes, 100, 10_000_000)
	k.intRange("orders.verify_over_eur", o.VerifyOverEUR, 1, 1_000_000)
}
