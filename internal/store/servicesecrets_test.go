package store

import (
	"bytes"
	"sync"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestServiceSecret_NodesAgreeOnOne(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		seal, err := registrar.NewSeal([32]byte{1})
		if err != nil {
			t.Fatal(err)
		}
		secrets := make([][]byte, 8)
		var all sync.WaitGroup
		for i := range secrets {
			all.Go(func() {
				var err error
				if secrets[i], err = db.ServiceSecret(t.Context(), seal, "test"); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for _, secret := range secrets {
			if len(secret) != 32 || !bytes.Equal(secret, secrets[0]) {
				t.Fatalf("secrets of %d bytes differ", len(secret))
			}
		}
		if other, err := db.ServiceSecret(t.Context(), seal, "other"); err != nil || bytes.Equal(other, secrets[0]) {
			t.Errorf("another name has the same secret, or %v", err)
		}
	})
}
