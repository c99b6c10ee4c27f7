package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/testkit/pgtest"
)

const (
	// wantedRefreshRatio is the minimum ratio of a refresh's rate to that of a bare
	// transaction.
	wantedRefreshRatio = 0.5
	refreshResource    = "https://bench.example/api/mcp"
)

// benchRefresh compares a refresh with a bare transaction that changes as many rows of
// the same tables, on each engine. Both run in this process with the same pool, in
// alternating rounds. After that, clients refresh at the product's token endpoint.
func benchRefresh(ctx context.Context, b bench) (lines []measurement, err error) {
	lines, err = refreshOn(ctx, b, onSQLite.name, store.Options{Data: filepath.Join(b.folder, "refresh")})
	if err != nil {
		return nil, err
	}
	more, err := refreshOnPostgres(ctx, b)
	if err != nil {
		return nil, err
	}
	lines = append(lines, more...)
	more, err = benchTokenEndpoint(ctx, b)
	return append(lines, more...), err
}

func refreshOnPostgres(ctx context.Context, b bench) (lines []measurement, err error) {
	server, err := pgtest.Start() //nolint:contextcheck // the server must start and stop completely, even if the run is canceled
	if errors.Is(err, pgtest.ErrMissing) {
		b.progress("  left out: %s", err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }() //nolint:contextcheck // the server must start and stop completely, even if the run is canceled
	url, drop, err := server.NewDatabase()                   //nolint:contextcheck // the server must start and stop completely, even if the run is canceled
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	return refreshOn(ctx, b, onPostgres.name+", fsync on", store.Options{URL: url})
}

func refreshOn(ctx context.Context, b bench, where string, opts store.Options) (lines []measurement, err error) {
	db, err := store.Open(ctx, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	apps, err := oauth.NewAuthorizationServer(oauth.AuthorizationServerConfig{Store: db, Resource: refreshResource, Leeway: 20 * time.Second})
	if err != nil {
		return nil, err
	}
	writer := db.SQL().Writer()
	families, err := seedFamilies(ctx, writer, refreshResource, 2*b.connections)
	if err != nil {
		return nil, err
	}
	ours := &tokenWorkload{name: "refresh", families: families[:b.connections], do: func(ctx context.Context, f *family) error { return f.rotate(ctx, apps) }}
	bare := &tokenWorkload{name: "bare transaction", families: families[b.connections:], do: func(ctx context.Context, f *family) error { return f.rotateBare(ctx, writer) }}
	b.progress("refreshes on %s: %d rounds of 2 × %s, %d at a time", where, b.rounds, b.duration, b.connections)
	for round := range b.rounds + 1 {
		order := []*tokenWorkload{ours, bare}
		if round%2 == 1 {
			order[0], order[1] = bare, ours
		}
		for _, e := range order {
			if err := e.round(ctx, b.duration); err != nil {
				return nil, err
			}
		}
	}
	mine, theirs := ours.rates[1:], bare.rates[1:] // the first round is warm-up
	return []measurement{
		newMeasurement("refresh on "+where+", as a share of a bare transaction of four rows", median(elementRatios(mine, theirs)),
			ratio, atLeast(wantedRefreshRatio), "it reads client, token and account before; the aim is 0.8"),
		newMeasurement("  refresh", median(mine), perSecond, nil, "caller and database share the cores"),
		newMeasurement("  bare transaction", median(theirs), perSecond, nil, "two updates, two inserts"),
	}, nil
}

// family is the grant of an application and its newest tokens.
type family struct {
	client, grant string
	refresh       string               // the newest token
	hash          registrar.SecretHash // of it
	refreshes     int
}

func (f *family) rotate(ctx context.Context, apps *oauth.AuthorizationServer) error {
	tokens, err := apps.Refresh(ctx, oauth.RefreshRequest{ClientCredentials: oauth.ClientCredentials{ClientID: f.client}, Refresh: f.refresh})
	f.refresh = tokens.Refresh
	return err
}

// rotateBare makes the same changes as a refresh, without any checks.
func (f *family) rotateBare(ctx context.Context, pool *sql.DB) error {
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no-op after a commit
	now := time.Now()
	next := registrar.SecretHash(rand.Text() + rand.Text())
	for _, statement := range []struct {
		text string
		args []any
	}{
		{"UPDATE refresh_tokens SET used_at = $2 WHERE hash = $1", []any{string(f.hash), now.UnixMicro()}},
		{
			"UPDATE grants SET generation = generation + 1, last_used_at = $2, expires_at = $3 WHERE id = $1",
			[]any{f.grant, now.UnixMicro(), now.Add(oauth.RefreshTokenTTL).UnixMicro()},
		},
		{
			"INSERT INTO access_tokens (hash, grant_id, scope, expires_at) VALUES ($1, $2, $3, $4)",
			[]any{rand.Text() + rand.Text(), f.grant, oauth.ScopeWrite, now.Add(oauth.AccessTokenTTL).UnixMicro()},
		},
		{
			"INSERT INTO refresh_tokens (hash, grant_id, generation, expires_at) VALUES ($1, $2, $3, $4)",
			[]any{string(next), f.grant, f.refreshes + 2, now.Add(oauth.RefreshTokenTTL).UnixMicro()},
		},
	} {
		done, err := tx.ExecContext(ctx, statement.text, statement.args...)
		if err != nil {
			return err
		}
		if changed, err := done.RowsAffected(); err != nil || changed != 1 {
			return fmt.Errorf("%d rows were changed where one was to be (%w)", changed, err)
		}
	}
	f.hash = next
	return tx.Commit()
}

// tokenWorkload is one side of the comparison: one goroutine per family repeats the
// same operation.
type tokenWorkload struct {
	name     string
	families []*family
	do       func(context.Context, *family) error
	rates    []float64
}

func (e *tokenWorkload) round(ctx context.Context, duration time.Duration) error {
	var all sync.WaitGroup
	var done atomic.Int64
	failures := make(chan error, len(e.families))
	began := time.Now()
	for _, f := range e.families {
		all.Go(func() {
			for time.Since(began) < duration {
				if err := e.do(ctx, f); err != nil {
					failures <- fmt.Errorf("%s: %w", e.name, err)
					return
				}
				f.refreshes++
				done.Add(1)
			}
		})
	}
	all.Wait()
	close(failures)
	e.rates = append(e.rates, float64(done.Load())/time.Since(began).Seconds())
	return <-failures // nil if there is none
}

// seedFamilies inserts customers that have each connected an application.
func seedFamilies(ctx context.Context, pool *sql.DB, resource string, n int) ([]*family, error) {
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // no-op after a commit
	families := make([]*family, n)
	for i := range families {
		if families[i], err = seedFamily(ctx, tx, resource); err != nil {
			return nil, err
		}
	}
	return families, tx.Commit()
}

func seedFamily(ctx context.Context, tx *sql.Tx, resource string) (*family, error) {
	now := time.Now()
	at, ends := now.UnixMicro(), now.Add(oauth.RefreshTokenTTL).UnixMicro()
	customer := registrar.NewID("cus_", now)
	f := &family{client: registrar.NewID("client_", now), grant: registrar.NewID("grant_", now)}
	f.refresh, f.hash = registrar.NewSecret(registrar.RefreshToken)
	for _, statement := range []struct {
		text string
		args []any
	}{
		{
			`INSERT INTO customers (id, email, email_key, user_handle, language, created_at, confirmed_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			[]any{customer, customer + "@example.org", customer + "@example.org", customer, "de", at, at},
		},
		{
			`INSERT INTO clients (id, kind, name, redirect_uris, auth_method, created_at, last_used_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			[]any{f.client, string(oauth.ClientDynamic), "bench", `["https://bench.example/cb"]`, string(oauth.AuthNone), at, at},
		},
		{
			`INSERT INTO grants (id, customer_id, client_id, client_name, redirect_uri, scope, resource, generation, created_at, last_used_at, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
			[]any{f.grant, customer, f.client, "bench", "https://bench.example/cb", oauth.ScopeWrite, resource, 1, at, at, ends},
		},
		{`INSERT INTO refresh_tokens (hash, grant_id, generation, expires_at) VALUES ($1, $2, $3, $4)`, []any{string(f.hash), f.grant, 1, ends}},
	} {
		if _, err := tx.ExecContext(ctx, statement.text, statement.args...); err != nil {
			return nil, err
		}
	}
	return f, nil
}
