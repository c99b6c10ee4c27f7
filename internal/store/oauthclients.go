package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ oauth.AuthorizationStore = (*DB)(nil)

// AddOAuthClient stores a dynamically registered client.
func (db *DB) AddOAuthClient(ctx context.Context, client oauth.Client) error {
	return db.single().InsertClient(ctx, query.InsertClientParams{
		ID: client.ID, Kind: string(client.Kind), Name: client.Name, RedirectUris: jsonText(client.RedirectURIs),
		AuthMethod: string(client.AuthMethod), SecretHash: string(client.SecretHash),
		CreatedAt: micros(client.CreatedAt), LastUsedAt: micros(client.LastUsedAt),
	})
}

// GetOAuthClient returns a client by its id.
func (db *DB) GetOAuthClient(ctx context.Context, id string) (oauth.Client, bool, error) {
	return decodeRow(func(row query.Client) (oauth.Client, error) {
		client := oauth.Client{
			ID: row.ID, Kind: oauth.ClientKind(row.Kind), Name: row.Name, AuthMethod: oauth.AuthMethod(row.AuthMethod),
			SecretHash: registrar.SecretHash(row.SecretHash), CreatedAt: fromMicros(row.CreatedAt), LastUsedAt: fromMicros(row.LastUsedAt),
		}
		if err := json.Unmarshal([]byte(row.RedirectUris), &client.RedirectURIs); err != nil {
			return oauth.Client{}, fmt.Errorf("store: decode redirect URIs of a client: %w", err)
		}
		return client, nil
	})(db.read().GetClient(ctx, id))
}

// AddConsent stores a consent request and deletes the session's oldest ones.
func (db *DB) AddConsent(ctx context.Context, consent oauth.Consent, keep int) error {
	return db.write(ctx, func(q *query.Queries) error {
		if err := q.DeleteOldConsentsOfSession(ctx, consent.Session, int32(keep-1)); err != nil {
			return err
		}
		return q.InsertConsent(ctx, query.InsertConsentParams{
			Hash: string(consent.Hash), SessionID: consent.Session, CustomerID: consent.Customer,
			Request: consent.Request, ExpiresAt: micros(consent.ExpiresAt),
		})
	})
}

// GetOpenConsent returns a consent request that is still open.
func (db *DB) GetOpenConsent(ctx context.Context, key oauth.ConsentKey, now time.Time) (string, bool, error) {
	return foundValue(db.read().GetOpenConsent(ctx, query.GetOpenConsentParams{
		Hash: string(key.Hash), SessionID: key.Session, CustomerID: key.Customer, ExpiresAt: micros(now),
	}))
}

// DecideConsent records the decision about a consent request, once.
func (db *DB) DecideConsent(ctx context.Context, key oauth.ConsentKey, approval *oauth.Approval, event registrar.AuditEvent) (decided bool, err error) {
	err = db.write(ctx, func(q *query.Queries) error {
		used, err := q.UseConsent(ctx, query.UseConsentParams{
			Hash: string(key.Hash), SessionID: key.Session, CustomerID: key.Customer, UsedAt: micros(event.At),
		})
		if err != nil || used == 0 {
			return err
		}
		decided = true
		if approval != nil {
			if decided, err = insertApproval(ctx, q, *approval); err != nil || !decided {
				return err
			}
			if err := enqueueMail(ctx, q, approval.Mail, event.At); err != nil {
				return err
			}
		}
		return insertAuditEvent(ctx, q, event)
	})
	return decided && err == nil, err
}

// insertApproval returns false if the client was removed meanwhile.
func insertApproval(ctx context.Context, q *query.Queries, approval oauth.Approval) (bool, error) {
	known, err := touchClient(ctx, q, approval.Client)
	if err != nil || !known {
		return false, err
	}
	code := approval.Code
	return true, q.InsertAuthorizationCode(ctx, query.InsertAuthorizationCodeParams{
		Hash: string(approval.Hash), ClientID: code.ClientID, ClientName: code.ClientName, CustomerID: code.Customer,
		RedirectUri: code.RedirectURI, Challenge: code.Challenge, Scope: code.Scope, Resource: code.Resource,
		ExpiresAt: micros(code.ExpiresAt),
	})
}

// touchClient records the use of a client. A client identified by a metadata document is
// stored with the metadata that the customer saw.
func touchClient(ctx context.Context, q *query.Queries, client oauth.Client) (known bool, err error) {
	if client.Kind != oauth.ClientMetadataDocument {
		touched, err := q.TouchClient(ctx, client.ID, micros(client.LastUsedAt))
		return touched > 0, err
	}
	return true, q.UpsertDocumentClient(ctx, query.UpsertDocumentClientParams{
		ID: client.ID, Name: client.Name, RedirectUris: jsonText(client.RedirectURIs), CreatedAt: micros(client.LastUsedAt),
	})
}
