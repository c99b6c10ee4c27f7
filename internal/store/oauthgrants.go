package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// GetAuthorizationCode returns a code by its hash.
func (db *DB) GetAuthorizationCode(ctx context.Context, hash registrar.SecretHash) (oauth.AuthorizationCode, bool, error) {
	return rowAs(func(row query.GetAuthorizationCodeRow) oauth.AuthorizationCode {
		return oauth.AuthorizationCode{
			ClientID: row.ClientID, ClientName: row.ClientName, Customer: row.CustomerID, RedirectURI: row.RedirectUri,
			Challenge: row.Challenge, Scope: row.Scope, Resource: row.Resource, ExpiresAt: fromMicros(row.ExpiresAt),
			Used: row.UsedAt != 0, Disabled: row.DisabledAt != 0,
		}
	})(db.read().GetAuthorizationCode(ctx, string(hash)))
}

// RedeemAuthorizationCode exchanges a code for a grant, or revokes the grant that the code
// was exchanged for before. Concurrent calls serialise on the code's row: the losers wait
// for the winner and then find its grant.
func (db *DB) RedeemAuthorizationCode(
	ctx context.Context, code registrar.SecretHash, family oauth.Grant, pair oauth.TokenPair, connected, replay registrar.AuditEvent,
) (redeemed bool, err error) {
	err = db.write(ctx, func(q *query.Queries) error {
		used, err := q.UseAuthorizationCode(ctx, query.UseAuthorizationCodeParams{Hash: string(code), UsedAt: micros(family.At), GrantID: family.GrantID})
		if err != nil {
			return err
		}
		if used == 0 {
			return revokeGrantOfCode(ctx, q, code, replay)
		}
		if _, err := q.TouchClient(ctx, family.ClientID, micros(family.At)); err != nil {
			return err
		}
		if err := q.InsertGrant(ctx, query.InsertGrantParams{
			ID: family.GrantID, CustomerID: family.Customer, ClientID: family.ClientID, ClientName: family.ClientName,
			RedirectUri: family.RedirectURI, Scope: family.Scope, Resource: family.Resource,
			CreatedAt: micros(family.At), ExpiresAt: micros(pair.RefreshExpiresAt),
		}); err != nil {
			return err
		}
		if err := insertTokenPair(ctx, q, family.GrantID, 1, 0, pair); err != nil {
			return err
		}
		redeemed = true
		return insertAuditEvent(ctx, q, connected)
	})
	return redeemed && err == nil, err
}

// InvalidateAuthorizationCode marks a code as used, or revokes the grant that it was used for.
func (db *DB) InvalidateAuthorizationCode(ctx context.Context, code registrar.SecretHash, replay registrar.AuditEvent) error {
	return db.write(ctx, func(q *query.Queries) error {
		used, err := q.UseAuthorizationCode(ctx, query.UseAuthorizationCodeParams{Hash: string(code), UsedAt: micros(replay.At)})
		if err != nil || used > 0 {
			return err
		}
		return revokeGrantOfCode(ctx, q, code, replay)
	})
}

func revokeGrantOfCode(ctx context.Context, q *query.Queries, code registrar.SecretHash, replay registrar.AuditEvent) error {
	grant, err := q.GetGrantIDByAuthorizationCode(ctx, string(code))
	if ok, err := found(err); !ok || grant == "" { // invalidated, or expired unused
		return err
	}
	replay.Actor.Through = grant
	_, err = revokeGrant(ctx, q, grant, replay)
	return err
}

// revokeGrant returns false if the grant has ended already; no event is recorded then.
func revokeGrant(ctx context.Context, q *query.Queries, grant string, event registrar.AuditEvent) (bool, error) {
	ended, err := q.RevokeGrant(ctx, grant, micros(event.At))
	if ok, err := found(err); !ok {
		return false, err
	}
	event.Object = oauth.AppLabel(ended.ClientName, ended.RedirectUri)
	var mail *registrar.Mail
	if event.Action == oauth.AppReplayed {
		mail = new(oauth.ReplayMail(event.Actor, ended.ClientName, ended.RedirectUri))
	}
	return true, recordEffects(ctx, q, &event, mail, event.At)
}

func insertTokenPair(ctx context.Context, q *query.Queries, grant string, generation, epoch int64, pair oauth.TokenPair) error {
	if err := q.InsertAccessToken(ctx, query.InsertAccessTokenParams{
		Hash: string(pair.Access), GrantID: grant, Scope: pair.Scope, ExpiresAt: micros(pair.AccessExpiresAt),
	}); err != nil {
		return err
	}
	return q.InsertRefreshToken(ctx, query.InsertRefreshTokenParams{
		Hash: string(pair.Refresh), GrantID: grant, Generation: generation, ExpiresAt: micros(pair.RefreshExpiresAt), Epoch: epoch,
	})
}

