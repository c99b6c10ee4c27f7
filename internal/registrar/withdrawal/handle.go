package withdrawal

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
)

// Now returns the time by which deadlines are judged.
func (s *Service) Now() time.Time { return s.now() }

// ListOpen returns the open notices, the earliest deadline first.
func (s *Service) ListOpen(ctx context.Context, operator registrar.Actor) ([]Notice, error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, err
	}
	open, err := s.cfg.Store.ListOpenWithdrawalNotices(ctx, maxOpenListed)
	slices.SortStableFunc(open, func(a, b Notice) int { return a.Deadline().Compare(b.Deadline()) })
	return open, err
}

// CountOpen returns the number of open notices. It stops counting at 1000.
func (s *Service) CountOpen(ctx context.Context, operator registrar.Actor) (int, error) {
	if err := operator.RequireOperator(); err != nil {
		return 0, err
	}
	return s.cfg.Store.CountOpenWithdrawalNotices(ctx)
}

// ListHandled returns a page of handled notices, the newest first. older is the id to
// continue with; empty on the last page.
func (s *Service) ListHandled(ctx context.Context, operator registrar.Actor, before string) (handled []Notice, older string, err error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, "", err
	}
	handled, err = s.cfg.Store.ListHandledWithdrawalNotices(ctx, before, handledPage+1)
	if len(handled) > handledPage {
		handled = handled[:handledPage]
		older = handled[handledPage-1].ID
	}
	return handled, older, err
}

// Get returns a notice.
func (s *Service) Get(ctx context.Context, operator registrar.Actor, id string) (Notice, error) {
	if err := operator.RequireOperator(); err != nil {
		return Notice{}, err
	}
	notice, found, err := s.cfg.Store.GetWithdrawalNotice(ctx, id)
	if err == nil && !found {
		err = registrar.NotFound(NoSuchNotice)
	}
	return notice, err
}

// Closing is how an operator closes a notice.
type Closing struct {
	Note string // what was done about it
	// Reply is for the sender; End is the day on which the contract ends, 2026-12-31, of a termination, and
	// one of EndDays. If one is set, the sender gets a mail with it. With an End, the sender's domains that
	// would renew beyond it expire with their terms instead.
	Reply, End string
}

// Close marks an open notice as handled. The contracts that ended with it no longer renew; all others
// do, as before: a reply alone may be a refusal.
func (s *Service) Close(ctx context.Context, operator registrar.Actor, id string, closing Closing) error {
	notice, err := s.Get(ctx, operator, id)
	if err != nil {
		return err
	}
	note, ok := cleanNote(closing.Note)
	if !ok {
		return registrar.Invalid(BadNote)
	}
	reply, ok := cleanText(closing.Reply, MaxReply)
	if !ok {
		return registrar.Invalid(BadReply)
	}
	named, err := s.ListNamedDomains(ctx, notice)
	if err != nil {
		return err
	}
	about := notice.about(named[0])
	var ended []NamedDomain
	switch {
	case closing.End != "":
		if err := checkEnd(notice, named[0], closing.End); err != nil {
			return err
		}
		ended = notice.endedOn(closing.End, about)
	case notice.Kind == Withdrawal:
		if ended, err = s.cfg.Store.ListRefundedDomains(ctx, notice.ID, about); err != nil {
			return err
		}
	}
	done := Outcome{Notice: notice, Now: s.now(), At: s.cfg.Clock()}
	done.Notice.DoneAt, done.Notice.DoneBy, done.Notice.DoneNote = done.Now, operator.Through, note
	done.Notice.DoneReply, done.Notice.DoneEnds = reply, closing.End
	done.AuditEvent = registrar.AuditEvent{Actor: operator, Action: NoticeHandled, Object: notice.ID, At: done.Now}
	for _, domain := range ended {
		if domain.Endable() {
			done.Contracts = append(done.Contracts, endContract(operator, notice, domain, done.Now))
		}
	}
	answered := reply != "" || closing.End != ""
	if answered {
		done.Mails = []registrar.Mail{answerMail(notice, reply, closing.End, about, done.Now)}
	}
	renewed := 0
	for _, contract := range done.Contracts {
		switch d := contract.Domain; {
		case !d.Renews():
		case answered && d.SentBy(notice):
			renewed++
			done.Mails[0].Data["item"+strconv.Itoa(renewed)+"_name"] = d.Name
		default: // the sender gets no mail, or the account has another address than its notice
			done.Mails = append(done.Mails, renewalOffMail(notice, d, done.Now))
		}
	}
	if err := s.cfg.Store.StoreOutcome(ctx, done); err != nil {
		return err
	}
	if len(done.Mails) > 0 {
		s.cfg.MailQueued()
	}
	return nil
}

