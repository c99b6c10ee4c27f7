package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
)

// Database reads our side. Each sequence ends with the first error.
type Database interface {
	ReconciliationOrders(ctx context.Context) iter.Seq2[order.Order, error]
	ReconciliationItems(ctx context.Context) iter.Seq2[provision.Item, error]
	ReconciliationDomains(ctx context.Context) iter.Seq2[provision.Domain, error]
	ReconciliationRenewals(ctx context.Context) iter.Seq2[renewal.Renewal, error]
	// ReconciliationClosedDomains yields the ids of domains that were deleted for good or
	// handed over to their registry because they were not paid.
	ReconciliationClosedDomains(ctx context.Context) iter.Seq2[string, error]
	// ReconciliationDocuments yields invoices and corrections, pending ones first.
	ReconciliationDocuments(ctx context.Context) iter.Seq2[Document, error]
	ReconciliationDisputes(ctx context.Context) iter.Seq2[dispute.Dispute, error]
}

// Provider reads the payment provider's side.
type Provider interface {
	// Charges yields successful charges, Refunds all refunds, Disputes all disputes.
	Charges(ctx context.Context) iter.Seq2[Charge, error]
	Refunds(ctx context.Context) iter.Seq2[ProviderRefund, error]
	Disputes(ctx context.Context) iter.Seq2[ProviderDispute, error]
}

// stage is the progress of an item, as findings name it.
type stage string

const (
	open        stage = "open"
	provisioned stage = "provisioned"
	failed      stage = "failed"
	refunded    stage = "refunded" // failed, and the money was refunded
)

var stages = map[order.ItemState]stage{
	order.ItemWaiting:      open,
	order.ItemProvisioning: open,
	order.ItemActive:       provisioned,
	order.ItemFailed:       failed,
	order.ItemRefunded:     refunded,
}

func isPaid(o order.Order) bool { return !o.PaidAt.IsZero() }

// inFlight reports whether the customer may be paying.
func inFlight(state order.PaymentState) bool {
	return state == order.PaymentOpening || state == order.PaymentOpen || state == order.PaymentClosing
}

// Charge is a charge at the provider.
type Charge struct {
	ID, Intent       string
	Payment          string // our payment id from the charge's metadata
	Amount, Refunded registrar.Cents
	Currency         string
	CreatedAt        time.Time
}

// ProviderRefund is a refund at the provider.
type ProviderRefund struct {
	ID, Intent string
	Refund     string // our refund id from its metadata; empty if it was made elsewhere
	Amount     registrar.Cents
	Failed     bool // the money did not reach the customer
	CreatedAt  time.Time
}

// Finding is one inconsistency.
type Finding struct {
	// Rule is the violated rule of doc.go.
	Rule string `json:"rule"`
	// About is the id of the row it is about.
	About string `json:"about"`
	Text  string `json:"text"`
}

func (f Finding) String() string { return fmt.Sprintf("%s %s: %s", f.Rule, f.About, f.Text) }

// Report is the result of Run: findings and totals.
type Report struct {
	Findings       []Finding `json:"findings"`
	Orders         int       `json:"orders"`
	ProvisionItems int       `json:"lines"`
	Renewals       int       `json:"renewals"` // automatic ones
	Domains        int       `json:"domains"`
	// Documents are invoices and corrections.
	Documents int `json:"invoices"`
	Charges   int `json:"charges"`
	Refunds   int `json:"refunds"`
	// Charged and Refunded are the provider's totals.
	Charged  registrar.Cents `json:"chargedEur"`
	Refunded registrar.Cents `json:"refundedEur"`
	Disputes int             `json:"disputes"` // and inquiries
	// Disputed is what open disputes are about, DisputesWon and DisputesLost what ended ones are.
	Disputed     registrar.Cents `json:"disputedEur"`
	DisputesWon  registrar.Cents `json:"disputesWonEur"`
	DisputesLost registrar.Cents `json:"disputesLostEur"`
	// Fresh is how many findings were dropped because the rows have just changed.
	Fresh int `json:"fresh"`
}

// Options configure Run.
type Options struct {
	Now         time.Time
	GracePeriod time.Duration // how long ago something must have changed to be judged
}

