package order

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/ttlcache"
)

const (
	defaultOrderTTL        = 24 * time.Hour
	defaultMaxOpen         = 20
	defaultVerifyOver      = registrar.Cents(500_00)
	defaultDeadline        = 30 * time.Second
	defaultMaxSessions     = 1000
	defaultRecheckInterval = 3 * time.Second

	// maxCachedAnswers bounds the payments and the verifications about which is remembered
	// what the provider said.
	maxCachedAnswers = 10_000

	// maxItems bounds an order.
	maxItems = 20
	// paymentConcurrency bounds the questions to registries that one payment puts at a time.
	// Quotes are put together, because the registry connection batches them.
	paymentConcurrency = 4
)

// Portfolio knows which names customers hold.
type Portfolio interface {
	NamesOf(ctx context.Context, customer string) ([]string, error)
}

// Config is what a Service is made of. Store, Market, Taxes, Payments, Identities,
// Lines, Seal, Node and BaseURL are required.
type Config struct {
	Store       Store
	Market      Market
	Taxes       Taxes
	Payments    Payments
	Identities  Identities
	Provisioner Provisioner
	// Tokens charges what agents bring; nil means that only humans pay.
	Tokens Tokens
	// Registrants makes holders of the contacts that agents tell; nil means that no
	// contact ever suffices.
	Registrants Registrants
	// Budget bounds the questions to registries; nil means no bound.
	Budget Budget
	// Portfolio lets names be compared with what the customer has; nil means that
	// nobody compares.
	Portfolio Portfolio
	// Seal closes the secrets of links, and auth codes.
	Seal *registrar.Seal
	// Node names this process in leases; it is the same after a restart.
	Node string
	// BaseURL begins payment_url and verification_url; without a slash at its end.
	BaseURL string

	// AllowMail says whether an address gets one more letter about an order that
	// nobody has paid; nil means that it always does.
	AllowMail func(address string) bool

	// Extension is the price list: what each extension demands of a registrant is
	// checked when an order is claimed. nil means that no extension demands anything.
	Extension func(tld string) (registrar.Extension, bool)
	// OrderTTL is how long an order waits for its payment; 0 means a day.
	OrderTTL time.Duration
	// MaxOpen bounds a customer's open orders; 0 means 20.
	MaxOpen int
	// MaxSessions bounds an agent's open orders; 0 means 1,000.
	MaxSessions int
	// VerifyOver is the gross of 30 days above which an identity is needed; 0
	// means 500 EUR.
	VerifyOver registrar.Cents
	// Deadline bounds one call to the payment provider; 0 means 30 s.
	Deadline time.Duration
	// Draining is closed when this node drains: completions stop waiting for a payment
	// in progress. nil means never.
	Draining <-chan struct{}
	// RecheckInterval is how long a page view does not ask the payment provider again about
	// the same payment or verification, on this node; 0 means 3 s. Webhooks and the
	// clock ask whenever they have reason to.
	RecheckInterval time.Duration

	// Now is the time of the business, which prices end by; Clock is the true
	// one, which leases and pauses go by. nil means time.Now.
	Now, Clock func() time.Time
	Logger     *slog.Logger
	// MailQueued is called after letters were stored; nil means that nobody
	// waits for them.
	MailQueued func()
	// OnStateChange is told that an order has come to a state, Refunded that money went
	// back, Waiting why something at the payment provider has to wait, Oldest how
	// long the order has waited that is the longest overdue; nil means that
	// nobody counts.
	OnStateChange func(State)
	OnRefund      func(reason string)
	OnRetry       func(what string, code registrar.Code)
	OnOldestDue   func(time.Duration)
	// RecordError is told which order has to wait, and why; nil means that nobody asks.
	RecordError func(ctx context.Context, order string, code registrar.Code)
}

// Service takes orders and sees them through. It is safe for concurrent use.
type Service struct {
	cfg  Config
	loop *jobs.Loop[Order]
	// waiters are completions that wait for a payment in progress.
	waiters jobs.Waiters
	// paymentChecks and verified are what the provider said lately about payments and
	// verifications: pages ask at most once every LookAgain.
	paymentChecks *ttlcache.Cache[string, struct{}]
	verifications *ttlcache.Cache[string, Verification]
}

// New returns a Service. What is due is done by Run.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil || cfg.Market == nil || cfg.Taxes == nil || cfg.Payments == nil || cfg.Identities == nil ||
		cfg.Provisioner == nil || cfg.Seal == nil || cfg.Node == "" || cfg.BaseURL == "" {
		return nil, errors.New("order: a store, a market, taxes, payments, identities, lines, a seal, the node's name and the base address are needed")
	}
	cfg.BaseURL = strings.TrimSuffix(cfg.BaseURL, "/")
	cfg.setDefaults()
	bound := ttlcache.Config{TTL: cfg.RecheckInterval, MaxEntries: maxCachedAnswers, Now: cfg.Clock}
	s := &Service{
		cfg: cfg, waiters: jobs.Waiters{Max: maxWaiters, MaxPerKey: MaxWaitersPerAgent},
		paymentChecks: ttlcache.New[string, struct{}](bound), verifications: ttlcache.New[string, Verification](bound),
	}
	s.loop = s.newLoop()
	return s, nil
}

func (cfg *Config) setDefaults() {
	if cfg.RecordError == nil {
		cfg.RecordError = func(context.Context, string, registrar.Code) {}
	}
	if cfg.Extension == nil {
		cfg.Extension = func(string) (registrar.Extension, bool) { return registrar.Extension{}, false }
	}
	if cfg.OrderTTL == 0 {
		cfg.OrderTTL = defaultOrderTTL
	}
	if cfg.MaxOpen == 0 {
		cfg.MaxOpen = defaultMaxOpen
	}
	if cfg.MaxSessions == 0 {
		cfg.MaxSessions = defaultMaxSessions
	}
	if cfg.VerifyOver == 0 {
		cfg.VerifyOver = defaultVerifyOver
	}
	if cfg.Deadline == 0 {
		cfg.Deadline = defaultDeadline
	}
	if cfg.RecheckInterval == 0 {
		cfg.RecheckInterval = defaultRecheckInterval
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.MailQueued == nil {
		cfg.MailQueued = func() {}
	}
	if cfg.OnStateChange == nil {
		cfg.OnStateChange = func(State) {}
	}
	if cfg.OnRefund == nil {
		cfg.OnRefund = func(string) {}
	}
	if cfg.OnRetry == nil {
		cfg.OnRetry = func(string, registrar.Code) {}
	}
	if cfg.OnOldestDue == nil {
		cfg.OnOldestDue = func(time.Duration) {}
	}
}

// now and clock are in the precision in which times are stored, so that they can
// be compared with what comes back.
func (s *Service) now() time.Time   { return s.cfg.Now().Truncate(time.Microsecond) }
func (s *Service) clock() time.Time { return s.cfg.Clock().Truncate(time.Microsecond) }

func fail(kind registrar.Kind, code registrar.Code) *registrar.Error {
	return &registrar.Error{Kind: kind, Code: code}
}
