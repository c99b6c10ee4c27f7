package agent_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
)

const completePath = "/api/acp/checkout_sessions/ord_1/complete"

var testTime = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// memStore implements the part of agent.Store that Authenticate uses.
type memStore struct {
	agent.Store
	agents  map[registrar.SecretHash]agent.AgentWithSecrets
	seen    map[string]string // MAC to path
	queries int
}

func (s *memStore) AgentByKey(_ context.Context, key registrar.SecretHash) (agent.AgentWithSecrets, bool, error) {
	s.queries++
	one, ok := s.agents[key]
	return one, ok, nil
}

func (s *memStore) ListLiveAgents(_ context.Context, profile signing.Profile, _ int) ([]agent.AgentWithSecrets, error) {
	s.queries++
	var live []agent.AgentWithSecrets
	for _, one := range s.agents {
		if one.Profile == profile {
			live = append(live, one)
		}
	}
	return live, nil
}

func (s *memStore) RecordSignature(_ context.Context, seen agent.SeenSignature) (string, error) {
	if path, ok := s.seen[seen.MAC]; ok {
		return path, nil
	}
	s.seen[seen.MAC] = seen.Path
	return seen.Path, nil
}

type env struct {
	*agent.Service
	store *memStore
	seal  *registrar.Seal
}

func newEnv(t *testing.T) *env {
	t.Helper()
	seal, err := registrar.NewSeal(registrar.SealKey{1})
	if err != nil {
		t.Fatal(err)
	}
	store := &memStore{agents: map[registrar.SecretHash]agent.AgentWithSecrets{}, seen: map[string]string{}}
	service, err := agent.New(agent.Config{Store: store, Seal: seal, Now: func() time.Time { return testTime }})
	if err != nil {
		t.Fatal(err)
	}
	return &env{service, store, seal}
}

// add stores a live agent and returns its key.
func (e *env) add(id, secret string, profile signing.Profile) (key string) {
	key, hash := registrar.NewSecret(registrar.AgentKey)
	sealed := e.seal.Seal(registrar.AgentSecretPurpose(id, "sec_1"), secret)
	e.store.agents[hash] = agent.AgentWithSecrets{
		Agent: agent.Agent{ID: id, Name: id, Profile: profile}, Secrets: []agent.Secret{{ID: "sec_1", Sealed: sealed}},
	}
	return key
}

// completion returns the credentials of a completion signed at testTime plus offset.
func completion(secret string, offset time.Duration) agent.Credentials {
	timestamp, body := testTime.Add(offset).Format(time.RFC3339), `{"payment_data":{}}`
	return agent.Credentials{
		Timestamp: timestamp, Signature: signing.Compute(secret, timestamp, []byte(body)),
		Method: "POST", Path: completePath, Body: []byte(body), Completing: true,
	}
}

