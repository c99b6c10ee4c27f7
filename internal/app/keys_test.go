package app

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestKeyFile_ConcurrentStartsCreateOnePrivateFile(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Data = filepath.Join(t.TempDir(), "new")
	keys := make([]registrar.SealKey, 8)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			err := createKeyFile(filepath.Join(cfg.Data, KeyFile))
			if err == nil {
				var read []registrar.SealKey
				if read, err = SealKeys(cfg); err == nil && len(read) == 1 {
					keys[i] = read[0]
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, key := range keys {
		if key != keys[0] || key == (registrar.SealKey{}) {
			t.Error("the key differs from call to call")
		}
	}
	files, err := os.ReadDir(cfg.Data)
	if err != nil || len(files) != 1 {
		t.Fatalf("the folder holds %v (%v), want the key alone", files, err)
	}
	info, err := files[0].Info()
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v (%v)", info.Mode(), err)
	}
}

func TestSealKeys_ConfiguredKeyOverridesBrokenFile(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Data = t.TempDir()
	path := filepath.Join(cfg.Data, KeyFile)
	if err := os.WriteFile(path, []byte("half a k"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := SealKeys(cfg); !errors.Is(err, config.ErrBadKey) {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "half a k" {
		t.Errorf("the file was changed to %q (%v)", text, err)
	}
	cfg.SecretKey = config.Secret(config.NewKey())
	want, err := config.ParseKey(string(cfg.SecretKey))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := SealKeys(cfg); err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("the configured key is not used (%v)", err)
	}
}
