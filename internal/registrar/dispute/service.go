package dispute

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
)

const (
	// checkInterval is how often an open dispute is fetched without a webhook, and how often
	// disputes are listed.
	checkInterval = 24 * time.Hour
	// listOverlap is how far a listing reaches back before the last one, firstListing how far the
	// first one does.
	listOverlap  = 3 * 24 * time.Hour
	firstListing = 180 * 24 * time.Hour
	// MaxListed bounds the disputes of a listing.
	MaxListed = 2000

	provider = "stripe" // names the listing

	maxSwaps         = 5 // versions that a refresh may lose against
	maxMailedDomains = 50
	MaxNote          = 500 // characters of a decision's reason
	pageSize         = 50
	maxOpenListed    = 1000
	concurrency      = 2

	deadline   = 60 * time.Second
	minBackoff = 2 * time.Second
	maxBackoff = 10 * time.Minute
	// changePoll is how often a domain change that has not ended is looked at, blockedPoll how
	// often one is that the registry or the domain's status refuses.
	changePoll  = 5 * time.Second
	blockedPoll = time.Hour
)

// Config configures a Service. Store, Changes and Transfers are required.
type Config struct {
	Store     Store
	Provider  Provider // required by Refresh, Run and RunListing
	Changes   Changes
	Transfers Transfers
	// Now is the business time, Clock the real time, used for leases and delays. nil means
	// time.Now.
	Now, Clock func() time.Time
	// OperatorEmail receives a mail for each dispute and inquiry, and for each loss; empty means
	// none.
	OperatorEmail string
	// RecordListView audits that an operator views a list with customers' addresses, and returns
	// false if that could not be stored; nil means that no list has addresses.
	RecordListView func(ctx context.Context, operator registrar.Actor, what string) (audited bool, err error)
	MailQueued     func()              // called after a mail was stored; optional
	OnStatus       func(status Status) // called when a dispute is stored with a new status; optional
	Logger         *slog.Logger
}

// Service follows disputes. It is safe for concurrent use.
type Service struct {
	cfg    Config
	worker *jobs.Worker[Dispute]
	lister *jobs.Worker[listing]
}

// listing is the daily listing under a lease.
type listing struct{ until, lease time.Time }

// New returns a Service. Run does the work that no webhook causes.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil || cfg.Changes == nil || cfg.Transfers == nil {
		return nil, errors.New("dispute: Config.Store, Changes and Transfers are required")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	registrar.Default(&cfg.Now, time.Now)
	registrar.Default(&cfg.Clock, time.Now)
	registrar.Default(&cfg.MailQueued, func() {})
	registrar.Default(&cfg.RecordListView, func(context.Context, registrar.Actor, string) (bool, error) { return false, nil })
	registrar.Default(&cfg.OnStatus, func(Status) {})
	s := &Service{cfg: cfg}
	s.worker = &jobs.Worker[Dispute]{
		Name: "disputes", Logger: cfg.Logger, Clock: cfg.Clock, ClaimDue: cfg.Store.ClaimDueDisputes,
		Key: func(d Dispute) string { return d.ID }, Attempts: func(d Dispute) int { return d.Attempts },
		Handle: s.check, Postpone: s.postpone, OnRetry: s.onRetry,
		Deadline: deadline, MinBackoff: minBackoff, MaxBackoff: maxBackoff, Concurrency: concurrency,
	}
	s.lister = &jobs.Worker[listing]{
		Name: "dispute listing", Logger: cfg.Logger, Clock: cfg.Clock, Interval: time.Minute,
		ClaimDue: func(ctx context.Context, now, leaseEnd time.Time, _ int) ([]listing, error) {
			until, claimed, err := cfg.Store.ClaimDisputeListing(ctx, provider, now, leaseEnd)
			if err != nil || !claimed {
				return nil, err
			}
			return []listing{{until, leaseEnd}}, nil
		},
		Key: func(listing) string { return "" }, Attempts: func(listing) int { return 1 },
		Handle: func(ctx context.Context, row listing) (listing, error) {
			until, err := s.list(ctx, row.until)
			if err != nil {
				return row, err
			}
			row.until = until
			return row, jobs.Again(checkInterval)
		},
		Postpone: func(ctx context.Context, row listing, due time.Time) {
			if err := cfg.Store.FinishDisputeListing(ctx, provider, row.lease, row.until, due); err != nil {
				cfg.Logger.ErrorContext(ctx, "dispute listing not stored", "error", err.Error())
			}
		},
		OnRetry: func(ctx context.Context, log *slog.Logger, _ listing, _ error) {
			log.WarnContext(ctx, "dispute listing failed, will be repeated")
		},
		Deadline: 10 * deadline, MinBackoff: time.Minute, MaxBackoff: time.Hour, Concurrency: 1,
	}
	return s, nil
}

