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

// Credentials are the authentication data of a request. Header values are as sent;
// absent ones are empty.
type Credentials struct {
	// Bearer is the agent's key, without the Bearer prefix.
	Bearer, Timestamp, Signature string
	// Method and Path are those of the request; Path includes the query.
	Method, Path string
	Body         []byte
	Address      netip.Addr
	Completing   bool // marks a request that moves money
}

// signed reports whether the request must be verified by its signature.
func (c Credentials) signed() bool { return c.Completing || c.Bearer == "" || c.Signature != "" }

// ErrUnknownKey has the code of signing.ErrInvalid, because the contract has no other for it.
var ErrUnknownKey = fmt.Errorf("agent: authenticate: unknown key: %w", signing.ErrInvalid)

// Authenticate returns the agent that sent a request. Its errors are signing.ErrMissing, ErrStale
// and ErrInvalid, and ErrUnknownKey; any other error means that the check itself failed.
func (s *Service) Authenticate(ctx context.Context, c Credentials) (Agent, error) {
	now := s.cfg.Now()
	if c.signed() {
		// First, without the database: a client learns of its wrong clock, garbage costs nothing.
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
	path, err := s.cfg.Store.RecordSignature(ctx, SeenSignature{
		Agent: agent.ID, MAC: base64.RawURLEncoding.EncodeToString(mac[:]), Path: c.Path, ExpiresAt: now.Add(signatureTTL(agent.Profile)),
	})
	// The signature of a completion is valid for that path only, and no other signature
	// is valid for a completion: an update that carried payment data can't be replayed
	// to pay for another session.
	if err == nil && path != c.Path && (c.Completing || strings.HasSuffix(path, "/complete")) {
		err = signing.ErrInvalid
	}
	if err != nil {
		return Agent{}, err
	}
	return agent, nil
}

// recordsSignature reports whether the signature of a request is stored. Reads have no
// body, so two of them within a second have the same signature. In the Body profile,
// which signs no timestamp, equal bodies always have.
func recordsSignature(c Credentials, profile signing.Profile) bool {
	return c.Completing || c.Method == http.MethodPost && len(c.Body) > 0 && profile != signing.Body
}

// signatureTTL is how long a signature could be replayed: one with a timestamp in the
// future is valid for two tolerances. A signature without a timestamp never expires; it
// is stored for a day, and its agent needs a key.
func signatureTTL(profile signing.Profile) time.Duration {
	if profile == signing.Body {
		return 24 * time.Hour
	}
	return 2*signing.Tolerance + time.Minute
}

// candidates returns the owner of the key, or all agents with the profile signing.Ours.
func (s *Service) candidates(ctx context.Context, bearer string) ([]AgentWithSecrets, error) {
	if bearer == "" {
		agents, err := s.cfg.Store.ListLiveAgents(ctx, signing.Ours, MaxLiveAgents)
		if err == nil && len(agents) == 0 {
			err = signing.ErrInvalid
		}
		return agents, err
	}
	hash, ok := registrar.HashSecret(registrar.AgentKey, bearer)
	if !ok {
		return nil, ErrUnknownKey
	}
	owner, known, err := s.cfg.Store.AgentByKey(ctx, hash)
	if err == nil && !known {
		err = ErrUnknownKey
	}
	return []AgentWithSecrets{owner}, err
}

// findSigner returns the candidate that signed the request. All candidates and all their secrets
// are tried. A secret that can't be opened locks out its own agent only: the request of another is
// still verified, and the error is returned only if none matches.
func (s *Service) findSigner(now time.Time, candidates []AgentWithSecrets, c Credentials) (signer Agent, mac [32]byte, err error) {
	err = signing.ErrInvalid
	var unreadable error
	for _, candidate := range candidates {
		secrets := make([]string, 0, maxLiveSecrets)
		for _, secret := range candidate.Secrets {
			opened, err := s.cfg.Seal.Open(registrar.AgentSecretPurpose(candidate.ID, secret.ID), secret.Sealed)
			if err != nil {
				unreadable = err
				continue
			}
			secrets = append(secrets, opened)
		}
		request := signing.Request{Timestamp: c.Timestamp, Method: c.Method, Path: c.Path, Body: c.Body}
		found, verifyErr := candidate.Profile.Verify(now, secrets, request, c.Signature)
		if verifyErr == nil && err != nil {
			signer, mac, err = candidate.Agent, found, nil
		}
	}
	if err != nil && unreadable != nil {
		err = unreadable // an internal error, not a bad request
	}
	return signer, mac, err
}

const (
	cleanupInterval = 10 * time.Minute
	cleanupBatch    = 500
)

// Run deletes expired signatures until ctx ends.
func (s *Service) Run(ctx context.Context) {
	jobs.RunEvery(ctx, cleanupInterval, s.DeleteExpiredSignatures, jobs.ErrorLogger(s.cfg.Log, "old signatures"))
}

// DeleteExpiredSignatures deletes stored signatures that can no longer be replayed.
func (s *Service) DeleteExpiredSignatures(ctx context.Context) error {
	_, err := jobs.DeleteInBatches(ctx, func(ctx context.Context) (int, error) {
		return s.cfg.Store.DeleteExpiredSignatures(ctx, s.cfg.Now(), cleanupBatch)
	})
	return err
}
