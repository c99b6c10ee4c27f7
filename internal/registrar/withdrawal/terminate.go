package withdrawal

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
)

// Error codes of terminations.
const (
	// NothingChosen (KindInvalid): no domain was chosen.
	NothingChosen registrar.Code = "no_domain_chosen"
	// TerminationChanged (KindConflict): a domain has changed since the preview, or its contract
	// can't be ended any more.
	TerminationChanged registrar.Code = "termination_changed"
)

// Audited actions that end the contract of a domain, whose name is their object: it expires at the end
// of its term.
const (
	ContractTerminated registrar.Action = "contract_terminated"
	ContractWithdrawn  registrar.Action = "contract_withdrawn" // something was refunded for it
)

// NamedDomain is a domain that a notice may concern: a customer holds it, whether it was ordered,
// transferred here or imported.
type NamedDomain struct {
	ID, Customer, Name, TLD string
	Email                   string // the account's, to compare it with the sender's
	Status                  registrar.DomainStatus
	PaidUntil               time.Time
	Choice                  registrar.TermEndChoice // at the end of the term
}

// Endable reports whether a termination can end the contract: it ends with a term that is paid,
// or was.
func (d NamedDomain) Endable() bool {
	return (d.Status == registrar.DomainActive || d.Status == registrar.DomainExpired) && !d.PaidUntil.IsZero()
}

// Renews reports whether the domain renews automatically, by a consent that ends with the contract.
func (d NamedDomain) Renews() bool { return d.Choice == registrar.TermEndRenew }

// SentBy reports whether the notice came from the address of the domain's account.
func (d NamedDomain) SentBy(notice Notice) bool { return strings.EqualFold(d.Email, notice.Email) }

// BelongsTo reports whether the domain is the sender's: the notice came from the address of its account, or
// was sent by it.
func (d NamedDomain) BelongsTo(notice Notice) bool {
	return d.SentBy(notice) || notice.Customer != "" && notice.Customer == d.Customer
}

// EndsLater reports whether the term of the domain ends after the day that the notice states: the
// contract ends with the term.
func (d NamedDomain) EndsLater(notice Notice) bool {
	end := notice.EndDay()
	return !end.IsZero() && d.PaidUntil.UTC().Truncate(24*time.Hour).After(end)
}

// EndsTooEarly reports whether the term of the domain ends before the day that the notice states:
// the customer wants to keep it for another term.
func (d NamedDomain) EndsTooEarly(notice Notice) bool {
	return d.PaidUntil.UTC().Before(notice.EndDay())
}

// state changes with everything that a preview shows of the domain.
func (d NamedDomain) state() string {
	return strings.Join([]string{d.ID, string(d.Status), string(d.Choice), strconv.FormatInt(d.PaidUntil.Unix(), 36)}, ".")
}

// ListNamedDomains returns the domains that each notice names, and those of the orders that it
// names. Like ListRelatedOrders, they are for the operator only and read in one query.
func (s *Service) ListNamedDomains(ctx context.Context, notices ...Notice) ([][]NamedDomain, error) {
	return related(notices, func(d NamedDomain) string { return d.ID }, func(*NamedDomain, NamedDomain) {}, func(mentions []string) (map[string][]NamedDomain, error) {
		return s.cfg.Store.ListNamedDomains(ctx, mentions, maxDomains)
	})
}

// TerminationRequested is what an operator decides about a termination.
type TerminationRequested struct {
	Notice  string
	Domains []string // the ids of those whose contract ends
	Note    string   // closes the notice
	Seen    string   // that of the preview which the operator confirms
}

// TerminationPreview is what a termination would do.
type TerminationPreview struct {
	Notice  Notice
	Domains []NamedDomain
	Seen    string
}

// PreviewTermination returns what Terminate would do. It changes nothing.
func (s *Service) PreviewTermination(ctx context.Context, operator registrar.Actor, request TerminationRequested) (preview TerminationPreview, err error) {
	if preview.Notice, err = s.Get(ctx, operator, request.Notice); err != nil {
		return preview, err
	}
	switch {
	case preview.Notice.Kind != Termination:
		return preview, registrar.NotFound(NoSuchNotice)
	case !preview.Notice.Open():
		return preview, registrar.Conflict(AlreadyHandled)
	case len(request.Domains) == 0:
		return preview, registrar.Invalid(NothingChosen)
	}
	if _, ok := cleanNote(request.Note); !ok {
		return preview, registrar.Invalid(BadNote)
	}
	named, err := s.ListNamedDomains(ctx, preview.Notice)
	if err != nil {
		return preview, err
	}
	var states []string
	for _, domain := range named[0] {
		if slices.Contains(request.Domains, domain.ID) && domain.Endable() {
			preview.Domains, states = append(preview.Domains, domain), append(states, domain.state())
		}
	}
	if chosen := slices.Compact(slices.Sorted(slices.Values(request.Domains))); len(preview.Domains) != len(chosen) {
		return preview, registrar.Conflict(TerminationChanged)
	}
	preview.Seen = strings.Join(states, "-")
	return preview, nil
}

