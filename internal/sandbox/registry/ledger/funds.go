package ledger

import (
	"fmt"
	"time"
)

// Funds is an account that is paid in advance, in cents of Currency. Accounts without it have
// unlimited funds.
type Funds struct {
	Balance   int64 `json:"balance"`
	Threshold int64 `json:"threshold"` // a message is queued when the balance falls below it
	Warned    bool  `json:"warned"`    // the message was queued since the balance was last above
}

// BalanceNotice informs an account that its balance is low.
type BalanceNotice struct {
	Threshold int64 `json:"threshold"`
	Available int64 `json:"available"`
}

// ChangeNotice informs a sponsor that the registry has changed a domain (RFC 8590).
type ChangeNotice struct {
	Name   string    `json:"name"`
	ROID   string    `json:"roid"`
	At     time.Time `json:"at"`
	Case   string    `json:"case"`
	Reason string    `json:"reason"`
}

// MaintenanceNotice announces a maintenance window (RFC 9167).
type MaintenanceNotice struct {
	ID         string    `json:"id"`
	Start, End time.Time `json:",omitzero"`
}

// funds returns a copy of the funds of an account; nil if it is not paid in advance.
func (t *tx) funds(account string) *Funds {
	funds, changed := t.change.Funds[account]
	if !changed {
		funds = t.l.funds[account]
	}
	if funds == nil {
		return nil
	}
	result := *funds
	return &result
}

// covers reports whether an account can pay for a command.
func (t *tx) covers(account string, cost int64) bool {
	funds := t.funds(account)
	return funds == nil || cost <= 0 || funds.Balance >= cost
}

// book adds an amount to the balance of an account; a debit is below zero. What the registry
// charges without a command may make the balance negative.
func (t *tx) book(account string, amount int64) {
	funds := t.funds(account)
	if funds == nil || amount == 0 {
		return
	}
	funds.Balance += amount
	switch low := funds.Balance < funds.Threshold; {
	case low && !funds.Warned && amount < 0:
		funds.Warned = true
		t.enqueueMessage(account, balanceMessage(funds))
	case !low:
		funds.Warned = false
	}
	put(&t.change.Funds, account, funds)
}

func balanceMessage(funds *Funds) Message {
	return Message{Text: "Account balance", Balance: &BalanceNotice{funds.Threshold, funds.Balance}}
}

// FundsOf returns the funds of an account; nil if it is not paid in advance.
func (l *Ledger) FundsOf(account string) (funds *Funds) {
	l.view(func(time.Time) {
		if stored := l.funds[account]; stored != nil {
			result := *stored
			funds = &result
		}
	})
	return funds
}

// SetFunds makes an account one that is paid in advance.
func (l *Ledger) SetFunds(account string, balance, threshold int64) error {
	return l.doFor(account, func(t *tx) { put(&t.change.Funds, account, &Funds{Balance: balance, Threshold: threshold}) })
}

// TopUp pays money into an account.
func (l *Ledger) TopUp(account string, amount int64) error {
	if l.FundsOf(account) == nil {
		return fmt.Errorf("account %q is not paid in advance", account)
	}
	return l.doFor(account, func(t *tx) { t.book(account, amount) })
}

// doFor executes a command of the registry's operators for an existing account.
func (l *Ledger) doFor(account string, command func(*tx)) error {
	if _, exists := l.accounts[account]; !exists {
		return fmt.Errorf("there is no account %q", account)
	}
	return l.do(Request{Account: account}, func(t *tx) *Refusal {
		command(t)
		return nil
	})
}
