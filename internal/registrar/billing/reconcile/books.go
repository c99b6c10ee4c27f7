package reconcile

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// BooksDatabase reads what registries charge. Sequences are ordered by id and end with the
// first error.
type BooksDatabase interface {
	ReconciliationItems(ctx context.Context) iter.Seq2[provision.Item, error]
	ReconciliationDomains(ctx context.Context) iter.Seq2[provision.Domain, error]
	ReconciliationCharges(ctx context.Context) iter.Seq2[cost.Charge, error]
	ReconciliationCredits(ctx context.Context) iter.Seq2[cost.Credit, error]
	ProvisionItemByID(ctx context.Context, id string) (provision.Item, bool, error)
	GetRegistryCharge(ctx context.Context, item string) (cost.Charge, bool, error)
	GetRegistrationCharge(ctx context.Context, domain string) (cost.Charge, bool, error)
	ListMargins(ctx context.Context, first, last string) ([]cost.MonthMargin, error)
	ListRegistryFunds(ctx context.Context, limit int) ([]cost.Funds, error)
	NewestBalance(ctx context.Context, account string) (inbox.Stored, bool, error)
}

// BooksReport is the result of RunBooks.
type BooksReport struct {
	Findings []Finding `json:"findings"`
	// Unknown lists charges of unknown amount, at most maxUnknown of UnknownCharges.
	Unknown        []Finding `json:"unknown"`
	UnknownCharges int       `json:"unknownCharges"`
	Charges        int       `json:"charges"`
	Items          int       `json:"items"`
	// Before counts items that ended before the books began.
	Before   int       `json:"before"`
	Balances []Balance `json:"balances"`
}

// Balance compares the books of an account that is paid in advance with its registry's statement.
type Balance struct {
	Account  string `json:"account"`
	Currency string `json:"currency"`
	Expected string `json:"expected"`
	Stated   string `json:"stated,omitempty"` // empty: the registry has stated none
}

const maxUnknown = 50

// chargeWindow is how close to a charge a queried balance may or may not include it.
const chargeWindow = time.Minute

// autoRenewed is how much later than the paid term a registry must expire a domain for us to
// conclude that it has renewed it by itself.
const autoRenewed = 60 * 24 * time.Hour

// RunBooks checks that each completed item has one charge and each charge an item, that the
// margins add up, and that the balances of accounts that are paid in advance match.
//
//	charge    A completed item has exactly one charge for its operation, extension and account,
//	          and a charge has a completed item. What a registry returned for a deletion is at
//	          most what it charged for the registration.
//	margin    The sums by month and extension equal the charges less the credits.
//	balance   Opening balance and deposits less charges equal what the registry states.
func RunBooks(ctx context.Context, db BooksDatabase, accounts []string) (BooksReport, error) {
	b := &books{db: db, totals: make(map[[2]string]cost.Margin), charged: make(map[[2]string][]cost.Charge), pending: make(map[[2]string]registrar.Amount)}
	funds, err := db.ListRegistryFunds(ctx, cost.MaxFunds)
	if err != nil {
		return b.BooksReport, fmt.Errorf("reconcile: read funds: %w", err)
	}
	for _, entry := range funds {
		if entry.Kind == cost.Opening { // only the charges of such accounts are kept
			b.charged[[2]string{entry.Account, entry.Amount.Currency}] = []cost.Charge{}
		}
	}
	before, err := b.margins(ctx)
	if err != nil {
		return b.BooksReport, err
	}
	if err := b.compareItems(ctx); err != nil {
		return b.BooksReport, fmt.Errorf("reconcile: read charges: %w", err)
	}
	for credit, err := range db.ReconciliationCredits(ctx) {
		if err != nil {
			return b.BooksReport, fmt.Errorf("reconcile: read credits: %w", err)
		}
		b.sum(credit.At, credit.TLD, credit.Margin())
	}
	after, err := b.margins(ctx)
	if err != nil {
		return b.BooksReport, err
	}
	for key, sum := range after {
		// Sums that changed meanwhile are not judged.
		if sum == before[key] && sum != b.totals[key] {
			b.add("margin", key[0], "%s: the sums are %+v, the charges less credits %+v", key[1], sum, b.totals[key])
		}
	}
	for key, sum := range b.totals {
		if sum != (cost.Margin{}) && after[key] == (cost.Margin{}) {
			b.add("margin", key[0], "%s: the sums lack %+v", key[1], sum)
		}
	}
	if err := b.compareBalances(ctx, funds, accounts); err != nil {
		return b.BooksReport, fmt.Errorf("reconcile: read balances: %w", err)
	}
	slices.SortFunc(b.Findings, func(x, y Finding) int { return strings.Compare(x.String(), y.String()) })
	return b.BooksReport, nil
}

