package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
)

const completePath = "/api/acp/checkout_sessions/ord_1/complete"

// newAgentService returns the service with a clock that tests advance.
func newAgentService(t *testing.T, db *DB, now *atomic.Int64) *agent.Service {
	t.Helper()
	seal, err := registrar.NewSeal([32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	service, err := agent.New(agent.Config{Store: db, Seal: seal, Now: func() time.Time { return testTime.Add(time.Duration(now.Load())) }})
	if err != nil {
		t.Fatal(err)
	}
	return service
}

func admitAgent(t *testing.T, service *agent.Service, admission agent.AddParams) (agent.Agent, agent.IssuedSecrets) {
	t.Helper()
	one, issued, err := service.Add(t.Context(), operatorActor(), admission)
	if err != nil {
		t.Fatal(err)
	}
	return one, issued
}

// signedCredentials returns credentials of a completion in our own profile, without a
// key.
func signedCredentials(secret, body string) agent.Credentials {
	stamp := testTime.Format(time.RFC3339)
	return agent.Credentials{
		Timestamp: stamp, Signature: signing.Compute(secret, stamp, []byte(body)), Method: "POST", Path: completePath, Body: []byte(body), Completing: true,
	}
}

func TestAuthenticate_SignatureIdentifiesAgent(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		var clock atomic.Int64
		service := newAgentService(t, db, &clock)
		first, one := admitAgent(t, service, agent.AddParams{Name: "First"})
		second, two := admitAgent(t, service, agent.AddParams{Name: "Second", Secret: "a-secret-that-it-had"})
		if two.Secret != "" || !strings.HasPrefix(one.Secret, "acps_") || !strings.HasPrefix(one.Key, "dotkontor_agent_") {
			t.Errorf("issued %+v and %+v", one, two)
		}
		for want, c := range map[string]agent.Credentials{first.ID: signedCredentials(one.Secret, "{}"), second.ID: signedCredentials("a-secret-that-it-had", "{}")} {
			if got, err := service.Authenticate(t.Context(), c); err != nil || got.ID != want {
				t.Errorf("got %+v and %v, want %s", got, err, want)
			}
		}
		// The key identifies the agent, and the signature must be from the same agent.
		foreign := signedCredentials(one.Secret, "{}")
		foreign.Bearer = two.Key
		_, err := service.Authenticate(t.Context(), foreign)
		requireError(t, "another agent's key", err, signing.ErrInvalid)
		right := signedCredentials(one.Secret, `{"a":1}`)
		right.Bearer = one.Key
		if got, err := service.Authenticate(t.Context(), right); err != nil || got.ID != first.ID {
			t.Errorf("key and signature: %+v, %v", got, err)
		}
	})
}

func requireError(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) || registrar.KindOf(err) != registrar.KindUnauthenticated {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func TestAuthenticate_CompletionRequiresSignatureOthersAcceptKey(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		var clock atomic.Int64
		service := newAgentService(t, db, &clock)
		one, issued := admitAgent(t, service, agent.AddParams{Name: "First"})
		good := signedCredentials(issued.Secret, "{}")
		for what, test := range map[string]struct {
			change func(*agent.Credentials)
			want   error
		}{
			"signed":                      {func(*agent.Credentials) {}, nil},
			"signed, not a completion":    {func(c *agent.Credentials) { c.Completing = false }, nil},
			"key alone":                   {func(c *agent.Credentials) { *c = agent.Credentials{Bearer: issued.Key} }, nil},
			"key alone, with a time":      {func(c *agent.Credentials) { *c = agent.Credentials{Bearer: issued.Key, Timestamp: "yesterday"} }, nil},
			"nothing":                     {func(c *agent.Credentials) { *c = agent.Credentials{} }, signing.ErrMissing},
			"completion, key alone":       {func(c *agent.Credentials) { *c = agent.Credentials{Bearer: issued.Key, Completing: true} }, signing.ErrMissing},
			"completion without its time": {func(c *agent.Credentials) { c.Timestamp = "" }, signing.ErrMissing},
			"unknown key": {func(c *agent.Credentials) {
				key, _ := registrar.NewSecret(registrar.AgentKey)
				*c = agent.Credentials{Bearer: key}
			}, signing.ErrInvalid},
			"a customer's token":            {func(c *agent.Credentials) { *c = agent.Credentials{Bearer: "dotkontor_live_x"} }, signing.ErrInvalid},
			"key and a wrong signature":     {func(c *agent.Credentials) { c.Bearer, c.Completing, c.Body = issued.Key, false, []byte("[]") }, signing.ErrInvalid},
			"key, signature without a time": {func(c *agent.Credentials) { c.Bearer, c.Completing, c.Timestamp = issued.Key, false, "" }, signing.ErrMissing},
			"one byte of the body changed":  {func(c *agent.Credentials) { c.Body = []byte("{ }") }, signing.ErrInvalid},
			"old":                           {func(c *agent.Credentials) { c.Timestamp = testTime.Add(-6 * time.Minute).Format(time.RFC3339) }, signing.ErrStale},
		} {
			c := good
			test.change(&c)
			got, err := service.Authenticate(t.Context(), c)
			if test.want == nil {
				if err != nil || got.ID != one.ID {
					t.Errorf("%s: %+v, %v", what, got, err)
				}
				continue
			}
			requireError(t, what, err, test.want)
		}
	})
}

