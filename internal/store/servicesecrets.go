package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"errors"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// ServiceSecret returns 32 random bytes that all nodes share. The first node to ask for a
// name creates them.
func (db *DB) ServiceSecret(ctx context.Context, seal *registrar.Seal, name string) ([]byte, error) {
	purpose := registrar.ServiceSecretPurpose(name)
	sealed, err := db.read().GetServiceSecret(ctx, name)
	if errors.Is(err, sql.ErrNoRows) {
		var secret [32]byte
		_, _ = rand.Read(secret[:]) // it never fails
		if _, err = db.single().InsertServiceSecret(ctx, query.InsertServiceSecretParams{
			Name: name, Sealed: seal.Seal(purpose, base64.StdEncoding.EncodeToString(secret[:])), CreatedAt: micros(time.Now()),
		}); err == nil {
			sealed, err = db.read().GetServiceSecret(ctx, name) // another node's, if it was faster
		}
	}
	if err != nil {
		return nil, err
	}
	text, err := seal.Open(purpose, sealed)
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(text)
}