type books struct {
	BooksReport
	db      BooksDatabase
	totals  map[[2]string]cost.Margin      // by month and extension
	charged map[[2]string][]cost.Charge    // by account and currency, of accounts paid in advance
	pending map[[2]string]registrar.Amount // charged for requests that are not decided
	unknown map[string]int                 // charges of unknown amount by account
	begun   bool                           // a charge of an item was read
}

func (b *books) add(rule, about, format string, args ...any) {
	b.Findings = append(b.Findings, Finding{rule, about, fmt.Sprintf(format, args...)})
}

// margins returns the stored sums by month and extension.
func (b *books) margins(ctx context.Context) (map[[2]string]cost.Margin, error) {
	rows, err := b.db.ListMargins(ctx, "0000-01", "9999-12")
	sums := make(map[[2]string]cost.Margin, len(rows))
	for _, row := range rows {
		sums[[2]string{row.Month, row.TLD}] = row.Margin
	}
	if err != nil {
		err = fmt.Errorf("reconcile: read margins: %w", err)
	}
	return sums, err
}

// compareItems reads items and charges side by side: both are ordered by id.
func (b *books) compareItems(ctx context.Context) error {
	b.unknown = make(map[string]int)
	nextCharge, stop := iter.Pull2(b.db.ReconciliationCharges(ctx))
	defer stop()
	next := func() (charge cost.Charge, err error, more bool) {
		for {
			if charge, err, more = nextCharge(); !more || err != nil || charge.Operation != cost.Delete {
				return charge, err, more
			}
			if err := b.checkReturned(ctx, charge); err != nil {
				return charge, err, true
			}
		}
	}
	charge, err, more := next()
	for item, itemErr := range b.db.ReconciliationItems(ctx) {
		if itemErr != nil {
			return itemErr
		}
		b.Items++
		for ; more && err == nil && charge.ID < item.ID; charge, err, more = next() {
			b.count(charge)
			b.add("charge", charge.ID, "the charge of %s has no provision item", charge.Amount)
		}
		if err != nil {
			return err
		}
		if item.State == provision.StatePending && !item.Fee.IsZero() {
			b.pending[[2]string{item.Account, item.Fee.Currency}] += item.Fee.Amount
		}
		if !more || charge.ID != item.ID {
			if err := b.checkMissing(ctx, item); err != nil {
				return err
			}
			continue
		}
		b.count(charge)
		if err := b.compare(ctx, item, charge); err != nil {
			return err
		}
		charge, err, more = next()
	}
	for ; more && err == nil; charge, err, more = next() {
		b.count(charge)
		if _, found, err := b.db.ProvisionItemByID(ctx, charge.ID); err != nil {
			return err
		} else if !found {
			b.add("charge", charge.ID, "the charge of %s has no provision item", charge.Amount)
		}
	}
	return err
}

// checkReturned looks at the charge for a deletion, which has no item.
func (b *books) checkReturned(ctx context.Context, charge cost.Charge) error {
	b.count(charge)
	registration, found, err := b.db.GetRegistrationCharge(ctx, charge.Domain)
	switch {
	case err != nil:
		return err
	case !found:
		b.add("charge", charge.ID, "the registry returned %s for a registration without a charge", charge.Amount)
	case registration.Account != charge.Account || registration.TLD != charge.TLD:
		b.add("charge", charge.ID, "the deletion is of %s at %s, the registration of %s at %s", charge.TLD, charge.Account, registration.TLD, registration.Account)
	case !registration.Amount.IsZero() && registration.Amount.Currency == charge.Amount.Currency && -charge.Amount.Amount > registration.Amount.Amount:
		b.add("charge", charge.ID, "the registry charged %s for the deletion, but %s for the registration", charge.Amount, registration.Amount)
	}
	return nil
}

// checkMissing looks at an item without a charge. It may have been completed since it was read.
func (b *books) checkMissing(ctx context.Context, item provision.Item) error {
	if item.State != provision.StateActive {
		return nil
	}
	_, found, err := b.db.GetRegistryCharge(ctx, item.ID)
	switch {
	case err != nil || found:
	case !b.begun: // the books begin with the first charge of an item
		b.Before++
	default:
		b.add("charge", item.ID, "%s %s is completed and has no charge", item.Kind, item.Name)
	}
	return err
}

func (b *books) compare(ctx context.Context, item provision.Item, charge cost.Charge) error {
	if item.State != provision.StateActive {
		now, _, err := b.db.ProvisionItemByID(ctx, item.ID)
		if err != nil {
			return err
		}
		item = now
	}
	if item.State != provision.StateActive {
		b.add("charge", charge.ID, "the registry charged %s, but the provision item is %s", charge.Amount, item.State)
	}
	if charge.TLD != item.TLD || charge.Account != item.Account || string(charge.Operation) != string(item.Kind) {
		b.add("charge", charge.ID, "the charge is to %s %s at %s, the item to %s %s at %s", charge.Operation, charge.TLD, charge.Account, item.Kind, item.TLD, item.Account)
	}
	return nil
}

