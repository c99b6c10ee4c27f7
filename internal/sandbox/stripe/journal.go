package stripe

// change is one line of the journal: the objects after the change.
type change struct {
	Sessions      []*session        `json:"sessions,omitempty"`
	Intents       []*intent         `json:"intents,omitempty"`
	Charges       []*charge         `json:"charges,omitempty"`
	Refunds       []*refund         `json:"refunds,omitempty"`
	Disputes      []*dispute        `json:"disputes,omitempty"`
	Customers     []*customer       `json:"customers,omitempty"`
	Methods       []*method         `json:"methods,omitempty"`
	Verifications []*verification   `json:"verifications,omitempty"`
	Tokens        []*token          `json:"tokens,omitempty"`
	Keys          []*storedResponse `json:"keys,omitempty"`
	Events        []*event          `json:"events,omitempty"`
	// Done are the ids of delivered events.
	Done     []string  `json:"done,omitempty"`
	Settings *settings `json:"settings,omitempty"`
}

// settings survive the process, so that a running product finds the provider
// unchanged.
type settings struct {
	SecretKey     string `json:"secret_key"`
	WebhookSecret string `json:"webhook_secret"`
	Endpoint      string `json:"endpoint,omitempty"`
	Listen        string `json:"listen,omitempty"`
	// CardSalt keeps card fingerprints stable for the lifetime of the folder.
	CardSalt string `json:"card_salt"`
}
