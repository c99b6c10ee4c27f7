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
}

func (o *Orders) check(k *checker) {
	k.duration("orders.hold", o.Hold, 10*time.Minute, 30*24*time.Hour)
	k.between("orders.max_open", o.MaxOpen, 1, 1000)
	k.between("orders.verify_over_eur", o.VerifyOverEUR, 1, 1_000_000)
}