func TestSeenSignature_ValidForOnePath(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		var clock atomic.Int64
		service, otherNode := newAgentService(t, db, &clock), newAgentService(t, db, &clock)
		_, issued := admitAgent(t, service, agent.AddParams{Name: "First"})
		c := signedCredentials(issued.Secret, "{}")
		for range 2 { // the second call is a replay
			if _, err := service.Authenticate(ctx, c); err != nil {
				t.Fatal(err)
			}
		}
		replayed := c
		replayed.Path = "/api/acp/checkout_sessions/ord_2/complete"
		_, err := otherNode.Authenticate(ctx, replayed)
		requireError(t, "another path on another node", err, signing.ErrInvalid)
		raw := []byte(replayed.Signature)
		replayed.Signature = string(raw) + "=" // another encoding of the same signature
		_, err = otherNode.Authenticate(ctx, replayed)
		requireError(t, "another spelling", err, signing.ErrInvalid)
		if _, err := otherNode.Authenticate(ctx, c); err != nil {
			t.Errorf("the first path: %v", err)
		}

		// A signature is remembered exactly as long as it is valid.
		clock.Store(int64(5 * time.Minute))
		if err := service.DeleteExpiredSignatures(ctx); err != nil || count(t, db, "SELECT count(*) FROM seen_signatures") != 1 {
			t.Errorf("forgotten too early, %v", err)
		}
		_, err = service.Authenticate(ctx, replayed)
		requireError(t, "in the last second", err, signing.ErrInvalid)
		clock.Store(int64(12 * time.Minute))
		if err := service.DeleteExpiredSignatures(ctx); err != nil || count(t, db, "SELECT count(*) FROM seen_signatures") != 0 {
			t.Errorf("remembered too long, %v", err)
		}
		_, err = service.Authenticate(ctx, replayed)
		requireError(t, "after the window", err, signing.ErrStale)
	})
}

func TestAuthenticate_SignatureIsBoundToItsOperation(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		var clock atomic.Int64
		service, otherNode := newAgentService(t, db, &clock), newAgentService(t, db, &clock)
		_, issued := admitAgent(t, service, agent.AddParams{Name: "First"})
		update := signedCredentials(issued.Secret, `{"payment_data":{}}`)
		update.Path, update.Completing = "/api/acp/checkout_sessions/ord_1", false
		for range 2 { // a repeated update is fine
			if _, err := service.Authenticate(ctx, update); err != nil {
				t.Fatal(err)
			}
		}
		replayed := update
		replayed.Path, replayed.Completing = completePath, true
		_, err := otherNode.Authenticate(ctx, replayed)
		requireError(t, "an update's signature on a completion", err, signing.ErrInvalid)

		completion := signedCredentials(issued.Secret, "{}")
		if _, err := service.Authenticate(ctx, completion); err != nil {
			t.Fatal(err)
		}
		completion.Path, completion.Completing = "/api/acp/checkout_sessions/ord_2/cancel", false
		_, err = otherNode.Authenticate(ctx, completion)
		requireError(t, "a completion's signature on a cancellation", err, signing.ErrInvalid)
	})
}

