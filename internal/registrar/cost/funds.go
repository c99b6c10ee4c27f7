package cost

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// FundsKind is the kind of an entry of an account that is paid in advance.
type FundsKind string

// The kinds. They are stored.
const (
	Opening   FundsKind = "opening"   // the balance when the books begin
	Deposit   FundsKind = "deposit"   // what was paid in; below zero if it was paid out
	Statement FundsKind = "statement" // the balance that the registry states
)

// Funds is an entry of an account that is paid in advance.
type Funds struct {
	ID, Account string
	Kind        FundsKind
	Amount      registrar.Money
	At          time.Time
	Reference   string
}

// Audited actions of operators.
const (
	FundsAdded    registrar.Action = "registry_funds_added"
	RatesImported registrar.Action = "exchange_rates_imported"
)

// Error codes.
const (
	BadFunds      registrar.Code = "bad_registry_funds"      // with KindInvalid: kind, amount, time or reference
	TooManyFunds  registrar.Code = "too_many_registry_funds" // with KindConflict: there are MaxFunds entries
	SecondOpening registrar.Code = "registry_opening_exists" // with KindConflict: the account has an opening balance
)

// MaxFunds is how many entries all accounts have at most.
const MaxFunds = 10_000

const maxReference = 200

// AddFunds stores an entry. The account must exist; the caller checks that.
func AddFunds(ctx context.Context, store Store, operator registrar.Actor, entry Funds, now time.Time) error {
	if err := operator.RequireOperator(); err != nil {
		return err
	}
	known := entry.Kind == Opening || entry.Kind == Deposit || entry.Kind == Statement
	if !known || entry.Amount.IsZero() || !registrar.ValidCurrency(entry.Amount.Currency) || entry.At.IsZero() || entry.Kind == Deposit && entry.Amount.Amount == 0 ||
		!utf8.ValidString(entry.Reference) || utf8.RuneCountInString(entry.Reference) > maxReference || strings.ContainsFunc(entry.Reference, registrar.IsUnprintableInLines) {
		return registrar.Invalid(BadFunds)
	}
	entries, err := store.ListRegistryFunds(ctx, MaxFunds)
	if err != nil {
		return err
	}
	if len(entries) >= MaxFunds {
		return registrar.Conflict(TooManyFunds)
	}
	for _, other := range entries {
		if entry.Kind == Opening && other.Kind == Opening && other.Account == entry.Account && other.Amount.Currency == entry.Amount.Currency {
			return registrar.Conflict(SecondOpening)
		}
	}
	entry.ID = registrar.NewID("fnd_", now)
	return store.AddRegistryFunds(ctx, entry, registrar.AuditEvent{
		Actor: operator, Action: FundsAdded, Object: string(entry.Kind) + " " + entry.Amount.String() + " " + entry.Account, At: now,
	})
}
