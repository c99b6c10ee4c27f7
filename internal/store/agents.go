package store

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

var _ agent.Store = (*DB)(nil)

const (
	// maxAgents bounds the list of all agents, removed ones included.
	maxAgents = 1000
	// maxLiveSecrets bounds a list; no agent has more active secrets.
	maxLiveSecrets = 10
	// linkBatchSize is the number of links deleted at a time when an agent is removed.
	linkBatchSize = 1000
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
	ctx context.Context, one agent.Agent, key registrar.SecretHash, secret agent.Secret, hook agent.SealedWebhook, limit int, event registrar.AuditEvent,
) error {
	return db.write(ctx, func(q *query.Queries) error {
		live, err := q.ListLiveAgentIDs(ctx, int32(limit))
		if err != nil {
			return err
		}
		if len(live) >= limit {
			return &registrar.Error{Kind: registrar.KindConflict, Code: agent.TooManyAgents}
		}
		nameTaken := &registrar.Error{Kind: registrar.KindConflict, Code: agent.NameTaken}
		if err := rowOr(nameTaken)(q.InsertAgent(ctx, query.InsertAgentParams{
			ID: one.ID, Name: one.Name, Profile: string(one.Profile), KeyHash: string(key),
			WebhookUrl: hook.URL, WebhookVersion: hook.Version, WebhookSealed: hook.Sealed, CreatedAt: micros(one.CreatedAt),
		})); err != nil {
			return err
		}
		if err := insertSecret(ctx, q, secret); err != nil {
			return err
		}
		return insertAuditEvent(ctx, q, event)
	})
}

func insertSecret(ctx context.Context, q *query.Queries, secret agent.Secret) error {
	return q.InsertAgentSecret(ctx, query.InsertAgentSecretParams{
		ID: secret.ID, AgentID: secret.Agent, Sealed: secret.Sealed, CreatedAt: micros(secret.CreatedAt),
	})
}

// ListAgents returns all agents, removed ones included, the oldest first.
func (db *DB) ListAgents(ctx context.Context) ([]agent.Agent, error) {
	return rowsAs(agentOf)(db.read().ListAgents(ctx, maxAgents))
}

// AgentByID returns an agent, removed or not.
func (db *DB) AgentByID(ctx context.Context, id string) (agent.Agent, bool, error) {
	return rowAs(agentOf)(db.read().GetAgent(ctx, id))
}

// AgentByKey returns the live agent of a key.
func (db *DB) AgentByKey(ctx context.Context, key registrar.SecretHash) (agent.AgentWithSecrets, bool, error) {
	rows, err := db.read().ListLiveAgentSecretsByKey(ctx, string(key))
	if err != nil || len(rows) == 0 {
		return agent.AgentWithSecrets{}, false, err
	}
	known := agent.AgentWithSecrets{Agent: agentOf(rows[0].Agent)}
	for _, row := range rows {
		known.Secrets = append(known.Secrets, secretOf(row.AgentSecret))
	}
	return known, true, nil
}

// ListLiveAgents returns the agents that sign with a profile.
func (db *DB) ListLiveAgents(ctx context.Context, profile signing.Profile, limit int) ([]agent.AgentWithSecrets, error) {
	rows, err := db.read().ListLiveAgentSecretsByProfile(ctx, string(profile), int32(limit*maxLiveSecrets))
	var all []agent.AgentWithSecrets
	for _, row := range rows {
		if len(all) == 0 || all[len(all)-1].ID != row.Agent.ID {
			all = append(all, agent.AgentWithSecrets{Agent: agentOf(row.Agent)})
		}
		last := &all[len(all)-1]
		last.Secrets = append(last.Secrets, secretOf(row.AgentSecret))
	}
	return all, err
}

// AddAgentSecret stores a secret and revokes all but the newest keep.
func (db *DB) AddAgentSecret(ctx context.Context, secret agent.Secret, keep int, event registrar.AuditEvent) (bool, error) {
	return db.changeLiveAgent(ctx, secret.Agent, event, func(q *query.Queries) error {
		if err := insertSecret(ctx, q, secret); err != nil {
			return err
		}
		return revokeOldSecrets(ctx, q, secret.Agent, keep, event.At)
	})
}

// revokeOldSecrets revokes all but the newest keep secrets.
func revokeOldSecrets(ctx context.Context, q *query.Queries, id string, keep int, at time.Time) error {
	live, err := q.ListAgentSecrets(ctx, id, maxLiveSecrets)
	if err != nil {
		return err
	}
	for _, secret := range live[min(keep, len(live)):] {
		if err := q.EndAgentSecret(ctx, secret.ID, micros(at)); err != nil {
			return err
		}
	}
	return nil
}

// SetAgentKey replaces the key of a live agent.
func (db *DB) SetAgentKey(ctx context.Context, id string, key registrar.SecretHash, event registrar.AuditEvent) (bool, error) {
	return db.changeLiveAgent(ctx, id, event, func(q *query.Queries) error {
		return q.SetAgentKey(ctx, id, string(key))
	})
}

// SetAgentWebhook replaces the webhook of a live agent.
func (db *DB) SetAgentWebhook(ctx context.Context, id string, hook agent.SealedWebhook, event registrar.AuditEvent) (bool, error) {
	return db.changeLiveAgent(ctx, id, event, func(q *query.Queries) error {
		return q.SetAgentWebhook(ctx, query.SetAgentWebhookParams{ID: id, WebhookUrl: hook.URL, WebhookVersion: hook.Version, WebhookSealed: hook.Sealed})
	})
}