func TestSeenSignature_RacingPathsOneWins(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		var clock atomic.Int64
		service := newAgentService(t, db, &clock)
		_, issued := admitAgent(t, service, agent.AddParams{Name: "First"})
		var passed atomic.Int64
		var wait sync.WaitGroup
		for i := range 50 {
			wait.Go(func() {
				c := signedCredentials(issued.Secret, "{}")
				c.Path = fmt.Sprintf("/api/acp/checkout_sessions/ord_%d/complete", i)
				switch _, err := service.Authenticate(t.Context(), c); {
				case err == nil:
					passed.Add(1)
				case !errors.Is(err, signing.ErrInvalid):
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if passed.Load() != 1 {
			t.Errorf("%d passed", passed.Load())
		}
	})
}

func TestAddSecret_ThirdRevokesOldest(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		var clock atomic.Int64
		service := newAgentService(t, db, &clock)
		one, issued := admitAgent(t, service, agent.AddParams{Name: "First"})
		secrets := []string{issued.Secret}
		rotate := func(only bool) {
			t.Helper()
			clock.Add(int64(time.Millisecond)) // ids sort by time
			next, err := service.RotateSecret(ctx, operatorActor(), one.ID, "", only)
			if err != nil || next.Secret == "" {
				t.Fatalf("%+v, %v", next, err)
			}
			secrets = append(secrets, next.Secret)
		}
		live := func(want ...bool) {
			t.Helper()
			for i, secret := range secrets {
				if _, err := service.Authenticate(ctx, signedCredentials(secret, "{}")); (err == nil) != want[i] {
					t.Errorf("%d secrets, number %d: %v", len(secrets), i, err)
				}
			}
		}
		live(true)
		rotate(false)
		live(true, true)
		rotate(false)
		live(false, true, true)
		rotate(true)
		live(false, false, false, true)
		if _, err := service.RotateSecret(ctx, operatorActor(), one.ID, "too short", false); registrar.CodeOf(err) != agent.BadSecret {
			t.Errorf("a short secret: %v", err)
		}

		rekeyed, err := service.ReplaceKey(ctx, operatorActor(), one.ID)
		if err != nil {
			t.Fatal(err)
		}
		_, err = service.Authenticate(ctx, agent.Credentials{Bearer: issued.Key})
		requireError(t, "the old key", err, signing.ErrInvalid)
		if _, err := service.Authenticate(ctx, agent.Credentials{Bearer: rekeyed.Key}); err != nil {
			t.Errorf("with the new key: %v", err)
		}
	})
}

func TestAuthenticate_OtherProfilesRequireKey(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		var clock atomic.Int64
		service := newAgentService(t, db, &clock)
		for _, profile := range []signing.Profile{signing.Body, signing.Canonical} {
			one, issued := admitAgent(t, service, agent.AddParams{Name: "Signs " + string(profile), Profile: profile})
			c := signedCredentials(issued.Secret, "{}")
			c.Signature = profile.Compute(issued.Secret, signing.Request{Timestamp: c.Timestamp, Method: c.Method, Path: c.Path, Body: c.Body})
			_, err := service.Authenticate(t.Context(), c)
			requireError(t, string(profile)+" without its key", err, signing.ErrInvalid)
			c.Bearer = issued.Key
			if got, err := service.Authenticate(t.Context(), c); err != nil || got.ID != one.ID {
				t.Errorf("%s: %+v, %v", profile, got, err)
			}
			ours := signedCredentials(issued.Secret, "{}")
			ours.Bearer = issued.Key
			_, err = service.Authenticate(t.Context(), ours)
			requireError(t, string(profile)+" that signs as we do", err, signing.ErrInvalid)
		}
	})
}

func TestAgentSecrets_NeverStoredInClear(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		var clock atomic.Int64
		service := newAgentService(t, db, &clock)
		one, issued := admitAgent(t, service, agent.AddParams{Name: "First", WebhookURL: "https://agent.example/hook", WebhookVersion: "2025-09-29"})
		if issued.WebhookSecret == "" {
			t.Fatal("no webhook secret")
		}
		dump := dumpOf(t, db)
		if !strings.Contains(dump, one.ID) {
			t.Error("the dump lacks the agent, so the test proves nothing")
		}
		for _, secret := range []string{issued.Key, issued.Secret, issued.WebhookSecret} {
			if _, random, _ := strings.Cut(secret, "_"); strings.Contains(dump, random) {
				t.Errorf("the dump contains %.16s…", secret)
			}
		}
		row, err := db.read().GetAgent(t.Context(), one.ID)
		if err != nil {
			t.Fatal(err)
		}
		hook, err := service.OpenWebhook(one.ID, agent.SealedWebhook{URL: row.WebhookUrl, Sealed: row.WebhookSealed, Version: row.WebhookVersion})
		if want := (agent.Webhook{URL: "https://agent.example/hook", Secret: issued.WebhookSecret, Version: "2025-09-29"}); err != nil || hook != want {
			t.Errorf("the webhook is %s %s, %v", hook.URL, hook.Version, err)
		}
	})
}

