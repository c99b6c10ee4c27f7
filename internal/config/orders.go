package config

import "time"

// Orders is how customers order. Nothing can be ordered without stripe.secret_key.
type Orders struct {
	// Hold is how long an order waits for its payment. Default: 24h.
	Hold Duration `toml:"hold"`
	// MaxOpen is how many orders of one customer may wait for their payment at a
	// time. Default: 20.
	MaxOpen int `toml:"max_open"`
	// VerifyOverEUR is the gross sum of 30 days, by account, e-mail address or
	// card, above which a customer has to show who they are. Default: 500.
	VerifyOverEUR int `toml:"verify_over_eur"`
	// ReuseQuotes is how long a page or a checkout session shows what a registry
	// said about a name before it is asked again. Ordering and paying always ask.
	// Default: 10s.
	ReuseQuotes Duration `toml:"reuse_quotes"`
	// RecheckInterval is how long page views do not ask the payment provider again about
	// the same payment or proof of identity, on each node. Default: 3s.
	RecheckInterval Duration `toml:"recheck_interval"`
	// MaxQuotes bounds those answers in memory. Default: 20000.
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