// RemoveAgent removes an agent, its secrets and its links.
func (db *DB) RemoveAgent(ctx context.Context, id string, event registrar.AuditEvent) (bool, error) {
	return db.changeLiveAgent(ctx, id, event, func(q *query.Queries) error {
		row, err := q.GetAgent(ctx, id)
		if err != nil {
			return err
		}
		if err := q.RemoveAgent(ctx, id, micros(event.At)); err != nil {
			return err
		}
		if err := revokeOldSecrets(ctx, q, id, 0, event.At); err != nil {
			return err
		}
		return deleteAgentLinks(ctx, q, row, event)
	})
}

// deleteAgentLinks deletes all links of an agent, each with an audit event of its customer.
func deleteAgentLinks(ctx context.Context, q *query.Queries, row query.Agent, event registrar.AuditEvent) error {
	for {
		linked, err := q.ListLinkedCustomerIDs(ctx, row.ID, linkBatchSize)
		if err != nil || len(linked) == 0 {
			return err
		}
		for _, customer := range linked {
			if _, err := q.DeleteAgentLink(ctx, customer, row.ID); err != nil {
				return err
			}
			linkEvent := event
			linkEvent.Action, linkEvent.Customer, linkEvent.Object = agent.Unlinked, customer, row.Name
			if err := insertAuditEvent(ctx, q, linkEvent); err != nil {
				return err
			}
		}
	}
}

// changeLiveAgent changes an agent unless it is removed. Changes of one agent are serialised.
func (db *DB) changeLiveAgent(ctx context.Context, id string, event registrar.AuditEvent, change func(*query.Queries) error) (bool, error) {
	if sqldb.IsUnstorable(id) {
		return false, nil
	}
	return db.swap(ctx, func(q *query.Queries) error {
		if err := swapped(q.LockLiveAgent(ctx, id)); err != nil {
			return err
		}
		if err := change(q); err != nil {
			return err
		}
		return insertAuditEvent(ctx, q, event)
	})
}

// RecordSignature stores a signature and returns the path with which it was first seen.
func (db *DB) RecordSignature(ctx context.Context, seen agent.SeenSignature) (string, error) {
	fresh, err := db.single().InsertSeenSignature(ctx, query.InsertSeenSignatureParams{
		AgentID: seen.Agent, Mac: seen.MAC, Path: seen.Path, EndsAt: micros(seen.ExpiresAt),
	})
	if err != nil || fresh == 1 {
		return seen.Path, err
	}
	return db.read().GetSeenSignaturePath(ctx, seen.Agent, seen.MAC)
}

// DeleteExpiredSignatures deletes a batch of expired signatures.
func (db *DB) DeleteExpiredSignatures(ctx context.Context, now time.Time, limit int) (int, error) {
	deleted, err := db.single().DeleteExpiredSignatures(ctx, micros(now), int32(limit))
	return int(deleted), err
}

// LinkAgent lets an agent act for a customer.
func (db *DB) LinkAgent(ctx context.Context, customer, id string, event registrar.AuditEvent, mail registrar.Mail) (bool, error) {
	noSuchAgent := &registrar.Error{Kind: registrar.KindNotFound, Code: agent.NoSuchAgent}
	linked := false
	live, err := db.changeLiveAgent(ctx, id, event, func(q *query.Queries) error {
		if err := rowOr(noSuchAgent)(q.LockOpenAccount(ctx, customer)); err != nil {
			return err
		}
		added, err := q.InsertAgentLink(ctx, query.InsertAgentLinkParams{
			CustomerID: customer, AgentID: id, ByKind: string(event.Actor.Kind), ByID: event.Actor.Through, CreatedAt: micros(event.At),
		})
		if err != nil {
			return err
		}
		if linked = added == 0; linked {
			return errConflict // no audit event and no mail
		}
		return enqueueMail(ctx, q, mail, event.At)
	})
	if err == nil && !live && !linked {
		err = noSuchAgent
	}
	return live, err
}

// UnlinkAgent revokes an agent's permission to act for a customer.
func (db *DB) UnlinkAgent(ctx context.Context, customer, id string, event registrar.AuditEvent) (bool, error) {
	return db.swap(ctx, func(q *query.Queries) error {
		unlinked, err := unlinkAgent(ctx, q, customer, id, event)
		if err == nil && !unlinked {
			err = errConflict
		}
		return err
	})
}

// unlinkAgent returns false if the agent is not linked.
func unlinkAgent(ctx context.Context, q *query.Queries, customer, id string, event registrar.AuditEvent) (bool, error) {
	unlinked, err := changed(rowsOf(q.DeleteAgentLink(ctx, customer, id)))
	if err == nil && unlinked {
		err = q.DeleteWebhookDeliveriesOfUnlinkedAgent(ctx, id, customer)
	}
	if err == nil && unlinked {
		err = insertAuditEvent(ctx, q, event)
	}
	return unlinked, err
}

// ListAgentLinks returns a customer's links, by the agents' names.
func (db *DB) ListAgentLinks(ctx context.Context, customer string) ([]agent.Link, error) {
	return rowsAs(func(row query.ListAgentLinksRow) agent.Link {
		return agent.Link{Customer: customer, At: fromMicros(row.LinkedAt), Agent: agent.Agent{
			ID: row.ID, Name: row.Name, Profile: signing.Profile(row.Profile), CreatedAt: fromMicros(row.CreatedAt),
		}}
	})(db.read().ListAgentLinks(ctx, customer))
}