// sum adds a margin to the totals of its month.
func (b *books) sum(at time.Time, tld string, margin cost.Margin) {
	key := [2]string{at.In(registrar.Germany()).Format(cost.MonthFormat), tld}
	sum := b.totals[key]
	sum.Add(margin)
	b.totals[key] = sum
}

// count adds a charge to the totals.
func (b *books) count(charge cost.Charge) {
	b.Charges++
	b.begun = b.begun || charge.Operation != cost.Delete
	b.sum(charge.At, charge.TLD, charge.Margin())
	if charge.Amount.IsZero() {
		b.UnknownCharges++
		b.unknown[charge.Account]++
		if len(b.Unknown) < maxUnknown {
			b.Unknown = append(b.Unknown, Finding{"unknown", charge.ID, fmt.Sprintf("the cost to %s a domain of %s is unknown", charge.Operation, charge.TLD)})
		}
		return
	}
	account := [2]string{charge.Account, charge.Amount.Currency}
	if list, prefunded := b.charged[account]; prefunded {
		b.charged[account] = append(list, cost.Charge{Amount: charge.Amount, At: charge.At})
	}
}

// compareBalances compares each account that has an opening balance.
func (b *books) compareBalances(ctx context.Context, funds []cost.Funds, accounts []string) error {
	renewed := make(map[string]int) // by the registry and not paid
	for domain, err := range b.db.ReconciliationDomains(ctx) {
		if err != nil {
			return err
		}
		if !domain.PaidUntil.IsZero() && domain.RegistryExpires.Sub(domain.PaidUntil) > autoRenewed {
			renewed[domain.Account]++
		}
	}
	for _, opening := range funds {
		if opening.Kind != cost.Opening {
			continue
		}
		key := [2]string{opening.Account, opening.Amount.Currency}
		statement, found, err := b.newestStatement(ctx, opening, funds, accounts)
		if err != nil {
			return err
		}
		until := statement.At
		if until.Nanosecond() == 0 { // some registries state whole seconds
			until = until.Add(time.Second - time.Microsecond)
		}
		if !found {
			until = time.Unix(1<<40, 0) // everything
		}
		expected := opening.Amount
		for _, entry := range funds {
			if entry.Kind == cost.Deposit && entry.Account == key[0] && entry.Amount.Currency == key[1] && !entry.At.Before(opening.At) && !entry.At.After(until) {
				expected.Amount += entry.Amount.Amount
			}
		}
		for _, charge := range b.charged[key] {
			if !charge.At.Before(opening.At) && !charge.At.After(until) {
				expected.Amount -= charge.Amount.Amount
			}
		}
		expected.Amount -= b.pending[key]
		balance := Balance{Account: key[0], Currency: key[1], Expected: expected.Amount.String()}
		if found {
			balance.Stated = statement.Amount.Amount.String()
		}
		b.Balances = append(b.Balances, balance)
		if found && statement.Amount != expected {
			b.add("balance", key[0], "the books say %s, the registry %s on %s; the difference is %s. %d charges of unknown amount, %d domains renewed by the registry and not paid",
				expected, statement.Amount, statement.At.UTC().Format(time.DateTime), statement.Amount.Amount-expected.Amount, b.unknown[key[0]], renewed[key[0]])
		}
	}
	return nil
}

// newestStatement returns what the registry stated last, in an entry, a message or the answer to
// a query. A message without a currency is about that of the opening balance.
func (b *books) newestStatement(ctx context.Context, opening cost.Funds, funds []cost.Funds, accounts []string) (newest cost.Funds, found bool, err error) {
	for _, entry := range funds {
		if entry.Kind == cost.Statement && entry.Account == opening.Account && entry.Amount.Currency == opening.Amount.Currency &&
			!entry.At.Before(opening.At) && (!found || entry.At.After(newest.At)) {
			newest, found = entry, true
		}
	}
	if !slices.Contains(accounts, opening.Account) {
		return newest, found, nil
	}
	message, stored, err := b.db.NewestBalance(ctx, opening.Account)
	if err != nil || !stored || message.Details.Balance == nil {
		return newest, found, err
	}
	stated := message.Details.Balance
	queried := message.Number == "" // at a time of ours, while commands may be under way
	if queried && slices.ContainsFunc(b.charged[[2]string{opening.Account, opening.Amount.Currency}], func(c cost.Charge) bool {
		return c.At.Sub(message.Queued).Abs() < chargeWindow
	}) {
		return newest, found, nil
	}
	if stated.Currency != "" && stated.Currency != opening.Amount.Currency || message.Queued.Before(opening.At) || found && !message.Queued.After(newest.At) {
		return newest, found, nil
	}
	amount, err := registrar.ParseAmount(stated.Available)
	if err != nil {
		return newest, found, nil //nolint:nilerr // a balance that can't be read states nothing
	}
	return cost.Funds{Amount: registrar.Money{Amount: amount, Currency: opening.Amount.Currency}, At: message.Queued}, true, nil
}