// Run processes due disputes until ctx ends.
func (s *Service) Run(ctx context.Context) { s.worker.Run(ctx) }

// RunListing lists disputes once a day until ctx ends.
func (s *Service) RunListing(ctx context.Context) { s.lister.Run(ctx) }

// list refreshes the disputes created since a listing, and returns how far it got.
func (s *Service) list(ctx context.Context, until time.Time) (time.Time, error) {
	now := s.cfg.Now()
	since := now.Add(-firstListing)
	if !until.IsZero() {
		since = until.Add(-listOverlap)
	}
	call, cancel := s.lister.CallContext(ctx)
	defer cancel()
	ids, err := s.cfg.Provider.ListDisputeIDs(call, since, MaxListed)
	if err != nil {
		return until, err
	}
	var failed []error
	for _, id := range ids { // one that can't be read does not hide the others
		if err := s.Refresh(call, id); err != nil {
			failed = append(failed, fmt.Errorf("dispute %s: %w", id, err))
		}
	}
	if len(failed) > 0 {
		return until, errors.Join(failed...)
	}
	if len(ids) == MaxListed { // the older ones are still missing
		s.cfg.Logger.ErrorContext(ctx, "dispute listing incomplete", "since", since, "listed", len(ids))
		return until, nil
	}
	return now, nil
}

// Refresh fetches a dispute and stores what the provider reports. An error means that the
// dispute is to be refreshed again.
func (s *Service) Refresh(ctx context.Context, id string) error {
	_, err := s.refresh(ctx, id)
	return err
}

func (s *Service) refresh(ctx context.Context, id string) (Dispute, error) {
	for range maxSwaps {
		was, _, err := s.cfg.Store.GetDispute(ctx, id) // before the fetch: a later report wins
		if err != nil {
			return was, err
		}
		report, err := s.cfg.Provider.FetchDispute(ctx, id)
		if registrar.KindOf(err) == registrar.KindNotFound && was.ID == "" {
			return was, nil // of another account of the provider
		}
		if err != nil {
			return was, err
		}
		failpoint.Hit("dispute_fetched")
		now, stored, err := s.store(ctx, was, report)
		if err != nil || stored {
			return now, err
		}
	}
	return Dispute{}, &registrar.Error{Kind: registrar.KindUpstream, Code: registrar.FaultBusy, Detail: "dispute: lost the race for its version " + strconv.Itoa(maxSwaps) + " times"}
}

// store applies a report. It returns false on a version conflict.
func (s *Service) store(ctx context.Context, was Dispute, report Report) (Dispute, bool, error) {
	if was.ID != "" && !report.Status.follows(was.Status) {
		s.cfg.Logger.ErrorContext(ctx, "dispute status ignored", "dispute", was.ID, "stored", string(was.Status), "reported", string(report.Status))
		return was, true, nil
	}
	subject, _, err := s.cfg.Store.FindDisputedPayment(ctx, report.Intent)
	if err != nil {
		return was, false, err
	}
	now, what := apply(was, report, subject)
	update, err := s.newUpdate(ctx, was, now, what, registrar.Actor{Kind: registrar.ActorSystem})
	if err != nil || update.unchanged() {
		return was, err == nil, err
	}
	stored, err := s.cfg.Store.StoreDispute(ctx, update)
	if err != nil || !stored {
		return was, false, err
	}
	failpoint.Hit("dispute_stored")
	s.afterStore(update)
	return update.Now, true, nil
}