func TestAuthenticate_DecidesByKeyAndSignature(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	ada := env.add("agt_ada", "secret-of-ada-1234", signing.Ours)
	bert := env.add("agt_bert", "secret-of-bert-123", signing.Ours)
	body := env.add("agt_body", "secret-of-body-123", signing.Body)
	unknown, _ := registrar.NewSecret(registrar.AgentKey)
	withKey := func(c agent.Credentials, key string) agent.Credentials { c.Bearer = key; return c }
	unsigned := completion("", 0)
	unsigned.Signature = ""
	bodySigned := completion("", 0)
	bodySigned.Signature = signing.Body.Compute("secret-of-body-123", signing.Request{Body: bodySigned.Body})
	for name, test := range map[string]struct {
		credentials agent.Credentials
		want        string
		err         error
	}{
		"signature without a key":            {completion("secret-of-ada-1234", 0), "agt_ada", nil},
		"signature of another live agent":    {completion("secret-of-bert-123", 0), "agt_bert", nil},
		"signature and its key":              {withKey(completion("secret-of-ada-1234", 0), ada), "agt_ada", nil},
		"signature and another agent's key":  {withKey(completion("secret-of-ada-1234", 0), bert), "", signing.ErrInvalid},
		"key alone for a read":               {agent.Credentials{Bearer: ada, Method: "GET", Path: "/x"}, "agt_ada", nil},
		"key alone for a completion":         {withKey(unsigned, ada), "", signing.ErrMissing},
		"neither":                            {agent.Credentials{Method: "GET", Path: "/x"}, "", signing.ErrMissing},
		"unknown key":                        {agent.Credentials{Bearer: unknown, Method: "GET", Path: "/x"}, "", agent.ErrUnknownKey},
		"malformed key":                      {agent.Credentials{Bearer: "rubbish", Method: "GET", Path: "/x"}, "", agent.ErrUnknownKey},
		"unknown secret":                     {completion("nobody-has-this-one", 0), "", signing.ErrInvalid},
		"stale signature":                    {completion("secret-of-ada-1234", -signing.Tolerance-time.Second), "", signing.ErrStale},
		"signature from the future":          {completion("secret-of-ada-1234", signing.Tolerance+time.Second), "", signing.ErrStale},
		"other profile with its key":         {withKey(bodySigned, body), "agt_body", nil},
		"other profile without a key":        {bodySigned, "", signing.ErrInvalid},
		"wrong signature beside a valid key": {withKey(completion("wrong", 0), ada), "", signing.ErrInvalid},
	} {
		got, err := env.Authenticate(t.Context(), test.credentials)
		if got.ID != test.want || !errors.Is(err, test.err) {
			t.Errorf("%s: got %q, %v, want %q, %v", name, got.ID, err, test.want, test.err)
		}
	}
}

func TestAuthenticate_StaleRequestCostsNoQuery(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	for _, credentials := range []agent.Credentials{{}, {Bearer: "rubbish"}, completion("x", -time.Hour)} {
		if _, err := env.Authenticate(t.Context(), credentials); err == nil {
			t.Errorf("%+v was accepted", credentials)
		}
	}
	if env.store.queries != 0 {
		t.Errorf("%d queries, want none", env.store.queries)
	}
}

func TestAuthenticate_CompletionSignatureIsValidForOnePath(t *testing.T) {
	t.Parallel()
	const secret, otherPath = "secret-of-ada-1234", "/api/acp/checkout_sessions/ord_2/complete"
	env := newEnv(t)
	env.add("agt_ada", secret, signing.Ours)
	first := completion(secret, 0)
	for range 2 {
		if _, err := env.Authenticate(t.Context(), first); err != nil {
			t.Fatalf("a retry of the same completion: %v", err)
		}
	}
	moved := first
	moved.Path = otherPath
	if _, err := env.Authenticate(t.Context(), moved); !errors.Is(err, signing.ErrInvalid) {
		t.Errorf("the signature was accepted for another session: %v", err)
	}

	update := completion(secret, time.Second)
	update.Path, update.Completing = "/api/acp/checkout_sessions/ord_2", false
	if _, err := env.Authenticate(t.Context(), update); err != nil {
		t.Fatal(err)
	}
	update.Path, update.Completing = otherPath, true
	if _, err := env.Authenticate(t.Context(), update); !errors.Is(err, signing.ErrInvalid) {
		t.Errorf("the signature of an update was accepted for a completion: %v", err)
	}
}

func TestAuthenticate_UnreadableSecretIsInternalError(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	key := env.add("agt_ada", "secret-of-ada-1234", signing.Ours)
	hash, _ := registrar.HashSecret(registrar.AgentKey, key)
	env.store.agents[hash].Secrets[0].Sealed = "damaged"
	_, err := env.Authenticate(t.Context(), completion("secret-of-ada-1234", 0))
	if !errors.Is(err, registrar.ErrOpenFailed) || errors.Is(err, signing.ErrInvalid) {
		t.Errorf("got %v, want ErrOpenFailed", err)
	}
}
