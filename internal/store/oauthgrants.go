package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/access"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// Code returns a code by its hash.
func (db *DB) Code(ctx context.Context, hash registrar.SecretHash) (access.Code, bool, error) {
	row, err := db.read().CodeByHash(ctx, string(hash))
	if errors.Is(err, sql.ErrNoRows) {
		return access.Code{}, false, nil
	}
	return access.Code{
		ClientID: row.ClientID, ClientName: row.ClientName, Customer: row.CustomerID, RedirectURI: row.RedirectUri,
		Challenge: row.Challenge, Scope: row.Scope, Resource: row.Resource, ExpiresAt: fromMicros(row.ExpiresAt),
		Used: row.UsedAt != 0, Disabled: row.DisabledAt != 0,
	}, err == nil, err
}

// Redeem uses a code for a family of tokens, or ends the family that it was used
// for before. A race for one code meets at its row: the losers wait for the
// winner and then see its family.
func (db *DB) Redeem(
	ctx context.Context, code registrar.SecretHash, family access.Family, pair access.Pair, connected, replay registrar.Deed,
) (redeemed bool, err error) {
	err = db.write(ctx, func(q *query.Queries) error {
		used, err := q.UseCode(ctx, query.UseCodeParams{Hash: string(code), UsedAt: micros(family.At), GrantID: family.GrantID})
		if err != nil {
			return err
		}
		if used == 0 {
			return endFamilyOfCode(ctx, q, code, replay)
		}
		if _, err := q.TouchClient(ctx, query.TouchClientParams{ID: family.ClientID, LastUsedAt: micros(family.At)}); err != nil {
			return err
		}
		if err := q.InsertGrant(ctx, query.InsertGrantParams{
			ID: family.GrantID, CustomerID: family.Customer, ClientID: family.ClientID, ClientName: family.ClientName,
			RedirectUri: family.RedirectURI, Scope: family.Scope, Resource: family.Resource,
			CreatedAt: micros(family.At), ExpiresAt: micros(pair.RefreshExpireAt),
		}); err != nil {
			return err
		}
		if err := insertPair(ctx, q, family.GrantID, 1, 0, pair); err != nil {
			return err
		}
		redeemed = true
		return recordDeed(ctx, q, connected)
	})
	return redeemed && err == nil, err
}

// Burn uses a code for nothing, or ends the family that it was used for before.
func (db *DB) Burn(ctx context.Context, code registrar.SecretHash, replay registrar.Deed) error {
	return db.write(ctx, func(q *query.Queries) error {
		used, err := q.UseCode(ctx, query.UseCodeParams{Hash: string(code), UsedAt: micros(replay.At)})
		if err != nil || used > 0 {
			return err
		}
		return endFamilyOfCode(ctx, q, code, replay)
	})
}

func endFamilyOfCode(ctx context.Context, q *query.Queries, code registrar.SecretHash, replay registrar.Deed) error {
	grant, err := q.GrantOfCode(ctx, string(code))
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if grant == "" {
		return nil // it was burnt, or expired unused
	}
	replay.Actor.Through = grant
	_, err = endFamily(ctx, q, grant, replay)
	return err
}

// endFamily is false if it has ended already; then there is nothing to tell.
func endFamily(ctx context.Context, q *query.Queries, grant string, deed registrar.Deed) (bool, error) {
	ended, err := q.RevokeGrant(ctx, query.RevokeGrantParams{ID: grant, RevokedAt: micros(deed.At)})
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	deed.Object = access.AppLabel(ended.ClientName, ended.RedirectUri)
	if err := recordDeed(ctx, q, deed); err != nil {
		return false, err
	}
	if deed.Action != access.AppReplayed {
		return true, nil
	}
	return true, recordLetter(ctx, q, access.ReplayLetter(deed.Actor, ended.ClientName, ended.RedirectUri), deed.At)
}

func insertPair(ctx context.Context, q *query.Queries, grant string, generation, epoch int64, pair access.Pair) error {
	if err := q.InsertAccessToken(ctx, query.InsertAccessTokenParams{
		Hash: string(pair.Access), GrantID: grant, Scope: pair.Scope, ExpiresAt: micros(pair.AccessExpiresAt),
	}); err != nil {
		return err
	}
	return q.InsertRefreshToken(ctx, query.InsertRefreshTokenParams{
		Hash: string(pair.Refresh), GrantID: grant, Generation: generation, ExpiresAt: micros(pair.RefreshExpireAt), Epoch: epoch,
	})
}