// Run reads everything once. Without a provider (nil) only our side is checked.
func Run(ctx context.Context, db Database, provider Provider, options Options) (Report, error) {
	a := &reconciler{
		options: options, payments: make(map[string]*payment), intents: make(map[string]string),
		refunds: make(map[string]*refund), providerRefunds: make(map[string]string), items: make(map[string]*item), registrations: make(map[string]int), expectedDomains: make(map[string]expectedDomain),
		expectedDocuments: make(map[[2]string]*expectedDocument), usedNumbers: make(map[string][]usedNumber),
		renewedItems: make(map[[2]string]*renewedItem), expectedTerms: make(map[string]expectedTerm),
		disputes: make(map[string]*disputed), withdrawn: make(map[string]registrar.Cents),
	}
	type step struct {
		what   string
		read   func() error
		finish func()
	}
	steps := []step{
		{"orders", reader(db.ReconciliationOrders(ctx), a.checkOrder), func() {}},
		{"disputes", reader(db.ReconciliationDisputes(ctx), a.checkDispute), a.checkReturnedTwice},
		{"invoices", reader(db.ReconciliationDocuments(ctx), a.checkDocument), a.checkMissingDocuments},
		{"provision items", reader(db.ReconciliationItems(ctx), a.checkItem), a.checkMissingItems},
		{"renewals", reader(db.ReconciliationRenewals(ctx), a.checkRenewal), a.checkUnclaimedItems},
		{"domains", reader(db.ReconciliationDomains(ctx), a.checkDomain), func() {}},
		{"closed domains", reader(db.ReconciliationClosedDomains(ctx), a.checkClosedDomain), a.checkMissingDomains},
	}
	if provider != nil {
		steps = append(steps,
			step{"charges", reader(provider.Charges(ctx), a.checkCharge), a.checkMissingCharges},
			step{"refunds", reader(provider.Refunds(ctx), a.checkProviderRefund), a.checkMissingRefunds},
			step{"provider's disputes", reader(provider.Disputes(ctx), a.checkProviderDispute), a.checkMissingDisputes})
	}
	for _, s := range steps {
		if err := s.read(); err != nil {
			return a.Report, fmt.Errorf("reconcile: read %s: %w", s.what, err)
		}
		s.finish()
	}
	slices.SortFunc(a.Findings, func(x, y Finding) int {
		return cmp.Or(cmp.Compare(x.About, y.About), cmp.Compare(x.Rule, y.Rule), cmp.Compare(x.Text, y.Text))
	})
	return a.Report, nil
}

func reader[T any](all iter.Seq2[T, error], check func(T)) func() error {
	return func() error {
		for one, err := range all {
			if err != nil {
				return err
			}
			check(one)
		}
		return nil
	}
}

// reconciler keeps only what the comparison needs: there may be millions of orders.
type reconciler struct {
	Report
	options           Options
	payments          map[string]*payment
	intents           map[string]string // our payment by the provider's
	refunds           map[string]*refund
	providerRefunds   map[string]string               // our refund by the provider's
	items             map[string]*item                // by provision item
	registrations     map[string]int                  // active items that registered or transferred a domain, by domain
	expectedDomains   map[string]expectedDomain       // domains of active items, until they are read
	expectedDocuments map[[2]string]*expectedDocument // by order and refund
	usedNumbers       map[string][]usedNumber         // by series
	renewedItems      map[[2]string]*renewedItem      // by order and domain
	expectedTerms     map[string]expectedTerm         // by domain
	disputes          map[string]*disputed
	withdrawn         map[string]registrar.Cents // by charge
}

type payment struct {
	order   string
	state   order.PaymentState
	amount  registrar.Cents
	owed    registrar.Cents // the refund of an unmatched payment
	charges int
	// refunded is what we refunded of it, returned what the bank sent back, providerRefunded
	// what the provider refunded.
	refunded, returned, providerRefunded registrar.Cents
	withdrawn                            registrar.Cents // by disputes
	fresh                                bool
}

type refund struct {
	order, payment, provider string
	amount                   registrar.Cents
	found                    int
	returned, fresh          bool
}

type item struct {
	order, customer, name string
	kind                  order.Kind
	stage                 stage
	provisionItems        int
	fresh                 bool
}

type expectedDomain struct {
	item, customer, name string
	fresh                bool
}

// isFresh reports whether a row has changed too recently to be judged. In a sandbox the
// business time may run ahead of the clock: what lies far in the future is not fresh.
func (a *reconciler) isFresh(at time.Time) bool {
	return a.options.Now.Sub(at).Abs() < a.options.GracePeriod
}

// checkOverdue looks for work that was due before the grace period.
func (a *reconciler) checkOverdue(due time.Time, about, what string) {
	if !due.IsZero() && a.options.GracePeriod > 0 && a.options.Now.Sub(due) > a.options.GracePeriod {
		a.addFinding(false, "stuck", about, "%s is overdue since %s", what, due.UTC().Format(time.DateTime))
	}
}

// addFinding records a finding, or counts it if it concerns fresh rows.
func (a *reconciler) addFinding(fresh bool, rule, about, format string, args ...any) {
	if fresh {
		a.Fresh++
		return
	}
	a.Findings = append(a.Findings, Finding{rule, about, fmt.Sprintf(format, args...)})
}
