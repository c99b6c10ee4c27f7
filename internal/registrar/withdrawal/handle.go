package withdrawal

import (
	"context"
	"slices"
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

// Close marks an open notice as handled. The note says what was done about it.
func (s *Service) Close(ctx context.Context, operator registrar.Actor, id, note string) error {
	notice, err := s.Get(ctx, operator, id)
	if err != nil {
		return err
	}
	note, ok := cleanNote(note)
	if !ok {
		return registrar.Invalid(BadNote)
	}
	notice.DoneAt, notice.DoneBy, notice.DoneNote = s.now(), operator.Through, note
	closed, err := s.cfg.Store.MarkWithdrawalNoticeDone(ctx, notice, registrar.AuditEvent{
		Actor: operator, Action: NoticeHandled, Object: notice.ID, At: notice.DoneAt,
	})
	if err == nil && !closed {
		err = registrar.Conflict(AlreadyHandled)
	}
	return err
}

// cleanNote returns the note as stored; false if it is empty, too long or not printable.
func cleanNote(note string) (string, bool) {
	note = strings.TrimSpace(strings.ReplaceAll(note, "\r\n", "\n"))
	return note, note != "" && utf8.RuneCountInString(note) <= MaxNote && utf8.ValidString(note) && !strings.ContainsFunc(note, registrar.IsUnprintableInLines)
}