// RefreshToken returns what is known about a refresh token.
func (db *DB) RefreshToken(ctx context.Context, hash registrar.SecretHash) (access.Refreshable, bool, error) {
	row, err := db.read().RefreshTokenByHash(ctx, string(hash))
	if errors.Is(err, sql.ErrNoRows) {
		return access.Refreshable{}, false, nil
	}
	return access.Refreshable{
		GrantID: row.GrantID, Customer: row.CustomerID, ClientID: row.ClientID, Scope: row.Scope, Resource: row.Resource,
		Generation: row.Generation, Epoch: row.Epoch, ExpiresAt: fromMicros(row.ExpiresAt),
		Used: row.UsedAt != 0, Superseded: row.Epoch != row.GrantEpoch,
		Revoked: row.RevokedAt != 0, Disabled: row.DisabledAt != 0,
	}, err == nil, err
}

// Rotate uses a refresh token. Its row decides who is first; the family's row,
// which every rotation writes next, orders all that follows.
func (db *DB) Rotate(ctx context.Context, r access.Rotation, pair access.Pair, replay registrar.Deed) (rotated bool, err error) {
	err = db.write(ctx, func(q *query.Queries) error {
		used, err := q.UseRefreshToken(ctx, query.UseRefreshTokenParams{Hash: string(r.Hash), UsedAt: micros(r.Now)})
		if err != nil {
			return err
		}
		decide := advance
		if used == 0 {
			decide = reuse
		}
		epoch, alive, err := decide(ctx, q, r, pair, replay)
		if err != nil || !alive {
			return err
		}
		rotated = true
		return insertPair(ctx, q, r.GrantID, r.Generation+1, epoch, pair)
	})
	return rotated && err == nil, err
}

// advance prolongs a family by the first use of a token, and returns the epoch of
// the next one; false if the family has ended. If siblings are left after the
// leeway, this one is the first used: it takes the family into the next epoch and
// revokes the others. A token of an epoch before is such a revoked sibling, and ends
// the family.
func advance(ctx context.Context, q *query.Queries, r access.Rotation, pair access.Pair, replay registrar.Deed) (epoch int64, alive bool, err error) {
	epoch, err = q.AdvanceGrant(ctx, query.AdvanceGrantParams{
		ID: r.GrantID, Generation: r.Generation + 1, Epoch: r.Epoch, Now: micros(r.Now), ExpiresAt: micros(pair.RefreshExpireAt),
	})
	if errors.Is(err, sql.ErrNoRows) {
		_, err = endFamily(ctx, q, r.GrantID, replay)
		return 0, false, err
	}
	if err != nil {
		return 0, false, err
	}
	if epoch != r.Epoch { // the leeway of this token goes on in the new epoch
		err = q.SetRefreshTokenEpoch(ctx, query.SetRefreshTokenEpochParams{Hash: string(r.Hash), Epoch: epoch})
	}
	return epoch, err == nil, err
}

// reuse decides about a refresh token that was used before. It locks the token's
// row and then the family's, as a first use does: PostgreSQL may have left the
// former locked by the update that found it used, and two orders would meet in a
// deadlock.
func reuse(ctx context.Context, q *query.Queries, r access.Rotation, pair access.Pair, replay registrar.Deed) (epoch int64, alive bool, err error) {
	token, err := q.ReuseRefreshToken(ctx, string(r.Hash))
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil // it expired unused
	}
	if err != nil {
		return 0, false, err
	}
	family, err := q.LockGrant(ctx, r.GrantID)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil // the family has ended
	}
	if err != nil {
		return 0, false, err
	}
	// No leeway is asked for by itself: whoever lost the race may have read the
	// clock before the winner did, and so come before the first use.
	leewayEnds := fromMicros(token.UsedAt).Add(r.Leeway)
	excused := r.Leeway > 0 && leewayEnds.After(r.Now) && family.Generation == token.Generation+1 && family.Epoch == token.Epoch
	if !excused {
		_, err := endFamily(ctx, q, r.GrantID, replay)
		return 0, false, err
	}
	// Siblings whose leeway is over wait for a first use; no further one joins them.
	undecided := family.SiblingsUntil > 0 && family.SiblingsUntil <= micros(r.Now)
	if undecided || token.Reuses > int64(r.MaxReuses) {
		return 0, false, nil
	}
	rows, err := q.ForkGrant(ctx, query.ForkGrantParams{
		ID: r.GrantID, SiblingsUntil: micros(leewayEnds), Now: micros(r.Now), ExpiresAt: micros(pair.RefreshExpireAt),
	})
	return family.Epoch, rows > 0, err
}

