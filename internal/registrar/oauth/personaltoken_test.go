package oauth

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// stubStore holds one token and counts queries.
type stubStore struct {
	mu      sync.Mutex
	calls   int
	fails   bool
	written []TokenUse
	batches []int
	mail    registrar.Mail
}

func (s *stubStore) CreatePersonalAccessToken(_ context.Context, _ PersonalAccessToken, _ registrar.SecretHash, _ int, _ registrar.AuditEvent, mail registrar.Mail) error {
	s.calls++
	s.mail = mail
	return nil
}

func (s *stubStore) ListActivePersonalAccessTokens(context.Context, string) ([]PersonalAccessToken, error) {
	s.calls++
	return nil, nil
}

func (s *stubStore) ListPersonalAccessTokens(context.Context, string, int) ([]PersonalAccessToken, error) {
	s.calls++
	return nil, nil
}

func (s *stubStore) GetPersonalAccessToken(context.Context, string) (PersonalAccessToken, error) {
	s.calls++
	return PersonalAccessToken{}, nil
}

func (s *stubStore) RevokePersonalAccessToken(context.Context, string, string, registrar.AuditEvent) error {
	s.calls++
	return nil
}

func (s *stubStore) GetTokenState(_ context.Context, hash registrar.SecretHash) (TokenState, bool, error) {
	s.calls++
	return TokenState{TokenID: "tok_" + string(hash), Customer: "cus_1", Confirmed: true}, true, nil
}

func (s *stubStore) RecordTokenUses(_ context.Context, uses []TokenUse) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails {
		return errors.New("no disk")
	}
	s.written = append(s.written, uses...)
	s.batches = append(s.batches, len(uses))
	return nil
}

func (s *stubStore) drain() ([]TokenUse, []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.written, s.batches = nil, nil }()
	return s.written, s.batches
}

func newService(t *testing.T, cfg Config) *Service {
	t.Helper()
	service, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return service
}

func TestVerify_MalformedTokenSkipsStore(t *testing.T) {
	t.Parallel()
	store := &stubStore{}
	service := newService(t, Config{Store: store})
	good, _ := registrar.NewSecret(registrar.PersonalToken)
	session, _ := registrar.NewSecret(registrar.SessionSecret)
	last := "0"
	if strings.HasSuffix(good, last) {
		last = "1"
	}
	for _, bearer := range []string{"", "x", session, good[:len(good)-1] + last, good + " ", " " + good, strings.ToUpper(good)} {
		if _, err := service.Verify(t.Context(), bearer); !errors.Is(err, &registrar.Error{Kind: registrar.KindUnauthenticated, Code: BadToken}) {
			t.Errorf("got %v", err)
		}
	}
	if store.calls != 0 {
		t.Errorf("the store was queried %d times", store.calls)
	}
	if _, err := service.Verify(t.Context(), good); err != nil || store.calls != 1 {
		t.Errorf("a valid token: %v after %d queries", err, store.calls)
	}
}

func TestCreate_MailNamesTokenAndAddress(t *testing.T) {
	t.Parallel()
	store := &stubStore{}
	service := newService(t, Config{Store: store})
	actor := registrar.Actor{
		Kind: registrar.ActorPerson, Customer: "cus_1", SignedInAt: time.Now(), Address: netip.MustParseAddr("192.0.2.7"),
	}
	if _, _, err := service.Create(t.Context(), actor, TokenParams{Name: "Laptop"}); err != nil {
		t.Fatal(err)
	}
	if data := store.mail.Data; data["name"] != "Laptop" || data["address"] != "192.0.2.7" || store.mail.Customer != "cus_1" {
		t.Errorf("the mail is %+v", store.mail)
	}
}

