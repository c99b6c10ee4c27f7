package letters_test

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/letters"
)

const recipient = "erika@kundin.example"

// shelf is a store in memory.
type shelf struct {
	mu     sync.Mutex
	stored map[string]letters.Stored
	links  []letters.Link
	events []string // in their order: link, sent
	// withdrawn says that letters vanish after they were claimed.
	withdrawn bool
}

func newShelf(kinds ...registrar.LetterKind) *shelf {
	s := &shelf{stored: map[string]letters.Stored{}}
	for _, kind := range kinds {
		s.add(kind)
	}
	return s
}

func (s *shelf) add(kind registrar.LetterKind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := registrar.NewID("mail_", time.Now())
	now := time.Now().Truncate(time.Microsecond)
	s.stored[id] = letters.Stored{ID: id, Kind: kind, Customer: "cus_1", To: recipient, Language: "de", CreatedAt: now, DueAt: now}
}

func (s *shelf) note(event string) { s.events = append(s.events, event) }

func (s *shelf) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.stored)
}

func (s *shelf) DueLetters(_ context.Context, now time.Time, limit int) ([]letters.Stored, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var due []letters.Stored
	for _, letter := range s.stored {
		if !letter.DueAt.After(now) && len(due) < limit {
			due = append(due, letter)
		}
	}
	return due, nil
}

func (s *shelf) ClaimLetter(_ context.Context, id string, wasDue, lease time.Time) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	letter, found := s.stored[id]
	if !found || !letter.DueAt.Equal(wasDue) {
		return false, nil
	}
	letter.DueAt = lease
	letter.Attempts++
	s.stored[id] = letter
	return true, nil
}

func (s *shelf) StoreLink(_ context.Context, id string, lease time.Time, link letters.Link) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.withdrawn || !s.stored[id].DueAt.Equal(lease) {
		return false, nil
	}
	s.links = append(s.links, link)
	s.note("link")
	return true, nil
}

func (s *shelf) PostponeLetter(_ context.Context, id string, lease, due time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if letter := s.stored[id]; letter.DueAt.Equal(lease) {
		letter.DueAt = due
		s.stored[id] = letter
	}
	return nil
}

func (s *shelf) RemoveLetter(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.stored, id)
	return nil
}

// post is a mail server that does as it is told.
type post struct {
	shelf *shelf
	mu    sync.Mutex
	sent  []letters.Message
	times []time.Time
	// answer is what becomes of the n-th sending; nil means all arrive.
	answer func(ctx context.Context, n int) error
}

func (p *post) Send(ctx context.Context, message letters.Message) error {
	p.mu.Lock()
	p.sent = append(p.sent, message)
	p.times = append(p.times, time.Now())
	n := len(p.sent)
	p.mu.Unlock()
	p.shelf.mu.Lock()
	p.shelf.note("sent")
	p.shelf.mu.Unlock()
	if p.answer == nil {
		return nil
	}
	return p.answer(ctx, n)
}

func (p *post) messages() []letters.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sent)
}
