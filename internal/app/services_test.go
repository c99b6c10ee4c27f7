package app

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
)

func TestSignInWindows_EachLimitHasItsOwnSetting(t *testing.T) {
	t.Parallel()
	got, defaults := signInWindows(config.Limits{
		SignInPerAddress: 1001, SignInPerPair: 1002, SignInPerAccount: 1003, SignInPerDevice: 1004, CodesPerAccount: 1005,
		MailsPerRecipient: 1006, MailsPerAddress: 1007, PasskeysPerAddress: 1008, CodesPer10Hours: 1009,
	}), account.DefaultWindows()
	want := defaults
	for i, window := range []*ratelimit.Window{
		&want.Address, &want.AccountAddress, &want.Account, &want.Device, &want.Codes, &want.Recipient, &want.Sender, &want.Passkeys,
		&want.CodesLong,
	} {
		window.Limit = 1001 + i
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