// newUpdate adds the effects of a new version. A version that has to reach a registry is due now.
func (s *Service) newUpdate(ctx context.Context, was, now Dispute, what effect, actor registrar.Actor) (Update, error) {
	update := Update{Was: was, At: s.worker.Now()}
	at := s.cfg.Now().Truncate(time.Microsecond)
	if was.ID == "" {
		now.StoredAt = at
	}
	now.UpdatedAt = at
	switch locked := was.Lock.InForce(); {
	case now.Lock.InForce() && !locked:
		now.LockedAt, now.LiftedAt = at, time.Time{}
	case locked && !now.Lock.InForce():
		now.LiftedAt = at
	}
	if was.ID == "" || was.Lock != now.Lock || was.Status != now.Status {
		now.DueAt, now.Node, now.Attempts = update.At, "", 0
	}
	update.Now = now
	worse := was.Status.Inquiry() && !now.Status.Inquiry() || was.Status != Lost && now.Status == Lost
	tell := now.OpenWork && (!was.OpenWork || worse) && s.cfg.OperatorEmail != ""
	var domains []Domain
	if tell || what.mail != "" {
		var err error
		if domains, err = s.cfg.Store.ListDisputedDomains(ctx, now.Order); err != nil {
			return update, err
		}
	}
	if tell {
		update.OperatorMail = operatorMail(now, s.cfg.OperatorEmail, domains)
	}
	if what.action != "" && now.Customer != "" {
		update.AuditEvent = &registrar.AuditEvent{Actor: actor, Action: what.action, Customer: now.Customer, Object: now.Order, At: at}
	}
	update.Mail = mailOf(was.Lock, now, what.mail, domains)
	return update, nil
}

// unchanged reports whether an update has nothing to store.
func (u Update) unchanged() bool {
	was, now := u.Was, u.Now
	was.UpdatedAt, was.Customer = now.UpdatedAt, now.Customer
	return was == now
}

func (s *Service) afterStore(update Update) {
	if update.Was.Status != update.Now.Status {
		s.cfg.OnStatus(update.Now.Status)
	}
	if update.Mail != nil || update.OperatorMail != nil {
		s.cfg.MailQueued()
	}
	s.worker.Wake()
}

// check processes a due row: it fetches an undecided dispute, and carries its lock out at the
// registries.
func (s *Service) check(ctx context.Context, d Dispute) (Dispute, error) {
	call, cancel := s.worker.CallContext(ctx)
	defer cancel()
	lease := d.DueAt
	if d.Status.Open() || d.Lock.InForce() {
		fresh, err := s.refresh(call, d.ID)
		if err != nil {
			return d, err
		}
		if fresh.DueAt.IsZero() || !fresh.DueAt.Equal(lease) { // it was made due again
			return fresh, jobs.ErrSettled
		}
		d = fresh
	}
	progress, err := s.enforce(call, d)
	if err != nil {
		return d, err
	}
	d.Attempts = 0
	switch {
	case progress == domainchange.InProgress:
		return d, jobs.Again(changePoll)
	case progress == domainchange.Blocked:
		return d, jobs.Again(blockedPoll)
	case d.Lock == LockDenying:
		return d, s.finishDenial(call, d)
	case d.Status.Open() || d.Lock.InForce(): // a domain may still be provisioned
		return d, jobs.Again(checkInterval)
	}
	if err := s.cfg.Store.PostponeDispute(call, d.ID, d.DueAt, time.Time{}, 0); err != nil {
		return d, err
	}
	return d, nil
}

