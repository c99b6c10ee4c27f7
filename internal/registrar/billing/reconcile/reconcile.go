package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Database is what our database says. Each sequence ends with the first error.
type Database interface {
	ReconciliationOrders(ctx context.Context) iter.Seq2[Order, error]
	ReconciliationItems(ctx context.Context) iter.Seq2[ProvisionItem, error]
	ReconciliationDomains(ctx context.Context) iter.Seq2[Domain, error]
	// ReconciliationDocuments are the invoices and corrections, those that are owed first.
	ReconciliationDocuments(ctx context.Context) iter.Seq2[Document, error]
}

// Provider is what the payment provider says.
type Provider interface {
	// Charges are those that took money. Returns are all refunds.
	Charges(ctx context.Context) iter.Seq2[Charge, error]
	Refunds(ctx context.Context) iter.Seq2[ProviderRefund, error]
}

// Order is one order.
type Order struct {
	ID, Customer, State string
	// Paid says that a payment or, for a gross of 0, a person's word has moved it on;
	// Ended that only refunds can still happen.
	Paid, Ended     bool
	Net, VAT, Gross registrar.Cents
	RateBasisPoints int
	Items           []Item
	Payments        []Payment
	Refunds         []Refund
	UpdatedAt       time.Time
	// DueAt is when somebody has to look at it; zero means that nobody has to.
	DueAt time.Time
}

// Stage is how far an item or a line has come.
type Stage string

// The stages.
const (
	ItemOpen   Stage = "under way"
	ItemDone   Stage = "carried out"
	ItemFailed Stage = "failed"
	// ItemRefunded is an item that failed and whose money was given back.
	ItemRefunded Stage = "given back"
)

// Item is one item of an order.
type Item struct {
	ID, Name, Kind  string
	Net, VAT, Gross registrar.Cents
	// ProvisionItem is the id of its line; empty before the payment, and for an item whose
	// name was gone when the payment came.
	ProvisionItem string
	Stage         Stage
}

// PaymentStatus is how a payment stands.
type PaymentStatus string

// The standings.
const (
	PaymentInFlight  PaymentStatus = "in flight" // the human may be paying
	PaymentCaptured  PaymentStatus = "captured"  // pays for the order
	PaymentUnmatched PaymentStatus = "unmatched" // refund due
	PaymentRefunded  PaymentStatus = "refunded"  // refunded in full
	PaymentClosed    PaymentStatus = "closed"    // it can't be paid any more
)

// Payment is one attempt to pay.
type Payment struct {
	ID     string
	Status PaymentStatus
	Amount registrar.Cents
	// Intent is the provider's payment; empty before it is known.
	Intent    string
	UpdatedAt time.Time
}

// Refund is money that goes back.
type Refund struct {
	ID, Payment string
	// Item is empty for an unmatched payment.
	Item   string
	Amount registrar.Cents
	// Provider is the provider's id; empty while the refund is due.
	Provider  string
	CreatedAt time.Time
}

// ProvisionItem is one paid item as provisioning sees it.
type ProvisionItem struct {
	ID, Customer, Name, Kind string
	// Order is the one that paid for it; empty if an operator did.
	Order, Domain string
	Stage         Stage
	// RefundDue says that the line's money is to go back.
	RefundDue        bool
	UpdatedAt, DueAt time.Time
}

// Domain is a customer's domain.
type Domain struct {
	ID, Customer, Name string
	// ViaItem says that a line of ours brought it here, Pending that it is still on
	// its way.
	ViaItem, Pending bool
	UpdatedAt        time.Time
}

// Charge is money that the provider took.
type Charge struct {
	ID, Intent string
	// Payment is ours, as the provider was told.
	Payment          string
	Amount, Refunded registrar.Cents
	Currency         string
	CreatedAt        time.Time
}

// ProviderRefund is a refund at the provider.
type ProviderRefund struct {
	ID, Intent string
	// Refund is ours, as the provider was told; empty if somebody else made it.
	Refund string
	Amount registrar.Cents
	// Failed says that the money did not reach the customer.
	Failed    bool
	CreatedAt time.Time
}

// Finding is one thing that does not agree.
type Finding struct {
	// Rule is the one of doc.go that is broken.
	Rule string `json:"rule"`
	// About is the id of what it is about.
	About string `json:"about"`
	Text  string `json:"text"`
}

func (f Finding) String() string { return fmt.Sprintf("%s %s: %s", f.Rule, f.About, f.Text) }

