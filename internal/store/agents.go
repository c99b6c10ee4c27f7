package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ agent.Store = (*DB)(nil)

const (
	// manyAgents bounds the list of all that ever were.
	manyAgents = 1000
	// secretsAtOnce is more than an agent ever has live.
	secretsAtOnce = 10
	// linksAtOnce are ended in one go, with the agent.
	linksAtOnce = 1000
)

func agentOf(row query.Agent) agent.Agent {
	return agent.Agent{
		ID: row.ID, Name: row.Name, Profile: signing.Profile(row.Profile), WebhookURL: row.WebhookUrl,
		CreatedAt: fromMicros(row.CreatedAt), RemovedAt: fromMicros(row.RemovedAt),
	}
}

func secretOf(row query.AgentSecret) agent.Secret {
	return agent.Secret{ID: row.ID, Agent: row.AgentID, Sealed: row.Sealed, CreatedAt: fromMicros(row.CreatedAt)}
}

// AddAgent stores an agent with its first secret.
func (db *DB) AddAgent(
	ctx context.Context, one agent.Agent, key registrar.SecretHash, secret agent.Secret, hook agent.Hook, limit int, deed registrar.Deed,
) error {
	return db.write(ctx, func(q *query.Queries) error {
		live, err := q.LiveAgentIDs(ctx, int32(limit))
		if err != nil {
			return err
		}
		if len(live) >= limit {
			return &registrar.Error{Kind: registrar.KindConflict, Code: agent.TooManyAgents}
		}
		added, err := q.InsertAgent(ctx, query.InsertAgentParams{
			ID: one.ID, Name: one.Name, Profile: string(one.Profile), KeyHash: string(key), WebhookUrl: hook.URL, WebhookVersion: hook.Version, WebhookSealed: hook.Sealed,
			CreatedAt: micros(one.CreatedAt),
		})
		if err != nil {
			return err
		}
		if added == 0 {
			return &registrar.Error{Kind: registrar.KindConflict, Code: agent.NameTaken}
		}
		if err := insertSecret(ctx, q, secret); err != nil {
			return err
		}
		return recordDeed(ctx, q, deed)
	})
}

func insertSecret(ctx context.Context, q *query.Queries, secret agent.Secret) error {
	return q.InsertAgentSecret(ctx, query.InsertAgentSecretParams{
		ID: secret.ID, AgentID: secret.Agent, Sealed: secret.Sealed, CreatedAt: micros(secret.CreatedAt),
	})
}

// Agents are all, also removed ones, the oldest first.
func (db *DB) Agents(ctx context.Context) ([]agent.Agent, error) {
	rows, err := db.read().AgentsInOrder(ctx, manyAgents)
	if err != nil {
		return nil, fmt.Errorf("agents: %w", err)
	}
	all := make([]agent.Agent, 0, len(rows))
	for _, row := range rows {
		all = append(all, agentOf(row))
	}
	return all, nil
}

// AgentByID returns one, live or not.
func (db *DB) AgentByID(ctx context.Context, id string) (agent.Agent, bool, error) {
	if neverStored(id) {
		return agent.Agent{}, false, nil
	}
	row, err := db.read().AgentByID(ctx, id)
	ok, err := found(err)
	return agentOf(row), ok, err
}

// AgentByKey returns the live agent of a key.
func (db *DB) AgentByKey(ctx context.Context, key registrar.SecretHash) (agent.Known, bool, error) {
	rows, err := db.read().LiveAgentByKey(ctx, string(key))
	if err != nil || len(rows) == 0 {
		return agent.Known{}, false, err
	}
	known := agent.Known{Agent: agentOf(rows[0].Agent)}
	for _, row := range rows {
		known.Secrets = append(known.Secrets, secretOf(row.AgentSecret))
	}
	return known, true, nil
}

// LiveAgents are those that sign in a profile.
func (db *DB) LiveAgents(ctx context.Context, profile signing.Profile, limit int) ([]agent.Known, error) {
	rows, err := db.read().LiveAgentsOfProfile(ctx, query.LiveAgentsOfProfileParams{Profile: string(profile), Limit: int32(limit * secretsAtOnce)})
	if err != nil {
		return nil, fmt.Errorf("live agents: %w", err)
	}
	var all []agent.Known
	for _, row := range rows {
		if len(all) == 0 || all[len(all)-1].ID != row.Agent.ID {
			all = append(all, agent.Known{Agent: agentOf(row.Agent)})
		}
		last := &all[len(all)-1]
		last.Secrets = append(last.Secrets, secretOf(row.AgentSecret))
	}
	return all, nil
}

