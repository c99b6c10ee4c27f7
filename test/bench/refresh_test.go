package main

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/store"
)

// A lost rotation is detected.
func TestLostRotations_CountsMissingRotations(t *testing.T) {
	t.Parallel()
	db, err := store.Open(t.Context(), store.Options{Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	apps, err := oauth.NewAuthorizationServer(oauth.AuthorizationServerConfig{Store: db, Resource: refreshResource})
	if err != nil {
		t.Fatal(err)
	}
	writer, reader := db.SQL().Writer(), db.SQL().Reader()
	families, err := seedFamilies(t.Context(), writer, refreshResource, 2)
	if err != nil {
		t.Fatal(err)
	}
	lost := func() int {
		t.Helper()
		lost, err := lostRotations(t.Context(), reader, families)
		if err != nil {
			t.Fatal(err)
		}
		return lost
	}
	for _, do := range []func() error{
		func() error { return families[0].rotate(t.Context(), apps) },
		func() error { return families[1].rotateBare(t.Context(), writer) },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	if got := lost(); got != 2 { // the clients have not counted yet
		t.Errorf("%d rotations are lost, want 2", got)
	}
	families[0].refreshes, families[1].refreshes = 1, 1
	if got := lost(); got != 0 {
		t.Errorf("%d rotations are lost", got)
	}
	families[0].refreshes = 3
	if got := lost(); got != 2 {
		t.Errorf("%d rotations are lost, want 2", got)
	}
	// A revoked grant makes the run invalid.
	if _, err := writer.ExecContext(t.Context(), "UPDATE grants SET revoked_at = 1 WHERE id = $1", families[1].grant); err != nil {
		t.Fatal(err)
	}
	if _, err := lostRotations(t.Context(), reader, families); err == nil {
		t.Error("a revoked grant was not detected")
	}
}
