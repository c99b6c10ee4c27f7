package registry

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

// Funds are the funds of an account that is paid in advance, in cents.
type Funds = ledger.Funds

// Kinds of messages that SendMessage queues.
const (
	BalanceMessage     = "balance"
	ChangeMessage      = "change"
	MaintenanceMessage = "maintenance"
)

// SetFunds makes an account one that is paid in advance.
func (r *Registry) SetFunds(account string, balance, threshold int64) error {
	return r.ledger.SetFunds(account, balance, threshold)
}

// TopUp pays money into an account that is paid in advance.
func (r *Registry) TopUp(account string, amount int64) error { return r.ledger.TopUp(account, amount) }

// FundsOf returns the funds of an account; nil if it is not paid in advance.
func (r *Registry) FundsOf(account string) *Funds { return r.ledger.FundsOf(account) }

// SendMessage queues a message of a kind for an account; name is the domain of a change.
func (r *Registry) SendMessage(account, kind, name string) error {
	switch kind {
	case BalanceMessage:
		return r.ledger.SendBalance(account)
	case ChangeMessage:
		return r.ledger.SendChange(account, name)
	case MaintenanceMessage:
		start := r.Now().Add(48 * time.Hour).Truncate(time.Hour)
		return r.ledger.SendMaintenance(account, start, start.Add(2*time.Hour))
	default:
		return fmt.Errorf("%q is not a kind of message: balance, change or maintenance", kind)
	}
}

func (r *Registry) controlFunds(mux *http.ServeMux) {
	handle := func(pattern string, do func(url.Values) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, req *http.Request) {
			result, err := do(req.URL.Query())
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			sendJSON(w, result)
		})
	}
	funds := func(query url.Values) (any, error) {
		if _, exists := r.Account(query.Get("of")); !exists {
			return nil, fmt.Errorf("there is no account %q", query.Get("of"))
		}
		return r.FundsOf(query.Get("of")), nil
	}
	handle("GET /funds", funds)
	handle("POST /funds", func(query url.Values) (any, error) {
		balance, err := parseCents(query.Get("balance"))
		if err != nil {
			return nil, err
		}
		threshold, err := parseCents(query.Get("threshold"))
		if err == nil {
			err = r.SetFunds(query.Get("of"), balance, threshold)
		}
		if err != nil {
			return nil, err
		}
		return funds(query)
	})
	handle("POST /funds/topup", func(query url.Values) (any, error) {
		amount, err := parseCents(query.Get("amount"))
		if err == nil {
			err = r.TopUp(query.Get("of"), amount)
		}
		if err != nil {
			return nil, err
		}
		return funds(query)
	})
	handle("POST /messages", func(query url.Values) (any, error) {
		return "queued", r.SendMessage(query.Get("of"), query.Get("kind"), query.Get("name"))
	})
}

// parseCents parses an amount with two decimals; empty text is 0.
func parseCents(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	units, decimals, _ := strings.Cut(text, ".")
	amount, err := strconv.ParseUint(units+decimals, 10, 40)
	if err != nil || len(decimals) != 2 {
		return 0, fmt.Errorf("%q is not an amount like 12.90", text)
	}
	return int64(amount), nil
}
