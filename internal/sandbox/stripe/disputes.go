package stripe

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

const (
	disputeFee      = 2000 // what a dispute costs, in cents; an inquiry costs nothing
	bankReturnFee   = 750  // what a returned debit costs
	evidenceSeconds = 9 * 24 * 60 * 60
)

// dispute is a dispute, an inquiry or a bank return of a charge.
type dispute struct {
	ID         string  `json:"id"`
	Created    int64   `json:"created"`
	Status     string  `json:"status"`
	Reason     string  `json:"reason"`
	Amount     int64   `json:"amount"`
	Currency   string  `json:"currency"`
	Charge     string  `json:"charge"`
	Intent     string  `json:"intent,omitempty"`
	DueBy      int64   `json:"due_by,omitempty"` // the end of the time for evidence; 0: not contestable
	BankReturn bool    `json:"bank_return,omitempty"`
	Entries    []entry `json:"entries,omitempty"`
}

// entry is a balance transaction of a dispute.
type entry struct {
	ID      string `json:"id"`
	Created int64  `json:"created"`
	Amount  int64  `json:"amount"` // negative: withdrawn
	Fee     int64  `json:"fee"`
}

func isInquiry(status string) bool { return strings.HasPrefix(status, "warning_") }

func (d *dispute) withdrawn() (sum int64) {
	for _, one := range d.Entries {
		sum -= one.Amount
	}
	return sum
}

// refundable reports whether the charge can still be refunded.
func (d *dispute) refundable() bool { return isInquiry(d.Status) || d.Status == "won" }

// disputeMoves are the statuses that follow one another. A bank may still reverse a decision.
var disputeMoves = map[string][]string{
	"warning_needs_response": {"warning_under_review", "warning_closed", "needs_response"},
	"warning_under_review":   {"warning_closed", "needs_response"},
	"needs_response":         {"under_review", "won", "lost"},
	"under_review":           {"won", "lost"},
	"won":                    {"lost"},
	"lost":                   {"won"},
}

// DisputeRequest creates a dispute of a charge. The charge is that of a payment intent or of an
// order; without either it is one that no order knows.
type DisputeRequest struct {
	Intent string `json:"payment_intent"`
	Order  string `json:"order"`
	// Kind is dispute, inquiry or bank_return; empty means dispute.
	Kind   string `json:"kind"`
	Reason string `json:"reason"` // empty means fraudulent, or insufficient_funds of a bank return
	Amount int64  `json:"amount"` // 0 means the whole charge
}

// Dispute is a dispute as the control endpoint shows it.
type Dispute struct {
	ID     string `json:"id"`
	Charge string `json:"charge"`
	Intent string `json:"payment_intent,omitempty"`
	Status string `json:"status"`
	Amount int64  `json:"amount"`
	// Withdrawn is what the bank has taken back and not returned.
	Withdrawn int64 `json:"withdrawn"`
}

func shownDispute(d *dispute) Dispute {
	return Dispute{ID: d.ID, Charge: d.Charge, Intent: d.Intent, Status: d.Status, Amount: d.Amount, Withdrawn: d.withdrawn()}
}

// Disputes returns all disputes, oldest first.
func (s *Server) Disputes() []Dispute {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	all := []Dispute{}
	for _, d := range s.state.disputes.all() {
		all = append(all, shownDispute(d))
	}
	return all
}

// Dispute creates a dispute, as the customer's bank does, with its webhooks.
func (s *Server) Dispute(request DisputeRequest) (Dispute, error) {
	var made *dispute
	err := s.change(func(t *tx) (err error) {
		made, err = t.openDispute(request)
		return err
	})
	if err != nil {
		return Dispute{}, err
	}
	return shownDispute(made), nil
}

// MoveDispute changes the status of a dispute, with its webhooks.
func (s *Server) MoveDispute(id, status string) (Dispute, error) {
	var moved *dispute
	err := s.change(func(t *tx) (err error) {
		moved, err = t.moveDispute(id, status)
		return err
	})
	if err != nil {
		return Dispute{}, err
	}
	return shownDispute(moved), nil
}

