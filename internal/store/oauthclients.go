package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/access"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ access.ApplicationStore = (*DB)(nil)

// AddClient stores an application that registered itself.
func (db *DB) AddClient(ctx context.Context, client access.Client) error {
	uris, err := json.Marshal(client.RedirectURIs)
	if err != nil {
		return err
	}
	return db.write(ctx, func(q *query.Queries) error {
		return q.InsertClient(ctx, query.InsertClientParams{
			ID: client.ID, Kind: string(client.Kind), Name: client.Name, RedirectUris: string(uris),
			AuthMethod: string(client.AuthMethod), SecretHash: string(client.SecretHash),
			CreatedAt: micros(client.CreatedAt), LastUsedAt: micros(client.LastUsedAt),
		})
	})
}

// Client returns an application by its id.
func (db *DB) Client(ctx context.Context, id string) (access.Client, bool, error) {
	row, err := db.read().ClientByID(ctx, id)
	if errors.Is(err, sql.ErrNoRows) {
		return access.Client{}, false, nil
	}
	if err != nil {
		return access.Client{}, false, err
	}
	client := access.Client{
		ID: row.ID, Kind: access.ClientKind(row.Kind), Name: row.Name, AuthMethod: access.AuthMethod(row.AuthMethod),
		SecretHash: registrar.SecretHash(row.SecretHash), CreatedAt: fromMicros(row.CreatedAt), LastUsedAt: fromMicros(row.LastUsedAt),
	}
	if err := json.Unmarshal([]byte(row.RedirectUris), &client.RedirectURIs); err != nil {
		return access.Client{}, false, fmt.Errorf("the redirect URIs of a client: %w", err)
	}
	return client, true, nil
}

// AddConsent forgets the session's oldest questions and stores one more.
func (db *DB) AddConsent(ctx context.Context, consent access.Consent, keep int) error {
	return db.write(ctx, func(q *query.Queries) error {
		if err := q.DeleteOldConsentsOfSession(ctx, query.DeleteOldConsentsOfSessionParams{
			SessionID: consent.Session, Offset: int32(keep - 1),
		}); err != nil {
			return err
		}
		return q.InsertConsent(ctx, query.InsertConsentParams{
			Hash: string(consent.Hash), SessionID: consent.Session, CustomerID: consent.Customer,
			Request: consent.Request, ExpiresAt: micros(consent.ExpiresAt),
		})
	})
}

// OpenConsent returns what a question asked, if it still can be answered.
func (db *DB) OpenConsent(ctx context.Context, key access.ConsentKey, now time.Time) (request string, found bool, err error) {
	request, err = db.read().OpenConsent(ctx, query.OpenConsentParams{
		Hash: string(key.Hash), SessionID: key.Session, CustomerID: key.Customer, ExpiresAt: micros(now),
	})
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return request, err == nil, err
}

// Decide answers a question once.
func (db *DB) Decide(ctx context.Context, key access.ConsentKey, approval *access.Approval, deed registrar.Deed) (decided bool, err error) {
	err = db.write(ctx, func(q *query.Queries) error {
		used, err := q.UseConsent(ctx, query.UseConsentParams{
			Hash: string(key.Hash), SessionID: key.Session, CustomerID: key.Customer, UsedAt: micros(deed.At),
		})
		if err != nil || used == 0 {
			return err
		}
		decided = true
		if approval != nil {
			if decided, err = approve(ctx, q, *approval); err != nil || !decided {
				return err
			}
			if err := recordLetter(ctx, q, approval.Letter, deed.At); err != nil {
				return err
			}
		}
		return recordDeed(ctx, q, deed)
	})
	return decided && err == nil, err
}

// approve is false if the application has been removed meanwhile.
func approve(ctx context.Context, q *query.Queries, approval access.Approval) (bool, error) {
	known, err := rememberClient(ctx, q, approval.Client)
	if err != nil || !known {
		return false, err
	}
	code := approval.Code
	return true, q.InsertCode(ctx, query.InsertCodeParams{
		Hash: string(approval.Hash), ClientID: code.ClientID, ClientName: code.ClientName, CustomerID: code.Customer,
		RedirectUri: code.RedirectURI, Challenge: code.Challenge, Scope: code.Scope, Resource: code.Resource,
		ExpiresAt: micros(code.ExpiresAt),
	})
}

// rememberClient notes that a client is used. One that is known by a document is
// stored with what the document said when the customer saw it.
func rememberClient(ctx context.Context, q *query.Queries, client access.Client) (known bool, err error) {
	if client.Kind != access.ClientDocument {
		touched, err := q.TouchClient(ctx, query.TouchClientParams{ID: client.ID, LastUsedAt: micros(client.LastUsedAt)})
		return touched > 0, err
	}
	uris, err := json.Marshal(client.RedirectURIs)
	if err != nil {
		return false, err
	}
	return true, q.RememberDocumentClient(ctx, query.RememberDocumentClientParams{
		ID: client.ID, Name: client.Name, RedirectUris: string(uris), CreatedAt: micros(client.LastUsedAt),
	})
}
