package order

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/ttlcache"
)

const (
	maxSessions = 1000 // open orders of an agent
	maxItems    = 20   // of an order by a program
	// MaxPortalItems is that of an order by a person, who may transfer or renew many domains at
	// once: the payment provider's page lists no more.
	MaxPortalItems = 100
	// maxCachedAnswers bounds the cached provider responses, each for payments and
	// verifications.
	maxCachedAnswers = 10_000
	// paymentConcurrency bounds the concurrent registry queries of one payment. Quotes
	// are queried all at once, because the registry connection batches them.
	paymentConcurrency = 4
)

// Config configures a Service. Store, Quote, Taxes, Provider, Seal, Node and BaseURL are
// required.
type Config struct {
	Store Store
	// Quote returns the price and availability of an item; see Market.Quote.
	Quote    func(ctx context.Context, request provision.QuoteRequest) (Quote, error)
	Taxes    *billing.Assessor
	Provider Provider
	// SpendBudget counts names that a customer or agent queries at registries, all or none,
	// and returns how long to wait if they exceed the budget. ForPayment has a budget of its
	// own, so that viewing orders never prevents paying. nil means no limit.
	SpendBudget func(actor registrar.Actor, purpose registrar.QueryPurpose, names int) (wait time.Duration)
	Portfolio   *portfolio.Service // used to warn of names similar to the customer's own, unless nil
	// Seal seals link secrets and auth codes.
	Seal *registrar.Seal
	// Holder returns the registrant data of a customer's holder (package holder); nil means that
	// there are no holders.
	Holder func(ctx context.Context, customer, id string) (registrar.Registrant, error)
	// Node names this process in leases and stays the same after a restart.
	Node    string
	BaseURL string // the prefix of payment_url and verification_url
	// AllowMail reports whether an address may get another mail about an unpaid order;
	// nil means always.
	AllowMail func(address string) bool
	// Extension looks up a TLD, whose rules are checked when an order is claimed; nil means
	// no rules.
	Extension func(tld string) (registrar.Extension, bool)
	// IsRenewalWording reports whether a text of automatic renewal is the current one (package
	// renewal); nil means that it is not offered.
	IsRenewalWording func(wording string) bool
	// TransferDays returns how many days a transfer may take; nil means that it is unknown.
	TransferDays func(tld string) int
	// LocksTransfers reports whether new domains of a TLD are locked against transfers; nil means
	// that none are.
	LocksTransfers func(tld string) bool
	// OpenNotices returns, by the ids of domains, the kinds of a customer's open notices about their
	// contracts, which exclude automatic renewal; nil means that there are none.
	OpenNotices func(ctx context.Context, customer string, domains []string) (map[string][]withdrawal.Kind, error)
	// NextCharge returns when the automatic renewal of a customer's domain is charged next, if its
	// term ends at a time; zero if it is off. nextTerm means that this term ends too soon for it, and its
	// customer has to renew by hand. nil means that it always is off.
	NextCharge func(ctx context.Context, customer, name string, paidUntil time.Time) (at time.Time, nextTerm bool, err error)
	// LiftedExpiry reports whether the last renewal of a customer's domain lifted their choice to let it
	// expire; nil means that none did.
	LiftedExpiry func(ctx context.Context, customer, name string) (bool, error)
	OrderTTL     time.Duration // how long an order can be paid; 0 means 24 hours
	MaxOpen      int           // open orders of a customer; 0 means 20
	// VerifyOver is the gross spent within 30 days above which the identity must be
	// verified; 0 means 500 EUR.
	VerifyOver registrar.Cents
	Deadline   time.Duration // of a call to the payment provider; 0 means 30 s
	// Draining is closed when this node drains: completions stop waiting for a payment
	// in progress. nil means never.
	Draining <-chan struct{}
	// RecheckInterval is how long page views on this node reuse the provider's response
	// about a payment or verification; 0 means 3 s. Webhooks and polls always call the
	// provider.
	RecheckInterval time.Duration

	// Now is the business time, by which prices expire; Clock is the wall clock, for
	// leases and backoff. nil means time.Now.
	Now, Clock func() time.Time
	Logger     *slog.Logger
	// MailQueued is called after mails were stored, ItemsPaid after items to provision were,
	// of an automatic renewal or another order, and WebhookQueued after an agent's webhook
	// delivery was.
	MailQueued, WebhookQueued func()
	ItemsPaid                 func(automatic bool)
	// OnStateChange is called after an order changed its state, OnRefund after a refund
	// was made, OnRetry when a provider call is retried later, and OnOldestDue with the
	// age of the order that is overdue the longest. All may be nil.
	OnStateChange func(State)
	OnRefund      func(reason string)
	OnRetry       func(what string, code registrar.Code)
	OnOldestDue   func(time.Duration)
	RecordError   func(ctx context.Context, order string, code registrar.Code) // why an order was postponed
}