// change commits what do puts into a change and sends its events.
func (s *Server) change(do func(t *tx) error) error {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	t := s.state.begin()
	if err := do(t); err != nil {
		return err
	}
	return s.commit(t)
}

func (t *tx) openDispute(request DisputeRequest) (*dispute, error) {
	var paid *charge
	if request.Intent == "" && request.Order == "" {
		paid = &charge{ID: newID("ch_"), Created: t.at, Status: "succeeded", Currency: "eur", Amount: max(request.Amount, 100)}
		t.putCharge(paid)
	}
	for _, one := range t.charges.all() {
		if one.Status == "succeeded" && paid == nil && (request.Intent != "" && one.Intent == request.Intent || request.Order != "" && one.Metadata["order"] == request.Order) {
			paid = one
		}
	}
	if paid == nil {
		return nil, errors.New("there is no successful charge of this payment")
	}
	made := &dispute{
		ID: newID("du_"), Created: t.at, Status: "needs_response", Reason: "fraudulent", Amount: paid.Amount, Currency: paid.Currency,
		Charge: paid.ID, Intent: paid.Intent, DueBy: t.at + evidenceSeconds,
	}
	if request.Amount > 0 {
		made.Amount = request.Amount
	}
	events := []string{"charge.dispute.created", "charge.dispute.funds_withdrawn"}
	switch request.Kind {
	case "", "dispute":
		made.withdraw(t, disputeFee)
	case "inquiry":
		made.Status, events = "warning_needs_response", events[:1]
	case "bank_return":
		made.Status, made.Reason, made.DueBy, made.BankReturn = "lost", "insufficient_funds", 0, true
		made.withdraw(t, bankReturnFee)
		events = append(events, "charge.dispute.closed")
	default:
		return nil, fmt.Errorf("unknown kind %q: dispute, inquiry or bank_return", request.Kind)
	}
	if request.Reason != "" {
		made.Reason = request.Reason
	}
	t.putDispute(made, events...)
	return made, nil
}

func (d *dispute) withdraw(t *tx, fee int64) {
	d.Entries = append(slices.Clone(d.Entries), entry{ID: newID("txn_"), Created: t.at, Amount: -d.Amount, Fee: fee})
}

func (d *dispute) reinstate(t *tx) {
	d.Entries = append(slices.Clone(d.Entries), entry{ID: newID("txn_"), Created: t.at, Amount: d.withdrawn()})
}

func (t *tx) moveDispute(id, status string) (*dispute, error) {
	moved := copyOf(t.disputes.get(id))
	if moved == nil {
		return nil, fmt.Errorf("there is no dispute %q", id)
	}
	if !slices.Contains(disputeMoves[moved.Status], status) {
		return nil, fmt.Errorf("a dispute that is %s can't become %q: %v", moved.Status, status, disputeMoves[moved.Status])
	}
	was := moved.Status
	moved.Status = status
	events := []string{"charge.dispute.updated"}
	switch {
	case status == "warning_closed":
		events = []string{"charge.dispute.closed"}
	case isInquiry(status), status == "under_review":
	case status == "needs_response": // an inquiry becomes a dispute
		moved.withdraw(t, disputeFee)
		events = append(events, "charge.dispute.funds_withdrawn")
	case status == "won":
		moved.reinstate(t)
		events = []string{"charge.dispute.closed", "charge.dispute.funds_reinstated"}
	case was == "won": // the bank has changed its decision
		moved.withdraw(t, 0)
		events = []string{"charge.dispute.closed", "charge.dispute.funds_withdrawn"}
	default:
		events = []string{"charge.dispute.closed"}
	}
	t.putDispute(moved, events...)
	return moved, nil
}

