package agent

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
)

// Credentials are what a request says of its sender. Headers are taken as they
// were sent; one that was not sent is empty.
type Credentials struct {
	// Bearer is the agent's key, without the word Bearer.
	Bearer, Timestamp, Signature string
	// Method and Path are the request's; Path has the query, if there is one.
	Method, Path string
	Body         []byte
	Address      netip.Addr
	// Completing says that the request moves money.
	Completing bool
}

// signed says that the sender wants to be known by a signature.
func (c Credentials) signed() bool { return c.Completing || c.Bearer == "" || c.Signature != "" }

func (c Credentials) request() signing.Request {
	return signing.Request{Timestamp: c.Timestamp, Method: c.Method, Path: c.Path, Body: c.Body}
}

// ErrUnknownKey is returned for a bearer key that belongs to no agent. It has the
// code of signing.ErrInvalid, because the contract has no other for it.
var ErrUnknownKey = fmt.Errorf("agent: authenticate: unknown key: %w", signing.ErrInvalid)

// Authenticate says which agent sent a request. Its errors are signing.ErrMissing,
// ErrStale and ErrInvalid, and ErrUnknownKey; any other error says that it could not
// be found out.
func (s *Service) Authenticate(ctx context.Context, c Credentials) (Agent, error) {
	now := s.now()
	if c.signed() {
		// What needs no database comes first: a client with a wrong clock learns of
		// its clock, and rubbish costs nothing.
		if err := signing.CheckTimestamp(now, c.Timestamp, c.Signature); err != nil {
			return Agent{}, err
		}
	}
	candidates, err := s.candidates(ctx, c.Bearer)
	if err != nil {
		return Agent{}, err
	}
	if !c.signed() {
		return candidates[0].Agent, nil
	}
	agent, mac, err := s.findSigner(now, candidates, c)
	if err != nil || !recordsSignature(c, agent.Profile) {
		return agent, err
	}
	path, err := s.store.RecordSignature(ctx, SeenSignature{
		Agent: agent.ID, MAC: base64.RawURLEncoding.EncodeToString(mac[:]), Path: c.Path, ExpiresAt: now.Add(signatureTTL(agent.Profile)),
	})
	// What signed one completion is good for that one only, and what signed anything
	// else is good for none: an update that carried payment data can't be replayed to
	// pay for another session.
	if err == nil && path != c.Path && (c.Completing || strings.HasSuffix(path, completionSuffix)) {
		err = signing.ErrInvalid
	}
	if err != nil {
		return Agent{}, err
	}
	return agent, nil
}

// completionSuffix ends the path of a completion.
const completionSuffix = "/complete"

// recordsSignature reports whether the path of a signed request is stored. Reads are not: they
// have no body, so two of them in one second have the same signature. In the profile
// without a time, equal bodies always have.
func recordsSignature(c Credentials, profile signing.Profile) bool {
	return c.Completing || c.Method == http.MethodPost && len(c.Body) > 0 && profile != signing.Body
}

// signatureTTL is how long the signature of a completion could be sent again: one
// that was made in our future is good for two tolerances. A signature without a
// time is always good; it is remembered for a day, and its agent needs a key.
func signatureTTL(profile signing.Profile) time.Duration {
	if profile == signing.Body {
		return 24 * time.Hour
	}
	return 2*signing.Tolerance + time.Minute
}

// candidates are who may have sent it: the owner of the key, or all who sign in our
// own profile. There is at least one.
func (s *Service) candidates(ctx context.Context, bearer string) ([]AgentWithSecrets, error) {
	if bearer == "" {
		agents, err := s.store.ListLiveAgents(ctx, signing.Ours, MaxLiveAgents)
		if err == nil && len(agents) == 0 {
			err = signing.ErrInvalid
		}
		return agents, err
	}
	hash, ok := registrar.HashSecret(registrar.AgentKey, bearer)
	if !ok {
		return nil, ErrUnknownKey
	}
	owner, known, err := s.store.AgentByKey(ctx, hash)
	if err == nil && !known {
		err = ErrUnknownKey
	}
	return []AgentWithSecrets{owner}, err
}

// findSigner is which of the candidates has signed. All are tried, as all secrets of
// one are. A secret that no key opens locks out its own agent only: the request of
// another is still verified, and the error is returned if none has signed.
func (s *Service) findSigner(now time.Time, candidates []AgentWithSecrets, c Credentials) (signer Agent, mac [32]byte, err error) {
	err = signing.ErrInvalid
	var unreadable error
	for _, candidate := range candidates {
		secrets := make([]string, 0, maxLiveSecrets)
		for _, secret := range candidate.Secrets {
			opened, err := s.seal.Open(registrar.AgentSecretPurpose(candidate.ID, secret.ID), secret.Sealed)
			if err != nil {
				unreadable = err
				continue
			}
			secrets = append(secrets, opened)
		}
		found, verifyErr := candidate.Profile.Verify(now, secrets, c.request(), c.Signature)
		if verifyErr == nil && err != nil {
			signer, mac, err = candidate.Agent, found, nil
		}
	}
	if err != nil && unreadable != nil {
		err = unreadable // a fault of ours, and not of the request
	}
	return signer, mac, err
}

const (
	cleanupInterval = 10 * time.Minute
	cleanupBatch    = 500
)

// Run forgets signatures whose time is over, until ctx ends.
func (s *Service) Run(ctx context.Context) {
	jobs.RunEvery(ctx, cleanupInterval, s.DeleteExpiredSignatures, jobs.ErrorLogger(s.log, "old signatures"))
}

// DeleteExpiredSignatures removes signatures whose time is over.
func (s *Service) DeleteExpiredSignatures(ctx context.Context) error {
	_, err := jobs.DeleteInBatches(ctx, func(ctx context.Context) (int, error) {
		return s.store.DeleteExpiredSignatures(ctx, s.now(), cleanupBatch)
	})
	return err
}