// answerMail returns the mail to the sender with the operator's answer.
func answerMail(notice Notice, reply, end string, about []NamedDomain, now time.Time) registrar.Mail {
	data := notice.mailData()
	data["reply"], data["end"] = reply, end
	notice.addLateness(data, now)
	// Nothing has verified the address: only its own account's domains are named.
	addNamedDomains(data, slices.DeleteFunc(slices.Clone(about), func(d NamedDomain) bool { return !d.SentBy(notice) }))
	return registrar.Mail{Kind: registrar.MailNoticeHandled, To: notice.Email, Language: notice.Language, Data: data}
}

// renewalOffMail tells an account that a notice has ended the consent to the automatic renewal of its domain.
func renewalOffMail(notice Notice, domain NamedDomain, now time.Time) registrar.Mail {
	mail := registrar.Mail{Kind: registrar.MailRenewalOff, Customer: domain.Customer, Data: map[string]string{
		"change": "terminated", "number": notice.ID, "domain": domain.Name, "paid_until": domain.PaidUntil.UTC().Format(time.DateOnly),
		registrar.NoticeDomain: domain.ID, registrar.NoticeTerm: registrar.NoticeTermText(domain.PaidUntil),
		registrar.MailOccurredAt: now.UTC().Format(time.RFC3339),
	}}
	if notice.Kind == Withdrawal {
		mail.Data["change"] = "withdrawn"
	}
	if lifecycle.PolicyOf(domain.TLD).Lasts() {
		mail.Data["lasts"] = strconv.FormatBool(true)
	}
	return mail
}

// addNamedDomains adds the first domain and their number to the Data of a mail, for its subject. They are
// ours, not the sender's words. The lines item1_name and so on are those whose automatic renewal ends.
func addNamedDomains(data map[string]string, domains []NamedDomain) {
	if len(domains) > 0 {
		data["domain"], data["items"] = domains[0].Name, strconv.Itoa(len(domains))
	}
}

// checkEnd requires that a contract can end on a day, given the domains that its notice names.
func checkEnd(notice Notice, named []NamedDomain, end string) error {
	day, err := time.Parse(time.DateOnly, end)
	if err != nil || notice.Kind != Termination {
		return registrar.Invalid(BadEnd)
	}
	if days := notice.EndDays(named); !days.has(day) {
		return &registrar.Error{Kind: registrar.KindInvalid, Code: EndOutOfRange, Detail: days.String()}
	}
	return nil
}

// EndDays are the days on which a terminated contract can end. Last is zero if no term is known.
type EndDays struct{ First, Last time.Time }

// EndDays returns the days on which the contract of a termination can end, given the domains that it names: from its
// arrival, when a termination for cause takes effect, to the end of the longest paid term. A contract
// whose term was over before ended with it.
func (d Notice) EndDays(named []NamedDomain) EndDays {
	about := d.about(named)
	if theirs := slices.DeleteFunc(slices.Clone(about), func(domain NamedDomain) bool { return !domain.BelongsTo(d) }); len(theirs) > 0 {
		about = theirs
	}
	days := EndDays{First: d.At.UTC().Truncate(24 * time.Hour)}
	for _, domain := range about {
		if end := domain.PaidUntil.UTC().Truncate(24 * time.Hour); !domain.PaidUntil.IsZero() && end.After(days.Last) {
			days.Last = end
		}
	}
	if !days.Last.IsZero() && days.Last.Before(days.First) {
		days.First, days.Last = days.Last, days.First
	}
	return days
}

func (d EndDays) has(day time.Time) bool {
	return !day.Before(d.First) && (d.Last.IsZero() || !day.After(d.Last))
}

// String is for the command line.
func (d EndDays) String() string {
	if d.Last.IsZero() {
		return "from " + d.First.Format(time.DateOnly)
	}
	return d.First.Format(time.DateOnly) + " to " + d.Last.Format(time.DateOnly)
}

// about returns those of the named domains that a notice is about: one that names domains is not about
// the others of its orders.
func (d Notice) about(named []NamedDomain) []NamedDomain {
	mentions := d.Mentions()
	others := func(domain NamedDomain) bool { return !slices.Contains(mentions, domain.Name) }
	if about := slices.DeleteFunc(slices.Clone(named), others); len(about) > 0 {
		return about
	}
	return named
}

// endedOn returns the sender's domains whose terms don't end before the day on which their contract ends:
// a renewal would outlast it.
func (d Notice) endedOn(end string, about []NamedDomain) []NamedDomain {
	return slices.DeleteFunc(slices.Clone(about), func(domain NamedDomain) bool {
		return !domain.BelongsTo(d) || domain.PaidUntil.UTC().Format(time.DateOnly) < end
	})
}

// cleanNote returns the note as stored; false if it is empty, too long or not printable.
func cleanNote(note string) (string, bool) {
	note, ok := cleanText(note, MaxNote)
	return note, ok && note != ""
}

// cleanText returns a text of several lines as stored; false if it is too long or not printable.
func cleanText(text string, limit int) (string, bool) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	return text, utf8.RuneCountInString(text) <= limit && utf8.ValidString(text) && !strings.ContainsFunc(text, registrar.IsUnprintableInLines)
}