// GetRefreshToken returns a refresh token by its hash.
func (db *DB) GetRefreshToken(ctx context.Context, hash registrar.SecretHash) (oauth.RefreshToken, bool, error) {
	return rowAs(func(row query.GetRefreshTokenRow) oauth.RefreshToken {
		return oauth.RefreshToken{
			GrantID: row.GrantID, Customer: row.CustomerID, ClientID: row.ClientID, Scope: row.Scope, Resource: row.Resource,
			Generation: row.Generation, Epoch: row.Epoch, ExpiresAt: fromMicros(row.ExpiresAt),
			Used: row.UsedAt != 0, Superseded: row.Epoch != row.GrantEpoch,
			Revoked: row.RevokedAt != 0, Disabled: row.DisabledAt != 0,
		}
	})(db.read().GetRefreshToken(ctx, string(hash)))
}

// RotateRefreshToken uses a refresh token. The token's row decides which call is first; the
// grant's row, which every rotation writes next, serialises the rest.
func (db *DB) RotateRefreshToken(ctx context.Context, r oauth.Rotation, pair oauth.TokenPair, replay registrar.AuditEvent) (rotated bool, err error) {
	err = db.write(ctx, func(q *query.Queries) error {
		used, err := q.UseRefreshToken(ctx, string(r.Hash), micros(r.Now))
		if err != nil {
			return err
		}
		decide := advanceGrant
		if used == 0 {
			decide = reuseRefreshToken
		}
		epoch, alive, err := decide(ctx, q, r, pair, replay)
		if err != nil || !alive {
			return err
		}
		rotated = true
		return insertTokenPair(ctx, q, r.GrantID, r.Generation+1, epoch, pair)
	})
	return rotated && err == nil, err
}

// advanceGrant extends a grant at the first use of a token and returns the epoch of the
// next token; false if the grant has ended. If siblings are left after the leeway, the
// first one used starts the next epoch, which revokes the others. A token of an earlier
// epoch is such a revoked sibling, and its use revokes the grant.
func advanceGrant(ctx context.Context, q *query.Queries, r oauth.Rotation, pair oauth.TokenPair, replay registrar.AuditEvent) (epoch int64, alive bool, err error) {
	epoch, err = q.AdvanceGrant(ctx, query.AdvanceGrantParams{
		ID: r.GrantID, Generation: r.Generation + 1, Epoch: r.Epoch, Now: micros(r.Now), ExpiresAt: micros(pair.RefreshExpiresAt),
	})
	if ok, err := found(err); !ok {
		if err == nil {
			_, err = revokeGrant(ctx, q, r.GrantID, replay)
		}
		return 0, false, err
	}
	if epoch != r.Epoch { // the leeway of this token continues in the new epoch
		err = q.SetRefreshTokenEpoch(ctx, string(r.Hash), epoch)
	}
	return epoch, err == nil, err
}

// reuseRefreshToken handles a refresh token that was used before. It locks the token's row
// and then the grant's, as a first use does: on PostgreSQL the update that found the token
// used may hold the former, and the reverse order could deadlock.
func reuseRefreshToken(ctx context.Context, q *query.Queries, r oauth.Rotation, pair oauth.TokenPair, replay registrar.AuditEvent) (epoch int64, alive bool, err error) {
	token, err := q.ReuseRefreshToken(ctx, string(r.Hash))
	if ok, err := found(err); !ok { // expired unused
		return 0, false, err
	}
	family, err := q.LockGrant(ctx, r.GrantID)
	if ok, err := found(err); !ok { // the grant has ended
		return 0, false, err
	}
	// The time since the first use may be negative: the loser of a race may have read the
	// clock before the winner.
	leewayEnds := fromMicros(token.UsedAt).Add(r.Leeway)
	excused := r.Leeway > 0 && leewayEnds.After(r.Now) && family.Generation == token.Generation+1 && family.Epoch == token.Epoch
	if !excused {
		_, err := revokeGrant(ctx, q, r.GrantID, replay)
		return 0, false, err
	}
	// After the leeway no further sibling is issued; the first use of one decides.
	undecided := family.SiblingsUntil > 0 && family.SiblingsUntil <= micros(r.Now)
	if undecided || token.Reuses > int64(r.MaxReuses) {
		return 0, false, nil
	}
	rows, err := q.ForkGrant(ctx, query.ForkGrantParams{
		ID: r.GrantID, SiblingsUntil: micros(leewayEnds), Now: micros(r.Now), ExpiresAt: micros(pair.RefreshExpiresAt),
	})
	return family.Epoch, rows > 0, err
}

// GetAccessToken returns an access token by its hash.
func (db *DB) GetAccessToken(ctx context.Context, hash registrar.SecretHash) (oauth.AccessToken, bool, error) {
	return rowAs(func(row query.GetAccessTokenRow) oauth.AccessToken {
		return oauth.AccessToken{
			GrantID: row.GrantID, Customer: row.CustomerID, ClientID: row.ClientID, Scope: row.Scope, Resource: row.Resource,
			ExpiresAt: fromMicros(row.ExpiresAt), Revoked: row.RevokedAt != 0, Disabled: row.DisabledAt != 0,
		}
	})(db.read().GetAccessToken(ctx, string(hash)))
}