// enforce stores the domain changes that a lock needs, and returns the least progress of all.
func (s *Service) enforce(ctx context.Context, d Dispute) (domainchange.Progress, error) {
	least := domainchange.Done
	if d.Lock == LockNone || d.Order == "" {
		return least, nil
	}
	domains, err := s.cfg.Store.ListDisputedDomains(ctx, d.Order)
	if err != nil {
		return least, err
	}
	for _, domain := range domains {
		progress, err := s.enforceOn(ctx, d, domain)
		switch {
		case registrar.CodeOf(err) == registrar.NoSuchDomain: // it has just left
		case err != nil:
			return least, err
		default:
			least = min(least, progress)
		}
	}
	return least, nil
}

func (s *Service) enforceOn(ctx context.Context, d Dispute, domain Domain) (domainchange.Progress, error) {
	if d.Lock == LockLifted || d.Lock == LockKept || d.Lock == LockActive {
		progress, err := s.cfg.Changes.ReleaseFor(ctx, domain.Customer, domain.ID, d.ID)
		if err != nil || progress == domainchange.InProgress {
			return progress, err
		}
		if d.Lock == LockLifted {
			repeated, err := s.cfg.Changes.RepeatDisputed(ctx, domain.Customer, domain.ID)
			return min(progress, repeated), err
		}
	}
	secured, err := s.cfg.Changes.SecureFor(ctx, domain.Customer, domain.ID, d.ID)
	failpoint.Hit("dispute_secured")
	if err != nil || d.Lock != LockDenying && d.Lock != LockDenied {
		return secured, err
	}
	if !domain.transferable() {
		return domainchange.Done, nil // it can't be transferred, so there is nothing to deny
	}
	// While a transfer is pending, registries may refuse the lock. The hold counts then.
	if domain.TakenOut() {
		held, err := s.cfg.Changes.HoldFor(ctx, domain.Customer, domain.ID, d.ID)
		failpoint.Hit("dispute_held")
		if err != nil || held != domainchange.Done {
			return held, err
		}
	}
	rejected, err := s.cfg.Transfers.RejectUnpaid(ctx, domain.ID)
	if err != nil || !rejected {
		return domainchange.InProgress, err
	}
	return secured, nil
}

// finishDenial stores that transfers are denied: every gTLD domain is on hold, and no transfer is
// pending.
func (s *Service) finishDenial(ctx context.Context, d Dispute) error {
	denied := d
	denied.Lock = LockDenied
	update, err := s.newUpdate(ctx, d, denied, effect{mail: mailDenied}, registrar.Actor{})
	if err != nil {
		return err
	}
	stored, err := s.cfg.Store.StoreDispute(ctx, update)
	if err != nil {
		return err
	}
	if stored {
		s.afterStore(update)
	}
	return jobs.ErrSettled // it is due; on a conflict the other version is
}

func (s *Service) postpone(ctx context.Context, d Dispute, due time.Time) {
	if err := s.cfg.Store.PostponeDispute(ctx, d.ID, d.DueAt, due, d.Attempts); err != nil {
		s.cfg.Logger.ErrorContext(ctx, "dispute not postponed", "dispute", d.ID, "error", err.Error()) // its lease expires
	}
}

func (s *Service) onRetry(ctx context.Context, log *slog.Logger, d Dispute, _ error) {
	log.WarnContext(ctx, "dispute waiting", "dispute", d.ID, "status", string(d.Status))
}

// IsDisputed reports whether a domain is locked because of a dispute.
func (s *Service) IsDisputed(ctx context.Context, domain string) (bool, error) {
	return s.cfg.Store.IsDomainDisputed(ctx, domain)
}

// Get returns a dispute to an operator.
func (s *Service) Get(ctx context.Context, operator registrar.Actor, id string) (Dispute, error) {
	if err := operator.RequireOperator(); err != nil {
		return Dispute{}, err
	}
	d, found, err := s.cfg.Store.GetDispute(ctx, id)
	if err == nil && !found {
		err = registrar.NotFound(NoSuchDispute)
	}
	return d, err
}

