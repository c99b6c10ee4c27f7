package config

// Premium is how names are priced for which a registry charges its own fee (docs/registry.md).
type Premium struct {
	// Sell offers premium names whose registry states the fee by EPP. Otherwise they are shown
	// without a price and can't be ordered. A fee in another currency than euros needs exchange
	// rates ('dotkontor registry rates'); without one the name can't be ordered either.
	// Default: false.
	Sell bool `toml:"sell"`
	// MarginPercent and MarginEUR are added to the fee: percent of it, and euros per year, net.
	// Default: 0.
	MarginPercent int `toml:"margin_percent" range:"0..1000"`
	MarginEUR     int `toml:"margin_eur" range:"0..10000"`
}