func (t *tx) putDispute(d *dispute, events ...string) {
	t.change.Disputes = put(t.change.Disputes, d, func(d *dispute) string { return d.ID })
	for _, kind := range events {
		t.emit(kind, t.viewDispute(d))
	}
}

// disputesOfCharge returns the disputes of a charge, the oldest first.
func (b *state) disputesOfCharge(charge string) (all []*dispute) {
	for _, id := range b.disputesOf[charge] {
		all = append(all, b.disputes.get(id))
	}
	return all
}

// chargeDisputed refuses the refund of a charge that the bank has taken back.
func (b *state) chargeDisputed(charge string) *refusal {
	if !slices.ContainsFunc(b.disputesOfCharge(charge), func(d *dispute) bool { return !d.refundable() }) {
		return nil
	}
	return &refusal{
		status: http.StatusBadRequest, Type: "invalid_request_error", Code: "charge_disputed",
		Message: "Charge " + charge + " has been charged back; cannot issue a refund.",
	}
}

// methodType is the payment method of a charge: only a debit is returned by a bank.
func (b *state) methodType(charge string) string {
	if slices.ContainsFunc(b.disputesOfCharge(charge), func(d *dispute) bool { return d.BankReturn }) {
		return "sepa_debit"
	}
	return "card"
}

func (t *tx) viewDispute(d *dispute) map[string]any {
	var due any
	if d.DueBy > 0 {
		due = d.DueBy
	}
	entries := []any{}
	for _, one := range d.Entries {
		entries = append(entries, map[string]any{
			"id": one.ID, "object": "balance_transaction", "created": one.Created, "amount": one.Amount, "fee": one.Fee, "net": one.Amount - one.Fee,
			"currency": d.Currency, "type": "adjustment", "reporting_category": "dispute", "source": d.ID, "status": "available",
		})
	}
	return map[string]any{
		"id": d.ID, "object": "dispute", "created": d.Created, "livemode": false, "status": d.Status, "reason": d.Reason,
		"amount": d.Amount, "currency": d.Currency, "charge": d.Charge, "payment_intent": nullIfEmpty(d.Intent),
		"balance_transactions": entries, "is_charge_refundable": d.refundable(), "metadata": map[string]string{},
		"evidence":         map[string]any{},
		"evidence_details": map[string]any{"due_by": due, "has_evidence": false, "past_due": due != nil && d.DueBy < t.at, "submission_count": 0},
	}
}

func (t *tx) showDispute(d *dispute, wanted tree) (map[string]any, *refusal) {
	return expandFields(t.viewDispute(d), wanted, map[string]expander{
		"charge": t.chargeExpander(d.Charge), "payment_intent": t.intentExpander(d.Intent),
	})
}

func getDispute(c *call) (map[string]any, *refusal) {
	return getObject(c, &c.disputes, "dispute", c.showDispute)
}

func listDisputes(c *call) (map[string]any, *refusal) {
	charge, intent := c.params.text("charge"), c.params.text("payment_intent")
	return listObjects(c, &c.disputes, "dispute", "/v1/disputes", c.showDispute, func(d *dispute) (int64, bool) {
		return d.Created, (charge == "" || d.Charge == charge) && (intent == "" || d.Intent == intent)
	})
}

func (s *Server) disputeControls() map[string]func(*http.Request) (any, error) {
	return map[string]func(*http.Request) (any, error){
		"GET /control/disputes": func(*http.Request) (any, error) { return s.Disputes(), nil },
		"POST /control/disputes": func(r *http.Request) (any, error) {
			var request DisputeRequest
			if err := readJSON(r, &request); err != nil {
				return nil, err
			}
			return s.Dispute(request)
		},
		"PUT /control/disputes": func(r *http.Request) (any, error) {
			var move struct {
				ID     string `json:"id"`
				Status string `json:"status"`
			}
			if err := readJSON(r, &move); err != nil {
				return nil, err
			}
			return s.MoveDispute(move.ID, move.Status)
		},
	}
}