// Service manages orders. It is safe for concurrent use.
type Service struct {
	cfg     Config
	worker  *jobs.Worker[Order]
	waiters jobs.Waiters // completions waiting for a payment in progress
	// paymentChecks and verifications cache what the provider reported, for page views.
	paymentChecks *ttlcache.Cache[string, struct{}]
	verifications *ttlcache.Cache[string, Verification]
	paymentLocks  paymentLocks
}

// New returns a Service. Run processes due orders.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil || cfg.Quote == nil || cfg.Taxes == nil || cfg.Provider == nil || cfg.Seal == nil || cfg.Node == "" || cfg.BaseURL == "" {
		return nil, errors.New("order: Config.Store, Quote, Taxes, Provider, Seal, Node and BaseURL are required")
	}
	cfg.BaseURL = strings.TrimSuffix(cfg.BaseURL, "/")
	cfg.setDefaults()
	bound := ttlcache.Config{TTL: cfg.RecheckInterval, MaxEntries: maxCachedAnswers, Now: cfg.Clock}
	s := &Service{
		cfg: cfg, waiters: jobs.Waiters{Max: maxWaiters, MaxPerKey: MaxWaitersPerAgent},
		paymentChecks: ttlcache.New[string, struct{}](bound), verifications: ttlcache.New[string, Verification](bound),
		paymentLocks: paymentLocks{held: make(map[string]chan struct{})},
	}
	s.worker = s.newWorker()
	return s, nil
}

func (cfg *Config) setDefaults() {
	cfg.OrderTTL = cmp.Or(cfg.OrderTTL, 24*time.Hour)
	cfg.MaxOpen = cmp.Or(cfg.MaxOpen, 20)
	cfg.VerifyOver = cmp.Or(cfg.VerifyOver, 500_00)
	cfg.Deadline = cmp.Or(cfg.Deadline, 30*time.Second)
	cfg.RecheckInterval = cmp.Or(cfg.RecheckInterval, 3*time.Second)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	registrar.Default(&cfg.Extension, func(string) (registrar.Extension, bool) { return registrar.Extension{}, false })
	registrar.Default(&cfg.TransferDays, func(string) int { return 0 })
	registrar.Default(&cfg.LocksTransfers, func(string) bool { return false })
	registrar.Default(&cfg.OpenNotices, func(context.Context, string, []string) (map[string][]withdrawal.Kind, error) { return nil, nil })
	registrar.Default(&cfg.LiftedExpiry, func(context.Context, string, string) (bool, error) { return false, nil })
	registrar.Default(&cfg.NextCharge, func(context.Context, string, string, time.Time) (time.Time, bool, error) {
		return time.Time{}, false, nil
	})
	registrar.Default(&cfg.Now, time.Now)
	registrar.Default(&cfg.Clock, time.Now)
	registrar.Default(&cfg.SpendBudget, func(registrar.Actor, registrar.QueryPurpose, int) time.Duration { return 0 })
	registrar.Default(&cfg.AllowMail, func(string) bool { return true })
	registrar.Default(&cfg.MailQueued, func() {})
	registrar.Default(&cfg.ItemsPaid, func(bool) {})
	registrar.Default(&cfg.WebhookQueued, func() {})
	registrar.Default(&cfg.OnStateChange, func(State) {})
	registrar.Default(&cfg.OnRefund, func(string) {})
	registrar.Default(&cfg.OnRetry, func(string, registrar.Code) {})
	registrar.Default(&cfg.OnOldestDue, func(time.Duration) {})
}

// now has the precision of the store, so that it compares equal to stored times.
func (s *Service) now() time.Time { return s.cfg.Now().Truncate(time.Microsecond) }

func fail(kind registrar.Kind, code registrar.Code) *registrar.Error {
	return &registrar.Error{Kind: kind, Code: code}
}
