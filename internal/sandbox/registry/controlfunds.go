package registry

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

// Funds are the funds of an account that is paid in advance, in cents.
type Funds = ledger.Funds

// MessageRequest is a message that SendMessages queues.
type MessageRequest = ledger.MessageRequest

// SetFunds makes an account one that is paid in advance.
func (r *Registry) SetFunds(account string, balance, threshold int64) error {
	return r.ledger.SetFunds(account, balance, threshold)
}

// TopUp pays money into an account that is paid in advance.
func (r *Registry) TopUp(account string, amount int64) error { return r.ledger.TopUp(account, amount) }

// FundsOf returns the funds of an account; nil if it is not paid in advance.
func (r *Registry) FundsOf(account string) *Funds { return r.ledger.FundsOf(account) }

// SendMessages queues messages for an account, all or none, and returns their ids; package
// ledger has the kinds.
func (r *Registry) SendMessages(account string, requests []MessageRequest) (ids []uint64, err error) {
	return r.ledger.SendMessages(account, requests)
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
	mux.HandleFunc("POST /messages", func(w http.ResponseWriter, req *http.Request) {
		query := req.URL.Query()
		requests := []MessageRequest{{Kind: query.Get("kind"), Name: query.Get("name")}}
		var err error
		if requests[0].Kind == "" {
			err = json.NewDecoder(http.MaxBytesReader(w, req.Body, maxControlBytes)).Decode(&requests)
		}
		var ids []uint64
		if err == nil {
			ids, err = r.SendMessages(query.Get("of"), requests)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		sendJSON(w, ids)
	})
}

// parseCents parses an amount with two decimals or none; empty text is 0.
func parseCents(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	units, decimals, found := strings.Cut(text, ".")
	if !found {
		decimals = "00"
	}
	amount, err := strconv.ParseUint(units+decimals, 10, 40)
	if err != nil || len(decimals) != 2 {
		return 0, fmt.Errorf("%q is not an amount like 12.90", text)
	}
	return int64(amount), nil
}
