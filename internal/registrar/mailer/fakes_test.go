package mailer_test

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
)

const recipient = "erika@kundin.example"

// memStore is a store in memory.
type memStore struct {
	mu       sync.Mutex
	mails    map[string]mailer.QueuedMail
	links    []mailer.Link
	events   []string // in their order: link, sent
	evidence []mailer.Evidence
	// withdrawn deletes mails after they were claimed.
	withdrawn bool
}

func newMemStore(kinds ...registrar.MailKind) *memStore {
	s := &memStore{mails: map[string]mailer.QueuedMail{}}
	for _, kind := range kinds {
		s.add(kind)
	}
	return s
}

func (s *memStore) add(kind registrar.MailKind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := registrar.NewID("mail_", time.Now())
	now := time.Now().Truncate(time.Microsecond)
	s.mails[id] = mailer.QueuedMail{ID: id, Kind: kind, Customer: "cus_1", To: recipient, Language: "de", CreatedAt: now, DueAt: now}
}

func (s *memStore) record(event string) { s.events = append(s.events, event) }

func (s *memStore) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.mails)
}

func (s *memStore) ClaimDueMails(_ context.Context, now, lease time.Time, limit int) ([]mailer.QueuedMail, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var claimed []mailer.QueuedMail
	for id, mail := range s.mails {
		if !mail.DueAt.After(now) && len(claimed) < limit {
			mail.DueAt = lease
			mail.Attempts++
			s.mails[id] = mail
			claimed = append(claimed, mail)
		}
	}
	return claimed, nil
}

func (s *memStore) StoreLink(_ context.Context, id string, lease time.Time, link mailer.Link) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.withdrawn || !s.mails[id].DueAt.Equal(lease) {
		return false, nil
	}
	s.links = append(s.links, link)
	s.record("link")
	return true, nil
}

func (s *memStore) PostponeMail(_ context.Context, id string, lease, due time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if mail := s.mails[id]; mail.DueAt.Equal(lease) {
		mail.DueAt = due
		s.mails[id] = mail
	}
	return nil
}

func (s *memStore) DeleteMail(_ context.Context, id string, evidence *mailer.Evidence) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if evidence != nil {
		s.evidence = append(s.evidence, *evidence)
	}
	delete(s.mails, id)
	return nil
}

// fakeSender is a scriptable mail server.
type fakeSender struct {
	store *memStore
	mu    sync.Mutex
	sent  []mailer.Message
	times []time.Time
	// respond returns the result of the n-th message; nil accepts all.
	respond func(ctx context.Context, n int) error
}

func (p *fakeSender) Send(ctx context.Context, message mailer.Message) (mailer.Delivery, error) {
	p.mu.Lock()
	p.sent = append(p.sent, message)
	p.times = append(p.times, time.Now())
	n := len(p.sent)
	p.mu.Unlock()
	p.store.mu.Lock()
	p.store.record("sent")
	p.store.mu.Unlock()
	delivery := mailer.Delivery{Subject: "subject of " + string(message.Kind), Text: "text" + message.Link, Response: "2.0.0 queued"}
	if p.respond == nil {
		return delivery, nil
	}
	return delivery, p.respond(ctx, n)
}

func (p *fakeSender) messages() []mailer.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sent)
}
