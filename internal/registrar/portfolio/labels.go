package portfolio

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Limits of folders and notes.
const (
	MaxFolders      = 50 // of an account
	MaxFolderLength = 40 // in characters
	MaxNoteLength   = 1000
)

// SetLabels stores the folder and the note of a domain of the actor's account; empty ones
// remove them.
func (s *Service) SetLabels(ctx context.Context, actor registrar.Actor, domain, folder, note string) error {
	note = strings.TrimSpace(strings.ReplaceAll(note, "\r\n", "\n"))
	isControl := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
	if utf8.RuneCountInString(note) > MaxNoteLength || !utf8.ValidString(note) || strings.ContainsFunc(note, isControl) {
		return registrar.Invalid(NoteInvalid)
	}
	return s.setLabels(ctx, actor, domain, folder, &note)
}

// SetFolder is SetLabels without the note.
func (s *Service) SetFolder(ctx context.Context, actor registrar.Actor, domain, folder string) error {
	return s.setLabels(ctx, actor, domain, folder, nil)
}

func (s *Service) setLabels(ctx context.Context, actor registrar.Actor, domain, folder string, note *string) error {
	if err := actor.RequirePerson(); err != nil {
		return err
	}
	folder = strings.Join(strings.Fields(folder), " ")
	if utf8.RuneCountInString(folder) > MaxFolderLength || !utf8.ValidString(folder) || strings.ContainsFunc(folder, unicode.IsControl) {
		return registrar.Invalid(FolderInvalid)
	}
	held, err := s.Get(ctx, actor, domain)
	if err != nil {
		return err
	}
	if held.Folder == folder && (note == nil || held.Note == *note) {
		return nil
	}
	event := registrar.AuditEvent{Actor: actor, Action: LabelsChanged, Customer: actor.Customer, Object: held.Name, At: s.now()}
	return s.store.SetLabels(ctx, actor.Customer, domain, folder, note, MaxFolders, event)
}
