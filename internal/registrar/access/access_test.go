package access

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

// shelf is a store of one token that anybody may have, and counts questions.
type shelf struct {
	mu      sync.Mutex
	asked   int
	fails   bool
	written []Use
	batches []int
	letter  registrar.Letter
}

func (s *shelf) CreateToken(_ context.Context, _ Token, _ registrar.SecretHash, _ int, _ registrar.Deed, letter registrar.Letter) error {
	s.asked++
	s.letter = letter
	return nil
}

func (s *shelf) ActiveTokens(context.Context, string) ([]Token, error) {
	s.asked++
	return nil, nil
}

func (s *shelf) LatestTokens(context.Context, string, int) ([]Token, error) {
	s.asked++
	return nil, nil
}

func (s *shelf) Token(context.Context, string) (Token, error) {
	s.asked++
	return Token{}, nil
}

func (s *shelf) RevokeToken(context.Context, string, string, registrar.Deed) error {
	s.asked++
	return nil
}

func (s *shelf) Bearing(_ context.Context, hash registrar.SecretHash) (Bearing, bool, error) {
	s.asked++
	return Bearing{TokenID: "tok_" + string(hash), Customer: "cus_1", Confirmed: true}, true, nil
}

func (s *shelf) TokensUsed(_ context.Context, uses []Use) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails {
		return errors.New("no disk")
	}
	s.written = append(s.written, uses...)
	s.batches = append(s.batches, len(uses))
	return nil
}

func (s *shelf) taken() ([]Use, []int) {
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

func TestNonsenseCostsNoQuestionToTheStore(t *testing.T) {
	t.Parallel()
	store := &shelf{}
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
	if store.asked != 0 {
		t.Errorf("the store was asked %d times", store.asked)
	}
	if _, err := service.Verify(t.Context(), good); err != nil || store.asked != 1 {
		t.Errorf("a good one: %v after %d questions", err, store.asked)
	}
}

func TestTheLetterAboutATokenSaysItsNameAndFromWhere(t *testing.T) {
	t.Parallel()
	store := &shelf{}
	service := newService(t, Config{Store: store})
	actor := registrar.Actor{
		Kind: registrar.ActorPerson, Customer: "cus_1", SignedInAt: time.Now(), Address: netip.MustParseAddr("192.0.2.7"),
	}
	if _, _, err := service.Create(t.Context(), actor, "Laptop"); err != nil {
		t.Fatal(err)
	}
	if facts := store.letter.Facts; facts["name"] != "Laptop" || facts["address"] != "192.0.2.7" || store.letter.Customer != "cus_1" {
		t.Errorf("the letter is %+v", store.letter)
	}
}

func TestWhoMayDoWhatWithTokens(t *testing.T) {
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
	for deed, who := range allowed {
		for name, actor := range actors {
			store := &shelf{}
			service := newService(t, Config{Store: store, Now: func() time.Time { return now }})
			var err error
			switch deed {
			case "create":
				_, _, err = service.Create(t.Context(), actor, "x")
			case "list":
				_, err = service.List(t.Context(), actor)
			case "revoke":
				err = service.Revoke(t.Context(), actor, "tok_1")
			case "list of":
				_, err = service.ListOf(t.Context(), actor, "cus_1")
			case "revoke any":
				err = service.RevokeAny(t.Context(), actor, "tok_1")
			}
			want := strings.Contains(strings.Join(who, ",")+",", name+",")
			if (err == nil) != want || (store.asked > 0) != want {
				t.Errorf("%s by %s: %v after %d questions, want allowed: %v", deed, name, err, store.asked, want)
			}
		}
	}
	_, _, err := newService(t, Config{Store: &shelf{}, Now: func() time.Time { return now }}).Create(t.Context(), actors["stale"], "x")
	if registrar.CodeOf(err) != registrar.SignInAgain {
		t.Errorf("an old sign-in is answered with %v", err)
	}
}

func TestTheNameOfATokenIsPrintable(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"Laptop": true, "Büro: Müller & Söhne 🦉": true, strings.Repeat("ü", MaxName): true,
		"": false, "a\nb": false, "a\x00": false, "a\u202eb": false, "\xff": false, strings.Repeat("a", MaxName+1): false,
	} {
		if goodName(name) != want {
			t.Errorf("%q: good is %v", name, !want)
		}
	}
}

func TestLastUseIsWrittenOnceAMinuteAndAtTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &shelf{}
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
		if written, _ := store.taken(); len(written) != 0 {
			t.Errorf("%d were written within the minute", len(written))
		}
		time.Sleep(15 * time.Second)
		if written, _ := store.taken(); len(written) != 1 || !written[0].At.Equal(last) {
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
		if written, _ := store.taken(); len(written) != 1 {
			t.Errorf("at the end %+v were written, want the one that failed before", written)
		}
	})
}

func TestTheMemoryOfLastUsesIsBoundedAndWrittenInBatches(t *testing.T) {
	t.Parallel()
	store := &shelf{}
	service := newService(t, Config{Store: store, MaxRemembered: 450})
	for range 500 {
		secret, _ := registrar.NewSecret(registrar.PersonalToken)
		if _, err := service.Verify(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
	}
	service.writeUses(t.Context())
	written, batches := store.taken()
	if len(written) != 450 || len(batches) != 3 || batches[0] != batch {
		t.Errorf("%d were written in batches of %v", len(written), batches)
	}
}
