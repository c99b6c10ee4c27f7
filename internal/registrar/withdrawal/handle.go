package withdrawal

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
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
	// Reply is for the sender; End is the day on which the contract ends, 2026-12-31, of a termination. If
	// one is set, the sender gets a mail with it. With an End, the sender's domains that would renew
	// beyond it expire with their terms instead.
	Reply, End string
}

// Close marks an open notice as handled.
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
	if _, err := time.Parse(time.DateOnly, closing.End); closing.End != "" && (err != nil || notice.Kind != Termination) {
		return registrar.Invalid(BadEnd)
	}
	done := Outcome{Notice: notice, Now: s.now(), At: s.cfg.Clock()}
	done.Notice.DoneAt, done.Notice.DoneBy, done.Notice.DoneNote = done.Now, operator.Through, note
	done.Notice.DoneReply, done.Notice.DoneEnds = reply, closing.End
	done.AuditEvent = registrar.AuditEvent{Actor: operator, Action: NoticeHandled, Object: notice.ID, At: done.Now}
	if closing.End != "" {
		if done.Contracts, err = s.endedBy(ctx, operator, notice, closing.End, done.Now); err != nil {
			return err
		}
	}
	if reply != "" || closing.End != "" {
		data := notice.mailData()
		data["reply"], data["end"] = reply, closing.End
		notice.addLateness(data, done.Now)
		named, err := s.ListNamedDomains(ctx, notice)
		if err != nil {
			return err
		}
		// Nothing has verified the address: only its own account's domains are named.
		addNamedDomains(data, slices.DeleteFunc(namedBy(notice, named[0]), func(d NamedDomain) bool { return !d.SentBy(notice) }))
		done.Mails = []registrar.Mail{{Kind: registrar.MailNoticeHandled, To: notice.Email, Language: notice.Language, Data: data}}
	}
	if err := s.cfg.Store.StoreOutcome(ctx, done); err != nil {
		return err
	}
	if len(done.Mails) > 0 {
		s.cfg.MailQueued()
	}
	return nil
}

// namedBy returns those of the domains of ListNamedDomains that a notice is about: one that names domains
// is not about the others of its orders.
func namedBy(notice Notice, domains []NamedDomain) (named []NamedDomain) {
	mentions := parseMentions(notice.Contract)
	for _, domain := range domains {
		if slices.Contains(mentions, domain.Name) {
			named = append(named, domain)
		}
	}
	if len(named) == 0 {
		named = slices.Clone(domains)
	}
	return named
}

// addNamedDomains adds the first domain and their number to the Data of a mail, for its subject. They are
// ours, not the sender's words.
func addNamedDomains(data map[string]string, domains []NamedDomain) {
	if len(domains) > 0 {
		data["domain"], data["items"] = domains[0].Name, strconv.Itoa(len(domains))
	}
}

// endedBy returns the sender's domains that a notice is about and whose terms don't end before a day:
// a renewal would outlast the contract.
func (s *Service) endedBy(ctx context.Context, operator registrar.Actor, notice Notice, end string, now time.Time) (ended []EndedContract, err error) {
	named, err := s.ListNamedDomains(ctx, notice)
	if err != nil {
		return nil, err
	}
	for _, domain := range namedBy(notice, named[0]) {
		theirs := domain.SentBy(notice) || notice.Customer != "" && notice.Customer == domain.Customer
		if !theirs || !domain.Endable() || domain.PaidUntil.UTC().Format(time.DateOnly) < end {
			continue
		}
		ended = append(ended, endContract(operator, domain, now))
	}
	return ended, nil
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