// EndGrant revokes a grant.
func (db *DB) EndGrant(ctx context.Context, grant string, event registrar.AuditEvent) (ended bool, err error) {
	err = db.write(ctx, func(q *query.Queries) (err error) {
		ended, err = revokeGrant(ctx, q, grant, event)
		return err
	})
	return ended && err == nil, err
}

// ListLiveGrants returns a customer's live grants.
func (db *DB) ListLiveGrants(ctx context.Context, customer string, now time.Time) ([]oauth.LiveGrant, error) {
	return rowsAs(func(row query.ListCustomerGrantsRow) oauth.LiveGrant {
		return oauth.LiveGrant{
			GrantID: row.ID, ClientID: row.ClientID, ClientName: row.ClientName, RedirectURI: row.RedirectUri, Scope: row.Scope,
			CreatedAt: fromMicros(row.CreatedAt), LastUsedAt: fromMicros(row.LastUsedAt), ExpiresAt: fromMicros(row.ExpiresAt),
		}
	})(db.read().ListCustomerGrants(ctx, customer, micros(now)))
}

// DisconnectClient revokes all codes and grants that a client has of a customer. Codes are
// first: a client that is redeeming one holds its row, so its grant is either found below
// or never created.
func (db *DB) DisconnectClient(ctx context.Context, customer, grant string, event registrar.AuditEvent) (bool, error) {
	return db.swap(ctx, func(q *query.Queries) error {
		client, err := q.GetGrantClient(ctx, grant, customer)
		if ok, err := found(err); !ok {
			return cmp.Or(err, errConflict)
		}
		at := micros(event.At)
		if err := q.RevokeAuthorizationCodesOfClient(ctx, query.RevokeAuthorizationCodesOfClientParams{CustomerID: customer, ClientID: client.ClientID, UsedAt: at}); err != nil {
			return err
		}
		grants, err := q.ListLiveGrantIDs(ctx, customer, client.ClientID)
		if err != nil || len(grants) == 0 {
			return err // nothing was revoked, so no event
		}
		if err := revokeGrants(ctx, q, grants, at); err != nil {
			return err
		}
		event.Object = oauth.AppLabel(client.ClientName, client.RedirectUri)
		return insertAuditEvent(ctx, q, event)
	})
}

// revokeGrants revokes live grants, sorted by id like those of RecordGrantUses.
func revokeGrants(ctx context.Context, q *query.Queries, ids []string, at int64) error {
	for _, id := range ids {
		if _, err := q.RevokeGrant(ctx, id, at); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	return nil
}

// RecordGrantUses stores when grants were last used.
func (db *DB) RecordGrantUses(ctx context.Context, uses []oauth.TokenUse) error {
	return db.recordUses(ctx, uses, (*query.Queries).TouchGrant)
}

// recordUses touches rows in the order of their ids, so that nodes can't deadlock.
func (db *DB) recordUses(
	ctx context.Context, uses []oauth.TokenUse, touch func(q *query.Queries, ctx context.Context, id string, lastUsedAt int64) error,
) error {
	sorted := slices.SortedFunc(slices.Values(uses), func(a, b oauth.TokenUse) int { return strings.Compare(a.TokenID, b.TokenID) })
	return db.write(ctx, func(q *query.Queries) error {
		for _, use := range sorted {
			if err := touch(q, ctx, use.TokenID, micros(use.At)); err != nil {
				return err
			}
		}
		return nil
	})
}

// connectedClientRecheck is the time until a connected client is checked again, so that
// not every cleanup reads all of them.
const connectedClientRecheck = 24 * time.Hour

// DeleteExpiredOAuth deletes at most limit rows of each kind, each kind in a transaction of
// its own to keep locks short. Grants are deleted before the clients that they reference.
func (db *DB) DeleteExpiredOAuth(ctx context.Context, due oauth.ExpiryCutoffs, limit int) (int, error) {
	total := 0
	for _, step := range []struct {
		before time.Time
		delete func(*query.Queries, context.Context, int64, int32) (int64, error)
	}{
		{due.Tokens, (*query.Queries).DeleteExpiredAccessTokens},
		{due.Tokens, (*query.Queries).DeleteExpiredRefreshTokens},
		{due.Codes, (*query.Queries).DeleteExpiredAuthorizationCodes},
		{due.Consents, (*query.Queries).DeleteExpiredConsents},
		{due.Grants, (*query.Queries).DeleteEndedGrants},
		{due.Clients, func(q *query.Queries, ctx context.Context, before int64, limit int32) (int64, error) {
			touched, err := q.TouchConnectedClients(ctx, query.TouchConnectedClientsParams{
				Before: before, MaxRows: limit, LastUsedAt: before + connectedClientRecheck.Microseconds(),
			})
			if err != nil {
				return 0, err
			}
			deleted, err := q.DeleteUnusedClients(ctx, before, limit)
			return touched + deleted, err
		}},
	} {
		err := db.write(ctx, func(q *query.Queries) error {
			rows, err := step.delete(q, ctx, micros(step.before), int32(limit))
			total += int(rows)
			return err
		})
		if err != nil {
			return total, err
		}
	}
	return total, nil
}
