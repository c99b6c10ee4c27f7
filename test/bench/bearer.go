package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/testkit/pgtest"
)

const (
	// wantedBearerRatio is the minimum ratio of the CPU time of a handler with one SELECT
	// to that of the bearer check.
	wantedBearerRatio = 0.8
	bearerRoute       = "/bearer"
	refBearer         = "bearer"
	refSelect         = "one-select"
	bearerAnswer      = `{"ok":true}`
	// oneSelect is the minimum that any check against a table has to do.
	oneSelect = "SELECT customer_id FROM personal_access_tokens WHERE hash = $1"
)

// bearerSettings is the configuration file of a server in this section.
type bearerSettings struct {
	Database store.Options
	// Hash is the hash of the one token, for the server that only looks it up.
	Hash string
}

// benchBearer compares the bearer check with a handler that does one indexed SELECT, on
// each engine. Both are separate processes on the same database with the same pool
// size.
func benchBearer(ctx context.Context, b bench) (lines []measurement, err error) {
	lines, err = bearerOn(ctx, b, onSQLite.name, store.Options{Data: filepath.Join(b.folder, "bearer")})
	if err != nil {
		return nil, err
	}
	server, err := pgtest.Start() //nolint:contextcheck // the server must start and stop completely, even if the run is canceled
	if errors.Is(err, pgtest.ErrMissing) {
		b.progress("  left out: %s", err)
		return lines, nil
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
	more, err := bearerOn(ctx, b, onPostgres.name+", fsync on", store.Options{URL: url})
	return append(lines, more...), err
}

func bearerOn(ctx context.Context, b bench, where string, opts store.Options) (lines []measurement, err error) {
	token, err := seedToken(ctx, opts)
	if err != nil {
		return nil, err
	}
	hash, _ := registrar.HashSecret(registrar.PersonalToken, token)
	settings, err := json.Marshal(bearerSettings{Database: opts, Hash: string(hash)})
	if err != nil {
		return nil, err
	}
	asked := requestSpec{path: bearerRoute, host: "localhost", fields: "Authorization: Bearer " + token + "\r\n"}
	var sides []*side
	defer func() {
		for _, s := range sides {
			err = errors.Join(err, s.stop())
		}
	}()
	for _, name := range []string{refBearer, refSelect} {
		process, err := startReference(ctx, b, name, settings)
		if err != nil {
			return nil, err
		}
		s, answer, err := newSide(ctx, name, process, asked, b.connections)
		if err != nil {
			return nil, errors.Join(err, process.Stop())
		}
		sides = append(sides, s)
		if string(answer) != bearerAnswer {
			return nil, fmt.Errorf("the %s side says %s", name, answer)
		}
	}
	b.progress("the check of a bearer on %s", where)
	if err := alternateRounds(ctx, b, sides...); err != nil {
		return nil, err
	}
	ours, bare := sides[0], sides[1]
	if share, known := ours.cpuRatioTo(bare); known {
		lines = append(lines, newMeasurement("bearer check on "+where+", as a share of a handler with one SELECT, by CPU time", share,
			ratio, atLeast(wantedBearerRatio), "nothing is cached: revoked means refused at the next call; without the client's share and the database's"))
	}
	return append(lines,
		newMeasurement("  as a share of its rate", ours.rateRatioTo(bare), ratio, nil, "client, server and database share the cores"),
		newMeasurement("  bearer check", median(ours.rates), perSecond, nil, ""),
		newMeasurement("  one SELECT", median(bare.rates), perSecond, nil, "")), nil
}

// seedToken creates a database with one account and returns a token of it.
func seedToken(ctx context.Context, opts store.Options) (token string, err error) {
	db, err := store.Open(ctx, opts)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	now := time.Now()
	customer := registrar.NewID("cus_", now)
	writer := db.SQL().Writer()
	if _, err := writer.ExecContext(ctx,
		`INSERT INTO customers (id, email, email_key, user_handle, language, created_at, confirmed_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		customer, "bench@example.org", "bench@example.org", "bench", "de", now.UnixMicro(), now.UnixMicro()); err != nil {
		return "", err
	}
	service, err := oauth.New(oauth.Config{Store: db})
	if err != nil {
		return "", err
	}
	_, token, err = service.Create(ctx, registrar.Actor{Kind: registrar.ActorOperator, Customer: customer, Through: "bench"}, oauth.TokenParams{Name: "bench"})
	return token, err
}

// openBearerDB opens the database that a settings file names. It stays open until the
// process ends.
func openBearerDB(settings []byte) (db *store.DB, hash string, err error) {
	var g bearerSettings
	if err := json.Unmarshal(settings, &g); err != nil {
		return nil, "", err
	}
	db, err = store.Open(context.Background(), g.Database)
	return db, g.Hash, err
}

// bearerCheck accepts the tokens that the product accepts.
func bearerCheck(settings []byte) (http.Handler, error) {
	db, _, err := openBearerDB(settings)
	if err != nil {
		return nil, err
	}
	service, err := oauth.New(oauth.Config{Store: db})
	if err != nil {
		return nil, err
	}
	return requireBearer(func(r *http.Request, bearer string) error {
		_, err := service.Verify(r.Context(), bearer)
		return err
	}), nil
}

// selectCheck looks up one row by the same index and does not even read the bearer
// token.
func selectCheck(settings []byte) (http.Handler, error) {
	db, hash, err := openBearerDB(settings)
	if err != nil {
		return nil, err
	}
	pool := db.SQL().Reader()
	return requireBearer(func(r *http.Request, _ string) error {
		var customer string
		return pool.QueryRowContext(r.Context(), oneSelect, hash).Scan(&customer)
	}), nil
}

func requireBearer(check func(r *http.Request, bearer string) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bearer, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !found || check(r, bearer) != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		writeJSON(w, []byte(bearerAnswer))
	})
}