// HookOf is where a live agent hears of its orders.
func (db *DB) HookOf(ctx context.Context, id string) (agent.Hook, bool, error) {
	row, err := db.read().AgentByID(ctx, id)
	ok, err := found(err)
	return agent.Hook{URL: row.WebhookUrl, Version: row.WebhookVersion, Sealed: row.WebhookSealed}, ok && row.RemovedAt == 0, err
}

// AddSecret stores one more secret, and ends all but the newest keep.
func (db *DB) AddSecret(ctx context.Context, secret agent.Secret, keep int, deed registrar.Deed) (bool, error) {
	return db.ofLiveAgent(ctx, secret.Agent, deed, func(q *query.Queries) error {
		if err := insertSecret(ctx, q, secret); err != nil {
			return err
		}
		return endSecrets(ctx, q, secret.Agent, keep, deed.At)
	})
}

// endSecrets ends all but the newest keep.
func endSecrets(ctx context.Context, q *query.Queries, id string, keep int, at time.Time) error {
	live, err := q.SecretsOfAgent(ctx, query.SecretsOfAgentParams{AgentID: id, Limit: secretsAtOnce})
	if err != nil {
		return err
	}
	for i, secret := range live {
		if i < keep {
			continue
		}
		if err := q.EndAgentSecret(ctx, query.EndAgentSecretParams{ID: secret.ID, EndedAt: micros(at)}); err != nil {
			return err
		}
	}
	return nil
}

// SetKey replaces the key of a live agent.
func (db *DB) SetKey(ctx context.Context, id string, key registrar.SecretHash, deed registrar.Deed) (bool, error) {
	return db.ofLiveAgent(ctx, id, deed, func(q *query.Queries) error {
		_, err := q.SetAgentKey(ctx, query.SetAgentKeyParams{ID: id, KeyHash: string(key)})
		return err
	})
}

// SetHook replaces where a live agent hears of its orders.
func (db *DB) SetHook(ctx context.Context, id string, hook agent.Hook, deed registrar.Deed) (bool, error) {
	return db.ofLiveAgent(ctx, id, deed, func(q *query.Queries) error {
		_, err := q.SetAgentHook(ctx, query.SetAgentHookParams{ID: id, WebhookUrl: hook.URL, WebhookVersion: hook.Version, WebhookSealed: hook.Sealed})
		return err
	})
}

// RemoveAgent ends an agent, its secrets and its links.
func (db *DB) RemoveAgent(ctx context.Context, id string, deed registrar.Deed) (bool, error) {
	return db.ofLiveAgent(ctx, id, deed, func(q *query.Queries) error {
		row, err := q.AgentByID(ctx, id)
		if err != nil {
			return err
		}
		if _, err := q.RemoveAgent(ctx, query.RemoveAgentParams{ID: id, RemovedAt: micros(deed.At)}); err != nil {
			return err
		}
		if err := endSecrets(ctx, q, id, 0, deed.At); err != nil {
			return err
		}
		return endLinks(ctx, q, row, deed)
	})
}

// endLinks ends all links of an agent, each with an entry in its customer's audit.
func endLinks(ctx context.Context, q *query.Queries, row query.Agent, deed registrar.Deed) error {
	for {
		linked, err := q.LinksOfAgent(ctx, query.LinksOfAgentParams{AgentID: row.ID, Limit: linksAtOnce})
		if err != nil || len(linked) == 0 {
			return err
		}
		for _, customer := range linked {
			if _, err := q.DeleteAgentLink(ctx, query.DeleteAgentLinkParams{CustomerID: customer, AgentID: row.ID}); err != nil {
				return err
			}
			told := deed
			told.Action, told.Customer, told.Object = agent.Unlinked, customer, row.Name
			if err := recordDeed(ctx, q, told); err != nil {
				return err
			}
		}
	}
}

// ofLiveAgent makes a change that only a live agent can have, with its deed; false
// if the agent is not live. Changes to one agent come one after the other.
func (db *DB) ofLiveAgent(ctx context.Context, id string, deed registrar.Deed, change func(*query.Queries) error) (bool, error) {
	if neverStored(id) {
		return false, nil
	}
	live := false
	err := db.write(ctx, func(q *query.Queries) error {
		touched, err := q.TouchAgent(ctx, id)
		if live = touched == 1; err != nil || !live {
			return err
		}
		if err := change(q); err != nil {
			return err
		}
		return recordDeed(ctx, q, deed)
	})
	return live && err == nil, err
}