func TestAgentLink_EndsWithUnlinkOrAgentRemoval(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna, bert := t.Context(), newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		var clock atomic.Int64
		service := newAgentService(t, db, &clock)
		one, issued := admitAgent(t, service, agent.AddParams{Name: "Einkaufshilfe", WebhookURL: "https://agent.example/hook"})
		linked := func(customer string, want bool) {
			t.Helper()
			if got, err := db.IsAgentLinked(ctx, customer, one.ID); err != nil || got != want {
				t.Errorf("%s is linked to %v, %v", customer, got, err)
			}
		}
		linked(anna, false)
		for range 2 { // the second call changes nothing and is not audited
			if err := service.Link(ctx, personActor(anna), one.ID); err != nil {
				t.Fatal(err)
			}
		}
		byOperator := operatorActor()
		byOperator.Customer = bert
		if err := service.Link(ctx, byOperator, one.ID); err != nil {
			t.Fatal(err)
		}
		linked(anna, true)
		linked(bert, true)
		offers, err := service.ListLinkable(ctx, personActor(anna))
		if err != nil || len(offers) != 1 || offers[0].Name != "Einkaufshilfe" || !offers[0].Linked.At.Equal(testTime) {
			t.Errorf("offered %+v, %v", offers, err)
		}
		if mails := count(t, db, "SELECT count(*) FROM mails WHERE kind = 'agent_linked'"); mails != 2 {
			t.Errorf("%d mails", mails)
		}
		if err := service.Unlink(ctx, personActor(anna), one.ID); err != nil {
			t.Fatal(err)
		}
		linked(anna, false)
		if err := service.Remove(ctx, operatorActor(), one.ID); err != nil {
			t.Fatal(err)
		}
		linked(bert, false)
		for customer, want := range map[string][]string{
			anna: {"agent_linked Einkaufshilfe person", "agent_unlinked Einkaufshilfe person"},
			bert: {"agent_linked Einkaufshilfe operator", "agent_unlinked Einkaufshilfe operator"},
		} {
			if lines := listAuditLines(t, db, customer); !slices.Equal(lines, want) {
				t.Errorf("audit of %s: %q, want %q", customer, lines, want)
			}
		}
		_, err = service.Authenticate(ctx, signedCredentials(issued.Secret, "{}"))
		requireError(t, "a removed agent's signature", err, signing.ErrInvalid)
		_, err = service.Authenticate(ctx, agent.Credentials{Bearer: issued.Key})
		requireError(t, "a removed agent's key", err, signing.ErrInvalid)
		wantCode(t, service.Link(ctx, personActor(anna), one.ID), registrar.KindNotFound, agent.NoSuchAgent)
		wantCode(t, service.Remove(ctx, operatorActor(), one.ID), registrar.KindNotFound, agent.NoSuchAgent)
		if row, err := db.read().GetAgent(ctx, one.ID); err != nil || row.WebhookUrl != "" || row.WebhookSealed != "" {
			t.Errorf("the webhook URL is still %q, %v", row.WebhookUrl, err)
		}
		admitAgent(t, service, agent.AddParams{Name: "Einkaufshilfe"}) // the name is free again
	})
}

// listAuditLines returns the audit events of a customer, sorted.
func listAuditLines(t *testing.T, db *DB, customer string) []string {
	t.Helper()
	events, err := db.ListAuditEvents(t.Context(), customer, "", 20)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, event := range events {
		lines = append(lines, string(event.Action)+" "+event.Object+" "+string(event.Actor.Kind))
	}
	slices.Sort(lines)
	return lines
}

