package dispute

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Decide stores an operator's decision about a lost dispute, with its reason. version is that of
// the dispute as the operator saw it.
func (s *Service) Decide(ctx context.Context, operator registrar.Actor, id string, version int64, decision Decision, note string) error {
	was, err := s.decidable(ctx, operator, id, version, decision, note)
	if err != nil {
		return err
	}
	now, what := decide(was, decision)
	now.Note, now.DecidedBy, now.DecidedAt = trimNote(note), operator.Through, s.cfg.Now().Truncate(time.Microsecond)
	update, err := s.newUpdate(ctx, was, now, what, operator)
	if err != nil {
		return err
	}
	stored, err := s.cfg.Store.StoreDispute(ctx, update)
	switch {
	case err != nil:
		return err
	case !stored:
		return registrar.Conflict(NotDecidable)
	}
	failpoint.Hit("dispute_decided")
	s.afterStore(update)
	return nil
}

// PreviewDecision returns the domains that Decide would affect, or its error. It stores nothing.
func (s *Service) PreviewDecision(ctx context.Context, operator registrar.Actor, id string, version int64, decision Decision, note string) ([]Domain, error) {
	d, err := s.decidable(ctx, operator, id, version, decision, note)
	if err != nil {
		return nil, err
	}
	return s.Domains(ctx, operator, d)
}

// decidable returns a dispute about which a decision is possible.
func (s *Service) decidable(ctx context.Context, operator registrar.Actor, id string, version int64, decision Decision, note string) (Dispute, error) {
	d, err := s.Get(ctx, operator, id)
	if err != nil {
		return d, err
	}
	note = trimNote(note)
	switch {
	case decision != Keep && decision != Lift && decision != Deny:
		return d, registrar.Invalid(BadDecision)
	case note == "" || !utf8.ValidString(note) || utf8.RuneCountInString(note) > MaxNote || strings.ContainsFunc(note, registrar.IsUnprintableInLines):
		return d, registrar.Invalid(NoteMissing)
	case d.Version != version || !d.Allows(decision):
		return d, registrar.Conflict(NotDecidable)
	}
	return d, nil
}

func trimNote(note string) string {
	return strings.TrimSpace(strings.ReplaceAll(note, "\r\n", "\n"))
}
