package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/testkit"
)

const (
	refreshers = 50
	tokenRoute = "/oauth/token/"
)

// benchTokenEndpoint has clients refresh at the product's token endpoint, independently
// and without a pause. Any response but a new pair fails the run, and in the end the
// database must have as many rotations as the clients have seen.
func benchTokenEndpoint(ctx context.Context, b bench) (lines []measurement, err error) {
	folder := filepath.Join(b.folder, "tokenendpoint")
	running, err := testkit.StartProduct(ctx, b.binary, folder, nil, []string{
		// The limit of one refresh a second per grant is not measured here.
		"DOTKONTOR_LIMITS_REFRESH_PER_MINUTE=100000", "DOTKONTOR_LIMITS_REFRESH_PER_HOUR=100000",
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, running.Stop()) }()
	db, err := store.Open(ctx, store.Options{Data: filepath.Join(folder, "world")})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	writer, reader := db.SQL().Writer(), db.SQL().Reader()
	families, err := seedFamilies(ctx, writer, running.Server.Ready+"/api/mcp", refreshers)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: refreshers}}
	defer client.CloseIdleConnections()
	all := &tokenWorkload{name: "refresh", families: families, do: func(ctx context.Context, f *family) error {
		return f.rotateOverHTTP(ctx, client, running.Server.Ready)
	}}
	b.progress("%d clients refresh at the token endpoint for %s", refreshers, b.refreshing)
	if err := all.round(ctx, b.refreshing); err != nil {
		return nil, err
	}
	lost, err := lostRotations(ctx, reader, families)
	if err != nil {
		return nil, err
	}
	return []measurement{
		newMeasurement(fmt.Sprintf("rotations lost at the token endpoint under %d clients for %s", refreshers, b.refreshing), float64(lost),
			count, atMost(0), "SQLite; any response but a new pair fails the run"),
		newMeasurement("  refreshes", all.rates[0], perSecond, nil, "client and server share the cores"),
	}, nil
}

// rotateOverHTTP refreshes as clients do.
func (f *family) rotateOverHTTP(ctx context.Context, client *http.Client, base string) error {
	form := url.Values{"grant_type": {"refresh_token"}, "client_id": {f.client}, "refresh_token": {f.refresh}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, base+tokenRoute, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	began := time.Now()
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("after %s: %w", time.Since(began), err)
	}
	defer response.Body.Close()
	var tokens struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
		Problem string `json:"error"`
	}
	if err := json.NewDecoder(response.Body).Decode(&tokens); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK || tokens.Access == "" || tokens.Refresh == "" || tokens.Refresh == f.refresh {
		return fmt.Errorf("the answer is %d %s", response.StatusCode, tokens.Problem)
	}
	f.refresh = tokens.Refresh
	return nil
}

// lostRotations counts the difference between the rotations seen by clients and those
// in the database.
func lostRotations(ctx context.Context, pool *sql.DB, families []*family) (lost int, err error) {
	for _, f := range families {
		var generation, revoked, unused int
		if err := pool.QueryRowContext(ctx, `SELECT generation, revoked_at,
			(SELECT count(*) FROM refresh_tokens r WHERE r.grant_id = g.id AND r.used_at = 0) FROM grants g WHERE id = $1`, f.grant).
			Scan(&generation, &revoked, &unused); err != nil {
			return 0, err
		}
		if revoked != 0 || unused != 1 {
			return 0, fmt.Errorf("a grant is revoked or has %d unused tokens", unused)
		}
		if missing := f.refreshes - (generation - 1); missing > 0 {
			lost += missing
		} else {
			lost -= missing
		}
	}
	return lost, nil
}
