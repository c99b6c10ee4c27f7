package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/web/mcp"
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

func TestSignInWindows_EachLimitHasItsOwnSetting(t *testing.T) {
	t.Parallel()
	got, defaults := signInWindows(config.Limits{
		SignInPerAddress: 1001, SignInPerPair: 1002, SignInPerAccount: 1003, SignInPerDevice: 1004, CodesPerAccount: 1005,
		MailsPerRecipient: 1006, MailsPerAddress: 1007, PasskeysPerAddress: 1008, CodesPer10Hours: 1009,
	}), account.DefaultWindows()
	want := defaults
	for i, window := range []*account.Window{
		&want.Address, &want.AccountAddress, &want.Account, &want.Device, &want.Codes, &want.Recipient, &want.Sender, &want.Passkeys,
		&want.CodesLong,
	} {
		window.Count = 1001 + i
	}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if unset := signInWindows(config.Default().Limits); unset != defaults {
		t.Errorf("without a setting: got %+v, want %+v", unset, defaults)
	}
}

func openTestServices(t *testing.T) *Services {
	t.Helper()
	cfg := config.Default()
	cfg.Data, cfg.BaseURL = t.TempDir(), "https://domains.example"
	services, err := OpenServices(t.Context(), cfg, nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return services
}

// Only what is certain may make a client throw its token away.
func TestMCPTokens_InvalidOnlyWhenDatabaseConfirms(t *testing.T) {
	t.Parallel()
	services := openTestServices(t)
	unknown, _ := registrar.NewSecret(registrar.PersonalToken)
	metrics := prometheus.NewRegistry()
	tokens, err := newMCPTokens(services.Tokens, metrics)
	if err != nil {
		t.Fatal(err)
	}
	for _, bearer := range []string{unknown, "nonsense"} {
		if _, err := tokens.Verify(t.Context(), bearer); !errors.Is(err, mcp.ErrBadToken) {
			t.Errorf("%s: got %v", bearer[:4], err)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := services.Close(); err != nil {
		t.Fatal(err)
	}
	for _, ctx := range []context.Context{t.Context(), stopped} {
		if _, err := tokens.Verify(ctx, unknown); err == nil || errors.Is(err, mcp.ErrBadToken) || registrar.KindOf(err) != registrar.KindInternal {
			t.Errorf("without the database: got %v", err)
		}
	}
	if _, err := tokens.Verify(t.Context(), "nonsense"); !errors.Is(err, mcp.ErrBadToken) {
		t.Errorf("nonsense without the database: got %v", err)
	}
	families, err := metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counted := make(map[string]float64)
	for _, metric := range families[0].GetMetric() {
		counted[metric.GetLabel()[0].GetValue()] = metric.GetCounter().GetValue()
	}
	if want := map[string]float64{"good": 0, "bad": 3, "unchecked": 2}; !maps.Equal(counted, want) {
		t.Errorf("counted are %v, want %v", counted, want)
	}
	if _, _, err := (mcpDomains{portfolio: services.Portfolio}).List(t.Context(), mcp.Caller{Account: "c"}, mcp.DomainFilter{}); registrar.CodeOf(err) != "database" {
		t.Errorf("the list without the database: got %v", err)
	}
}