// List returns a page of disputes: those with open work, the earliest deadline first, or the
// others, the newest first. next is what to continue with; empty on the last page. Of more than
// 1000 with open work, the others are listed once these are handled. They have no addresses.
func (s *Service) List(ctx context.Context, operator registrar.Actor, open bool, after string) (disputes []Dispute, next string, err error) {
	disputes, next, err = s.listWithAddresses(ctx, operator, open, after)
	for i := range disputes {
		disputes[i].CustomerEmail = ""
	}
	return disputes, next, err
}

// AuditedList is a page of disputes with open work and one of the others. Next and Older are what
// to continue with; empty on the last page.
type AuditedList struct {
	Open, Ended []Dispute
	Next, Older string
	// Unaudited means that the view could not be recorded, so the disputes have no addresses.
	Unaudited bool
}

// ListAudited returns both lists with the customers' addresses. The view is audited before they
// are read.
func (s *Service) ListAudited(ctx context.Context, operator registrar.Actor, openAfter, endedBefore string) (shown AuditedList, err error) {
	audited, err := s.cfg.RecordListView(ctx, operator, "disputes")
	if err != nil {
		return AuditedList{}, err
	}
	list := s.List
	if audited {
		list = s.listWithAddresses
	}
	shown.Unaudited = !audited
	if shown.Open, shown.Next, err = list(ctx, operator, true, openAfter); err != nil {
		return AuditedList{}, err
	}
	if shown.Ended, shown.Older, err = list(ctx, operator, false, endedBefore); err != nil {
		return AuditedList{}, err
	}
	return shown, nil
}

func (s *Service) listWithAddresses(ctx context.Context, operator registrar.Actor, open bool, after string) (disputes []Dispute, next string, err error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, "", err
	}
	if open {
		if disputes, err = s.cfg.Store.ListDisputes(ctx, true, "", maxOpenListed); err != nil {
			return nil, "", err
		}
		disputes, next = registrar.PageByDeadline(disputes, func(d Dispute) (string, time.Time) { return d.ID, d.Deadline() }, after, pageSize)
		return disputes, next, nil
	}
	disputes, err = s.cfg.Store.ListDisputes(ctx, false, after, pageSize+1)
	if len(disputes) > pageSize {
		disputes = disputes[:pageSize]
		next = disputes[pageSize-1].ID
	}
	return disputes, next, err
}

// ListLocking returns the disputes whose locks are in force, the newest first and at most
// maxOpenListed.
func (s *Service) ListLocking(ctx context.Context, operator registrar.Actor) ([]Dispute, error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, err
	}
	return s.cfg.Store.ListLockingDisputes(ctx, maxOpenListed)
}

// Domains returns the domains that the charge of a dispute paid for and that we still have.
func (s *Service) Domains(ctx context.Context, operator registrar.Actor, d Dispute) ([]Domain, error) {
	if err := operator.RequireOperator(); err != nil || d.Order == "" || d.Lock == LockNone && !d.Status.Inquiry() {
		return nil, err
	}
	return s.cfg.Store.ListDisputedDomains(ctx, d.Order)
}

// OfOrders returns the disputes of the orders of a list, by order.
func (s *Service) OfOrders(ctx context.Context, operator registrar.Actor, orders []string) (map[string][]Dispute, error) {
	if err := operator.RequireOperator(); err != nil || len(orders) == 0 {
		return nil, err
	}
	all, err := s.cfg.Store.ListDisputesOfOrders(ctx, orders)
	byOrder := make(map[string][]Dispute)
	for _, d := range all {
		byOrder[d.Order] = append(byOrder[d.Order], d)
	}
	return byOrder, err
}

// CountOpen returns how many disputes have open work. It stops counting at 1000.
func (s *Service) CountOpen(ctx context.Context, operator registrar.Actor) (int, error) {
	if err := operator.RequireOperator(); err != nil {
		return 0, err
	}
	return s.cfg.Store.CountOpenDisputes(ctx)
}