// Outcome is what the store writes in one transaction when a notice is handled.
type Outcome struct {
	Notice     Notice // with DoneAt and the like
	AuditEvent registrar.AuditEvent
	Contracts  []EndedContract
	Mails      []registrar.Mail
	// Now is the business time, At the wall clock.
	Now, At time.Time
}

// EndedContract is a domain that expires at the end of its term.
type EndedContract struct {
	Domain     NamedDomain // as it was when it was read
	AuditEvent registrar.AuditEvent
}

func endContract(operator registrar.Actor, notice Notice, domain NamedDomain, now time.Time) EndedContract {
	action := ContractTerminated
	if notice.Kind == Withdrawal {
		action = ContractWithdrawn
	}
	return EndedContract{
		Domain:     domain,
		AuditEvent: registrar.AuditEvent{Actor: operator, Action: action, Customer: domain.Customer, Object: domain.Name, At: now},
	}
}

// Terminate ends the contracts of the chosen domains with their terms: automatic renewal ends,
// and each account gets a mail with the days. The notice is closed in the same transaction. If
// anything has changed since the preview, nothing happens.
func (s *Service) Terminate(ctx context.Context, operator registrar.Actor, request TerminationRequested) error {
	preview, err := s.PreviewTermination(ctx, operator, request)
	if err != nil {
		return err
	}
	if preview.Seen != request.Seen {
		return registrar.Conflict(TerminationChanged)
	}
	done := Outcome{Notice: preview.Notice, Now: s.now(), At: s.cfg.Clock()}
	done.Notice.DoneAt, done.Notice.DoneBy = done.Now, operator.Through
	done.Notice.DoneNote, _ = cleanNote(request.Note)
	done.AuditEvent = registrar.AuditEvent{Actor: operator, Action: NoticeHandled, Object: done.Notice.ID, At: done.Now}
	mails := make(map[string]*registrar.Mail)
	var ends []string
	for _, domain := range preview.Domains {
		ends = append(ends, domain.PaidUntil.UTC().Format(time.DateOnly))
		done.Contracts = append(done.Contracts, endContract(operator, preview.Notice, domain, done.Now))
		if mails[domain.Customer] == nil {
			mails[domain.Customer] = &registrar.Mail{Kind: registrar.MailContractEnds, Customer: domain.Customer, Data: map[string]string{
				"number": done.Notice.ID, "received_at": done.Notice.At.UTC().Format(time.RFC3339), "ground": string(done.Notice.Ground),
			}}
			preview.Notice.addLateness(mails[domain.Customer].Data, done.Now)
		}
		addDomainData(mails[domain.Customer].Data, domain, done.Now)
	}
	done.Notice.DoneEnds = strings.Join(slices.Compact(slices.Sorted(slices.Values(ends))), " ")
	for _, mail := range mails {
		done.Mails = append(done.Mails, *mail)
	}
	if err := s.cfg.Store.StoreOutcome(ctx, done); err != nil {
		return err
	}
	s.cfg.MailQueued()
	return nil
}

// addDomainData adds a line to the Data of a mail. The first line is also that of the subject and
// of the link, if it stays the only one.
func addDomainData(data map[string]string, domain NamedDomain, now time.Time) {
	lines, _ := strconv.Atoi(data["items"]) // none before the first
	data["items"] = strconv.Itoa(lines + 1)
	day := domain.PaidUntil.UTC().Format(time.DateOnly)
	if lines == 0 {
		data["domain"], data[registrar.NoticeDomain], data["paid_until"] = domain.Name, domain.ID, day
	}
	// After the term, domains are handed over to the registry, deleted, or some of each.
	action := lifecycle.UnpaidDelete
	if lifecycle.ActionOnExpiry(domain.TLD) == lifecycle.UnpaidTransit {
		action = lifecycle.UnpaidTransit
	}
	switch {
	case lines == 0:
		data["unpaid"] = string(action)
	case data["unpaid"] != string(action):
		data["unpaid"] = "mixed"
	}
	if lifecycle.EndsWithTerm(domain.TLD, now.Before(domain.PaidUntil)) {
		data["over"] = "true"
	}
	of := "item" + data["items"] + "_"
	data[of+"name"], data[of+"domain"], data[of+"paid_until"] = domain.Name, domain.Name, day
	data[of+registrar.NoticeDomain], data[of+registrar.NoticeTerm] = domain.ID, registrar.NoticeTermText(domain.PaidUntil)
	if domain.Renews() {
		data[of+"renewed"] = strconv.FormatBool(true)
	}
}
