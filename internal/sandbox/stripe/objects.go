package stripe

// The stored objects. render.go shows them.

type session struct {
	ID             string            `json:"id"`
	Created        int64             `json:"created"`
	ExpiresAt      int64             `json:"expires_at"`
	Status         string            `json:"status"`         // open, complete, expired
	PaymentStatus  string            `json:"payment_status"` // unpaid, paid
	Currency       string            `json:"currency"`
	Amount         int64             `json:"amount"`
	Lines          []line            `json:"lines"`
	Methods        []string          `json:"methods"`
	Reference      string            `json:"reference,omitempty"`
	Customer       string            `json:"customer,omitempty"`
	CustomerGiven  bool              `json:"customer_given,omitempty"`
	Creation       string            `json:"creation,omitempty"`
	Email          string            `json:"email,omitempty"`
	Locale         string            `json:"locale,omitempty"`
	Metadata       map[string]string `json:"metadata,omitempty"`
	IntentMetadata map[string]string `json:"intent_metadata,omitempty"`
	Description    string            `json:"description,omitempty"`
	SubmitText     string            `json:"submit_text,omitempty"`
	FutureUse      string            `json:"future_use,omitempty"`
	SuccessURL     string            `json:"success_url"`
	CancelURL      string            `json:"cancel_url,omitempty"`
	Intent         string            `json:"intent,omitempty"` // set by the first payment attempt
	// Setup marks mode setup, whose setup intent saves a card, Method.
	Setup       bool   `json:"setup,omitempty"`
	SetupIntent string `json:"setup_intent,omitempty"`
	Method      string `json:"method,omitempty"`
	// ShowSaved lists the customer's saved cards on the page; PayWith is the one chosen last.
	ShowSaved bool   `json:"show_saved,omitempty"`
	PayWith   string `json:"pay_with,omitempty"`
	// Asking is the card that awaits the bank's authentication.
	Asking *card `json:"asking,omitempty"`
}

type line struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Unit     int64  `json:"unit"`
	Quantity int64  `json:"quantity"`
}

type card struct {
	Number      string `json:"number,omitempty"` // a test number; a saved card behaves like it
	Brand       string `json:"brand"`
	Last4       string `json:"last4"`
	Month       int    `json:"month"`
	Year        int    `json:"year"`
	Fingerprint string `json:"fingerprint"`
	Name        string `json:"name,omitempty"`
}

type intent struct {
	ID          string            `json:"id"`
	Created     int64             `json:"created"`
	Status      string            `json:"status"` // requires_payment_method, requires_confirmation, requires_action, succeeded, canceled
	Currency    string            `json:"currency"`
	Amount      int64             `json:"amount"`
	Received    int64             `json:"received"`
	Customer    string            `json:"customer,omitempty"`
	Method      string            `json:"method,omitempty"`
	Charge      string            `json:"charge,omitempty"` // the last one
	FutureUse   string            `json:"future_use,omitempty"`
	Description string            `json:"description,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
	Session     string            `json:"session,omitempty"`
	Types       []string          `json:"types,omitempty"`
	Error       *refusal          `json:"error,omitempty"` // of the last attempt
}

// token is a shared payment token; card is its payment method.
type token struct {
	ID        string `json:"id"`
	Created   int64  `json:"created"`
	Currency  string `json:"currency"`
	Max       int64  `json:"max"`
	ExpiresAt int64  `json:"expires_at"`
	Number    string `json:"number"`
	// Ended is consumed or revoked, At when; empty while it is active.
	Ended string `json:"ended,omitempty"`
	At    int64  `json:"at,omitempty"`
	Spent int64  `json:"spent,omitempty"`
}

type charge struct {
	ID       string            `json:"id"`
	Created  int64             `json:"created"`
	Status   string            `json:"status"` // succeeded, failed
	Currency string            `json:"currency"`
	Amount   int64             `json:"amount"`
	Refunded int64             `json:"refunded"`
	Intent   string            `json:"intent"`
	Customer string            `json:"customer,omitempty"`
	Method   string            `json:"method,omitempty"`
	Card     card              `json:"card"`
	Metadata map[string]string `json:"metadata,omitempty"`
	Error    *refusal          `json:"error,omitempty"`
}

type refund struct {
	ID       string            `json:"id"`
	Created  int64             `json:"created"`
	Currency string            `json:"currency"`
	Amount   int64             `json:"amount"`
	Charge   string            `json:"charge"`
	Intent   string            `json:"intent"`
	Reason   string            `json:"reason,omitempty"`
	Failed   bool              `json:"failed,omitempty"` // the bank returned the money
	Metadata map[string]string `json:"metadata,omitempty"`
}

type customer struct {
	ID          string            `json:"id"`
	Created     int64             `json:"created"`
	Email       string            `json:"email,omitempty"`
	Name        string            `json:"name,omitempty"`
	Description string            `json:"description,omitempty"`
	Locales     []string          `json:"locales,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
}

type method struct {
	ID       string `json:"id"`
	Created  int64  `json:"created"`
	Customer string `json:"customer,omitempty"` // empty: used once and not saved
	Card     card   `json:"card"`
	Behaves  string `json:"behaves,omitempty"` // a test number; empty: the card's own
}

type verification struct {
	ID        string            `json:"id"`
	Created   int64             `json:"created"`
	Status    string            `json:"status"` // requires_input, processing, verified, canceled
	Secret    string            `json:"secret"` // part of the page's URL
	Reference string            `json:"reference,omitempty"`
	Email     string            `json:"email,omitempty"`
	ReturnURL string            `json:"return_url,omitempty"`
	Metadata  map[string]string `json:"metadata,omitempty"`
	First     string            `json:"first,omitempty"`
	Last      string            `json:"last,omitempty"`
	Error     *refusal          `json:"error,omitempty"`
	Report    string            `json:"report,omitempty"`
}

// refusal is an error object of a response or a payment attempt.
type refusal struct {
	status  int
	Type    string `json:"type,omitempty"`
	Code    string `json:"code,omitempty"`
	Decline string `json:"decline_code,omitempty"`
	Message string `json:"message,omitempty"`
	Param   string `json:"param,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// undecided means that the request was not executed, so its idempotency key
	// stores nothing.
	undecided bool
	// happened means that the changes are kept: the bank was asked and declined.
	happened bool
}

func invalid(code, param, message string) *refusal {
	return &refusal{status: 400, Type: "invalid_request_error", Code: code, Param: param, Message: message, undecided: true}
}

func missing(param, kind, id string) *refusal {
	return &refusal{status: 404, Type: "invalid_request_error", Code: "resource_missing", Param: param, Message: "No such " + kind + ": '" + id + "'", undecided: true}
}
