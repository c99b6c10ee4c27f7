package stripe

// change is one line of the journal: the objects as they are afterwards.
type change struct {
	Sessions      []*session        `json:"sessions,omitempty"`
	Intents       []*intent         `json:"intents,omitempty"`
	Charges       []*charge         `json:"charges,omitempty"`
	Refunds       []*refund         `json:"refunds,omitempty"`
	Customers     []*customer       `json:"customers,omitempty"`
	Methods       []*method         `json:"methods,omitempty"`
	Verifications []*verification   `json:"verifications,omitempty"`
	Tokens        []*token          `json:"tokens,omitempty"`
	Keys          []*storedResponse `json:"keys,omitempty"`
	Events        []*event          `json:"events,omitempty"`
	// Done are ids of events that need no delivery any more.
	Done     []string  `json:"done,omitempty"`
	Settings *settings `json:"settings,omitempty"`
}

// settings outlive the process, so that a product that runs on finds everything
// where it was.
type settings struct {
	SecretKey     string `json:"secret_key"`
	WebhookSecret string `json:"webhook_secret"`
	Endpoint      string `json:"endpoint,omitempty"`
	Listen        string `json:"listen,omitempty"`
	// CardSalt keeps fingerprints of cards alike for as long as the folder lives.
	CardSalt string `json:"card_salt"`
}