// AccessToken returns what is known about an access token.
func (db *DB) AccessToken(ctx context.Context, hash registrar.SecretHash) (access.Usable, bool, error) {
	row, err := db.read().AccessTokenByHash(ctx, string(hash))
	if errors.Is(err, sql.ErrNoRows) {
		return access.Usable{}, false, nil
	}
	return access.Usable{
		GrantID: row.GrantID, Customer: row.CustomerID, ClientID: row.ClientID, Scope: row.Scope, Resource: row.Resource,
		ExpiresAt: fromMicros(row.ExpiresAt), Revoked: row.RevokedAt != 0, Disabled: row.DisabledAt != 0,
	}, err == nil, err
}

// End ends a family.
func (db *DB) End(ctx context.Context, grant string, deed registrar.Deed) (ended bool, err error) {
	err = db.write(ctx, func(q *query.Queries) (err error) {
		ended, err = endFamily(ctx, q, grant, deed)
		return err
	})
	return ended && err == nil, err
}

// Connections returns a customer's live families.
func (db *DB) Connections(ctx context.Context, customer string, now time.Time) ([]access.Connection, error) {
	rows, err := db.read().GrantsOfCustomer(ctx, query.GrantsOfCustomerParams{CustomerID: customer, ExpiresAt: micros(now)})
	if err != nil {
		return nil, err
	}
	connections := make([]access.Connection, 0, len(rows))
	for _, row := range rows {
		connections = append(connections, access.Connection{
			GrantID: row.ID, ClientID: row.ClientID, ClientName: row.ClientName, RedirectURI: row.RedirectUri, Scope: row.Scope,
			CreatedAt: fromMicros(row.CreatedAt), LastUsedAt: fromMicros(row.LastUsedAt), ExpiresAt: fromMicros(row.ExpiresAt),
		})
	}
	return connections, nil
}

// Disconnect ends all that an application has of a customer. The codes go first:
// an application that is redeeming one holds its row, so its family is either
// seen below or never comes to be.
func (db *DB) Disconnect(ctx context.Context, customer, grant string, deed registrar.Deed) (found bool, err error) {
	err = db.write(ctx, func(q *query.Queries) error {
		client, err := q.ClientOfGrant(ctx, query.ClientOfGrantParams{ID: grant, CustomerID: customer})
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		found = true
		at := micros(deed.At)
		if err := q.VoidCodesOfClient(ctx, query.VoidCodesOfClientParams{CustomerID: customer, ClientID: client.ClientID, UsedAt: at}); err != nil {
			return err
		}
		grants, err := q.LiveGrantsOfClient(ctx, query.LiveGrantsOfClientParams{CustomerID: customer, ClientID: client.ClientID})
		if err != nil || len(grants) == 0 {
			return err // nothing was left, so there is nothing to tell
		}
		for _, id := range grants { // one by one, in the order of GrantsUsed
			if _, err := q.RevokeGrant(ctx, query.RevokeGrantParams{ID: id, RevokedAt: at}); err != nil && !errors.Is(err, sql.ErrNoRows) {
				return err
			}
		}
		deed.Object = access.AppLabel(client.ClientName, client.RedirectUri)
		return recordDeed(ctx, q, deed)
	})
	return found && err == nil, err
}

// GrantsUsed notes when connections were last used, in an order that all nodes
// share, as TokensUsed does.
func (db *DB) GrantsUsed(ctx context.Context, uses []access.Use) error {
	sorted := slices.SortedFunc(slices.Values(uses), func(a, b access.Use) int { return strings.Compare(a.TokenID, b.TokenID) })
	return db.write(ctx, func(q *query.Queries) error {
		for _, use := range sorted {
			if err := q.TouchGrant(ctx, query.TouchGrantParams{ID: use.TokenID, LastUsedAt: micros(use.At)}); err != nil {
				return err
			}
		}
		return nil
	})
}