func TestLinkAgent_RequiresFreshSignIn(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		var clock atomic.Int64
		service := newAgentService(t, db, &clock)
		one, _ := admitAgent(t, service, agent.AddParams{Name: "First"})
		old := personActor(anna)
		old.SignedInAt = testTime.Add(-time.Hour)
		wantCode(t, service.Link(ctx, old, one.ID), registrar.KindUnauthenticated, registrar.SignInAgain)
		token := registrar.Actor{Kind: registrar.ActorToken, Customer: anna, Through: "tok_1"}
		wantCode(t, service.Link(ctx, token, one.ID), registrar.KindForbidden, "")
		wantCode(t, service.Unlink(ctx, token, one.ID), registrar.KindForbidden, "")
		wantCode(t, service.Link(ctx, personActor("cus_unknown"), one.ID), registrar.KindNotFound, agent.NoSuchAgent)
		wantCode(t, service.Link(ctx, personActor(anna), "agt_\x00"), registrar.KindNotFound, agent.NoSuchAgent)
		_, _, err := service.Add(ctx, personActor(anna), agent.AddParams{Name: "Mine"})
		wantCode(t, err, registrar.KindForbidden, registrar.OperatorsOnly)
		if rows := count(t, db, "SELECT (SELECT count(*) FROM agent_links) + (SELECT count(*) FROM mails)"); rows != 0 {
			t.Errorf("refused calls left %d rows", rows)
		}
		if err := service.Link(ctx, personActor(anna), one.ID); err != nil {
			t.Fatal(err)
		}
		if err := service.Unlink(ctx, old, one.ID); err != nil {
			t.Errorf("unlinking with an old session failed: %v", err)
		}
		// A closed account grants no access.
		if err := service.Link(ctx, personActor(anna), one.ID); err != nil {
			t.Fatal(err)
		}
		execStatement(t, db, "UPDATE customers SET disabled_at = 1")
		if open, err := db.IsAgentLinked(ctx, anna, one.ID); err != nil || open {
			t.Errorf("an agent can act for a closed account: %v", err)
		}
	})
}

func TestAdmitAgent_RejectsInvalidSettings(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		var clock atomic.Int64
		service := newAgentService(t, db, &clock)
		admitAgent(t, service, agent.AddParams{Name: "Taken"})
		for code, wanted := range map[registrar.Code][]agent.AddParams{
			agent.NameTaken:  {{Name: "Taken"}, {Name: " Taken "}},
			agent.BadName:    {{}, {Name: "a\nb"}, {Name: strings.Repeat("x", 61)}},
			agent.BadProfile: {{Name: "x", Profile: "none"}},
			agent.BadSecret:  {{Name: "x", Secret: "short"}, {Name: "x", Secret: "with a space inside"}, {Name: "x", WebhookURL: "https://a.example", WebhookSecret: "x"}},
			agent.BadWebhook: {
				{Name: "x", WebhookURL: "http://agent.example/"},
				{Name: "x", WebhookURL: "https://user:pw@agent.example/"},
				{Name: "x", WebhookURL: "ftp://agent.example/"},
				{Name: "x", WebhookURL: "https://"},
				{Name: "x", WebhookSecret: "a-secret-for-nothing"},
				{Name: "x", WebhookVersion: "2026-04-17"},
				{Name: "x", WebhookURL: "https://agent.example/", WebhookVersion: "2024-01-01"},
			},
		} {
			for _, one := range wanted {
				if _, _, err := service.Add(t.Context(), operatorActor(), one); registrar.CodeOf(err) != code {
					t.Errorf("%+v: %v, want %s", one, err, code)
				}
			}
		}
		for i := range agent.MaxLiveAgents - 1 {
			admitAgent(t, service, agent.AddParams{Name: fmt.Sprint("Agent ", i)})
		}
		_, _, err := service.Add(context.Background(), operatorActor(), agent.AddParams{Name: "One too many"})
		wantCode(t, err, registrar.KindConflict, agent.TooManyAgents)
	})
}

func TestAuthenticate_UnreadableSecretAffectsOnlyItsAgent(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		var clock atomic.Int64
		service := newAgentService(t, db, &clock)
		lost, first := admitAgent(t, service, agent.AddParams{Name: "First"})
		other, second := admitAgent(t, service, agent.AddParams{Name: "Second"})
		execute(t, db, "UPDATE agent_secrets SET sealed = 's1.0123456789abcdef.AAAA' WHERE agent_id = '"+lost.ID+"'")
		if got, err := service.Authenticate(t.Context(), signedCredentials(second.Secret, "{}")); err != nil || got.ID != other.ID {
			t.Errorf("the other agent: got %s, %v", got.ID, err)
		}
		if _, err := service.Authenticate(t.Context(), signedCredentials(first.Secret, "{}")); !errors.Is(err, registrar.ErrOpenFailed) {
			t.Errorf("the agent itself: got %v, want an internal error", err)
		}
		clock.Store(int64(time.Second)) // secrets are ordered by creation time
		if _, err := service.RotateSecret(t.Context(), operatorActor(), lost.ID, "another-secret-of-its-own", true); err != nil {
			t.Fatal(err)
		}
		if got, err := service.Authenticate(t.Context(), signedCredentials("another-secret-of-its-own", "{}")); err != nil || got.ID != lost.ID {
			t.Errorf("with a new secret: got %s, %v", got.ID, err)
		}
	})
}