// Report is what was found and how much was looked at.
type Report struct {
	Findings       []Finding `json:"findings"`
	Orders         int       `json:"orders"`
	ProvisionItems int       `json:"lines"`
	Domains        int       `json:"domains"`
	// Documents are invoices and corrections.
	Documents int `json:"invoices"`
	Charges   int `json:"charges"`
	Refunds   int `json:"refunds"`
	// Charged and GivenBack are the provider's sums.
	Charged  registrar.Cents `json:"chargedEur"`
	Refunded registrar.Cents `json:"refundedEur"`
	// Fresh is how many things were not judged, because they have just changed.
	Fresh int `json:"fresh"`
}

// Options are how an audit is made.
type Options struct {
	Now time.Time
	// GracePeriod is how long ago something must have changed to be judged.
	GracePeriod time.Duration
}

// Run reads everything once. Without a provider (nil) only our side is compared.
func Run(ctx context.Context, db Database, provider Provider, options Options) (Report, error) {
	a := &reconciler{
		options: options, payments: make(map[string]*payment), intents: make(map[string]string),
		refunds: make(map[string]*refund), items: make(map[string]item), registrations: make(map[string]int), expectedDomains: make(map[string]expectedDomain),
		expectedDocuments: make(map[[2]string]*expectedDocument), usedNumbers: make(map[string][]usedNumber),
	}
	if err := forEach(db.ReconciliationOrders(ctx), a.checkOrder); err != nil {
		return a.Report, fmt.Errorf("the orders can't be read: %w", err)
	}
	if err := forEach(db.ReconciliationDocuments(ctx), a.checkDocument); err != nil {
		return a.Report, fmt.Errorf("the invoices can't be read: %w", err)
	}
	a.checkMissingDocuments()
	if err := forEach(db.ReconciliationItems(ctx), a.checkItem); err != nil {
		return a.Report, fmt.Errorf("the lines can't be read: %w", err)
	}
	a.checkMissingItems()
	if err := forEach(db.ReconciliationDomains(ctx), a.checkDomain); err != nil {
		return a.Report, fmt.Errorf("the domains can't be read: %w", err)
	}
	a.checkMissingDomains()
	if provider != nil {
		if err := forEach(provider.Charges(ctx), a.checkCharge); err != nil {
			return a.Report, fmt.Errorf("the provider's charges can't be read: %w", err)
		}
		a.checkMissingCharges()
		if err := forEach(provider.Refunds(ctx), a.checkProviderRefund); err != nil {
			return a.Report, fmt.Errorf("the provider's refunds can't be read: %w", err)
		}
		a.checkMissingRefunds()
	}
	slices.SortFunc(a.Findings, func(x, y Finding) int {
		return cmp.Or(cmp.Compare(x.About, y.About), cmp.Compare(x.Rule, y.Rule), cmp.Compare(x.Text, y.Text))
	})
	return a.Report, nil
}

func forEach[T any](all iter.Seq2[T, error], check func(T)) error {
	for one, err := range all {
		if err != nil {
			return err
		}
		check(one)
	}
	return nil
}

// reconciler is one reading. It keeps the few facts by which the sides are compared, not
// what it has read: there may be millions of orders.
type reconciler struct {
	Report
	options           Options
	payments          map[string]*payment
	intents           map[string]string // the provider's payment to ours
	refunds           map[string]*refund
	items             map[string]item                 // by line
	registrations     map[string]int                  // active lines that brought a domain here, by domain
	expectedDomains   map[string]expectedDomain       // domains of active lines, until they are seen
	expectedDocuments map[[2]string]*expectedDocument // by order and refund
	usedNumbers       map[string][]usedNumber         // the numbers of each series
}

type payment struct {
	order  string
	status PaymentStatus
	amount registrar.Cents
	// owed is the refund of an unmatched payment.
	owed    registrar.Cents
	charges int
	// refunded is what our refunds have given back of it, seen what the provider has.
	refunded, providerRefunded registrar.Cents
	fresh                      bool
}

type refund struct {
	order, payment, provider string
	amount                   registrar.Cents
	found                    int
	fresh                    bool
}

type item struct {
	order, customer, name, kind string
	stage                       Stage
	provisionItems              int
	fresh                       bool
}

type expectedDomain struct {
	item, customer, name string
	fresh                bool
}

// isFresh says that something has changed too lately to be judged. Times of business
// may run ahead of the clock, in a sandbox: what lies far in the future is not fresh.
func (a *reconciler) isFresh(at time.Time) bool {
	return a.options.Now.Sub(at).Abs() < a.options.GracePeriod
}

// addFinding tells a finding, or counts it if it is about something fresh.
func (a *reconciler) addFinding(fresh bool, rule, about, format string, args ...any) {
	if fresh {
		a.Fresh++
		return
	}
	a.Findings = append(a.Findings, Finding{rule, about, fmt.Sprintf(format, args...)})
}