func TestService_PermissionsByActor(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)
	actors := map[string]registrar.Actor{
		"recent":       {Kind: registrar.ActorPerson, Customer: "cus_1", SignedInAt: now.Add(-9 * time.Minute)},
		"stale":        {Kind: registrar.ActorPerson, Customer: "cus_1", SignedInAt: now.Add(-11 * time.Minute)},
		"nobody":       {Kind: registrar.ActorPerson, SignedInAt: now},
		"token":        {Kind: registrar.ActorToken, Customer: "cus_1", SignedInAt: now},
		"application":  {Kind: registrar.ActorApplication, Customer: "cus_1", SignedInAt: now},
		"operator":     {Kind: registrar.ActorOperator, Through: "root"},
		"operator for": {Kind: registrar.ActorOperator, Through: "root", Customer: "cus_1"},
		"system":       {Kind: registrar.ActorSystem},
	}
	allowed := map[string][]string{
		"create": {"recent", "operator for"}, "list": {"recent", "stale"}, "revoke": {"recent", "stale"},
		"list of": {"operator", "operator for"}, "revoke any": {"operator", "operator for"},
	}
	for action, permitted := range allowed {
		for name, actor := range actors {
			store := &stubStore{}
			service := newService(t, Config{Store: store, Now: func() time.Time { return now }})
			var err error
			switch action {
			case "create":
				_, _, err = service.Create(t.Context(), actor, TokenParams{Name: "x"})
			case "list":
				_, err = service.List(t.Context(), actor)
			case "revoke":
				err = service.Revoke(t.Context(), actor, "tok_1")
			case "list of":
				_, err = service.ListFor(t.Context(), actor, "cus_1")
			case "revoke any":
				err = service.RevokeFor(t.Context(), actor, "tok_1")
			}
			want := strings.Contains(strings.Join(permitted, ",")+",", name+",")
			if (err == nil) != want || (store.calls > 0) != want {
				t.Errorf("%s by %s: %v after %d queries, want allowed: %v", action, name, err, store.calls, want)
			}
		}
	}
	_, _, err := newService(t, Config{Store: &stubStore{}, Now: func() time.Time { return now }}).Create(t.Context(), actors["stale"], TokenParams{Name: "x"})
	if registrar.CodeOf(err) != registrar.SignInAgain {
		t.Errorf("an old sign-in returns %v", err)
	}
}

func TestCreate_NamePrintableAndBounded(t *testing.T) {
	t.Parallel()
	service := newService(t, Config{Store: &stubStore{}})
	actor := registrar.Actor{Kind: registrar.ActorPerson, Customer: "cus_1", SignedInAt: time.Now()}
	for name, want := range map[string]bool{
		"Laptop": true, "Büro: Müller & Söhne 🦉": true, strings.Repeat("ü", MaxTokenName): true,
		"": false, "a\nb": false, "a\x00": false, "a\u202eb": false, "\xff": false, strings.Repeat("a", MaxTokenName+1): false,
	} {
		if _, _, err := service.Create(t.Context(), actor, TokenParams{Name: name}); (err == nil) != want {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestRun_WritesLastUseEveryMinuteAndAtShutdown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &stubStore{}
		service := newService(t, Config{Store: store})
		secret, _ := registrar.NewSecret(registrar.PersonalToken)
		use := func() {
			t.Helper()
			if _, err := service.Verify(t.Context(), secret); err != nil {
				t.Error(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); service.Run(ctx) }()
		var last time.Time
		for range 50 {
			use()
			last = time.Now()
			time.Sleep(time.Second)
		}
		if written, _ := store.drain(); len(written) != 0 {
			t.Errorf("%d were written within the minute", len(written))
		}
		time.Sleep(15 * time.Second)
		if written, _ := store.drain(); len(written) != 1 || !written[0].At.Equal(last) {
			t.Errorf("after a minute %+v were written, want one use at %v", written, last)
		}
		store.mu.Lock()
		store.fails = true
		store.mu.Unlock()
		use()
		time.Sleep(2 * time.Minute)
		store.mu.Lock()
		store.fails = false
		store.mu.Unlock()
		cancel()
		<-ended
		if written, _ := store.drain(); len(written) != 1 {
			t.Errorf("at the end %+v were written, want the one that failed before", written)
		}
	})
}

func TestWriteUses_BoundedAndBatched(t *testing.T) {
	t.Parallel()
	store := &stubStore{}
	service := newService(t, Config{Store: store})
	service.lastUses.max = 450
	for range 500 {
		secret, _ := registrar.NewSecret(registrar.PersonalToken)
		if _, err := service.Verify(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
	}
	service.lastUses.write(t.Context())
	written, batches := store.drain()
	if len(written) != 450 || len(batches) != 3 || batches[0] != writeBatch {
		t.Errorf("%d were written in batches of %v", len(written), batches)
	}
}