// SeeSignature remembers a signature, and says with which path it came first.
func (db *DB) SeeSignature(ctx context.Context, seen agent.Seen) (string, error) {
	path := seen.Path
	err := db.write(ctx, func(q *query.Queries) error {
		fresh, err := q.InsertSignature(ctx, query.InsertSignatureParams{
			AgentID: seen.Agent, Mac: seen.MAC, Path: seen.Path, EndsAt: micros(seen.EndsAt),
		})
		if err != nil || fresh == 1 {
			return err
		}
		path, err = q.PathOfSignature(ctx, query.PathOfSignatureParams{AgentID: seen.Agent, Mac: seen.MAC})
		return err
	})
	return path, err
}

// ForgetSignatures removes some whose time is over.
func (db *DB) ForgetSignatures(ctx context.Context, now time.Time, limit int) (int, error) {
	removed := 0
	err := db.write(ctx, func(q *query.Queries) error {
		old, err := q.OldSignatures(ctx, query.OldSignaturesParams{EndsAt: micros(now), Limit: int32(limit)})
		if err != nil {
			return err
		}
		for _, one := range old {
			if err := q.DeleteSignature(ctx, query.DeleteSignatureParams{AgentID: one.AgentID, Mac: one.Mac, EndsAt: micros(now)}); err != nil {
				return err
			}
		}
		removed = len(old)
		return nil
	})
	return removed, err
}

// LinkAgent stores a customer's leave for an agent.
func (db *DB) LinkAgent(ctx context.Context, customer, id string, deed registrar.Deed, letter registrar.Letter) (bool, error) {
	made := false
	var errThere error = &registrar.Error{Kind: registrar.KindConflict, Code: "linked_already"}
	live, err := db.ofLiveAgent(ctx, id, deed, func(q *query.Queries) error {
		open, err := q.HoldOpenAccount(ctx, customer)
		if err != nil || open == 0 {
			return errors.Join(err, noSuchAgentIf(err == nil))
		}
		added, err := q.InsertAgentLink(ctx, query.InsertAgentLinkParams{
			CustomerID: customer, AgentID: id, ByKind: string(deed.Actor.Kind), ByID: deed.Actor.Through, CreatedAt: micros(deed.At),
		})
		if err != nil {
			return err
		}
		if made = added == 1; !made {
			return errThere // so that nothing is told of it
		}
		return recordLetter(ctx, q, letter, deed.At)
	})
	if errors.Is(err, errThere) {
		return false, nil
	}
	if err == nil {
		err = noSuchAgentIf(!live)
	}
	return made && err == nil, err
}

func noSuchAgentIf(none bool) error {
	if none {
		return &registrar.Error{Kind: registrar.KindNotFound, Code: agent.NoSuchAgent}
	}
	return nil
}

// UnlinkAgent ends a customer's leave for an agent.
func (db *DB) UnlinkAgent(ctx context.Context, customer, id string, deed registrar.Deed) (bool, error) {
	ended := false
	err := db.write(ctx, func(q *query.Queries) (err error) {
		ended, err = changed(q.DeleteAgentLink(ctx, query.DeleteAgentLinkParams{CustomerID: customer, AgentID: id}))
		if err != nil || !ended {
			return err
		}
		if err := q.DropTidings(ctx, query.DropTidingsParams{AgentID: id, CustomerID: customer}); err != nil {
			return err
		}
		return recordDeed(ctx, q, deed)
	})
	return ended && err == nil, err
}

// LinksOf are a customer's links, by the agents' names.
func (db *DB) LinksOf(ctx context.Context, customer string) ([]agent.Link, error) {
	rows, err := db.read().LinksOfCustomer(ctx, customer)
	if err != nil {
		return nil, fmt.Errorf("linked agents: %w", err)
	}
	links := make([]agent.Link, 0, len(rows))
	for _, row := range rows {
		links = append(links, agent.Link{Customer: customer, At: fromMicros(row.LinkedAt), Agent: agent.Agent{
			ID: row.ID, Name: row.Name, Profile: signing.Profile(row.Profile), CreatedAt: fromMicros(row.CreatedAt),
		}})
	}
	return links, nil
}
