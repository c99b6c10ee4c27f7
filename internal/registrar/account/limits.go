package account

import (
	"errors"
	"fmt"
	"time"
)

// Limiter counts events per key in a sliding window.
type Limiter interface {
	// Peek returns how long the key must wait; 0 if it need not. It counts nothing.
	Peek(key string) time.Duration
	// Count counts an event and returns 0, or counts nothing and returns the wait.
	Count(key string) time.Duration
}

// Window allows Count events in any span of the length Per.
type Window struct {
	Count int
	Per   time.Duration
}

// Windows are the sizes of all budgets.
type Windows struct {
	// Address limits the wrong passwords from one address.
	Address Window
	// AccountAddress limits the wrong passwords for one account from one address.
	AccountAddress Window
	// Account limits the wrong passwords for one account from browsers that have never
	// signed in to it.
	Account Window
	// Device limits the wrong passwords from a browser that is or was signed in to the
	// account. It is the only budget for such a browser.
	Device Window
	// Codes limits the codes tried for one account or one known browser. CodesLong does
	// so over a longer period, against a patient attacker who knows the password.
	Codes, CodesLong Window
	// Recipient limits the mails that unauthenticated requests can send to one address.
	Recipient Window
	// Sender limits the mails that one network address can cause.
	Sender Window
	// Passkeys limits the WebAuthn challenges started by one address or one signed-in
	// customer. Each is a row, and starting one needs no authentication.
	Passkeys Window
	// FailedSignInEvents limits the failed sign-ins written to the audit log.
	FailedSignInEvents Window
}

// DefaultWindows are the default sizes.
func DefaultWindows() Windows {
	return Windows{
		Address:            Window{30, 10 * time.Minute},
		AccountAddress:     Window{10, 15 * time.Minute},
		Account:            Window{50, time.Hour},
		Device:             Window{10, 15 * time.Minute},
		Codes:              Window{10, 15 * time.Minute},
		CodesLong:          Window{25, 10 * time.Hour},
		Recipient:          Window{3, time.Hour},
		Sender:             Window{20, time.Hour},
		Passkeys:           Window{60, 10 * time.Minute},
		FailedSignInEvents: Window{1, 10 * time.Minute},
	}
}

// Limits are the budgets; Windows documents each.
type Limits struct {
	Address, AccountAddress, Account, Device, Codes, CodesLong, Recipient, Sender, Passkeys, FailedSignInEvents Limiter
}

// NewLimits creates every budget with build.
func NewLimits(windows Windows, build func(Window) (Limiter, error)) (Limits, error) {
	var limits Limits
	for _, budget := range []struct {
		window Window
		into   *Limiter
	}{
		{windows.Address, &limits.Address},
		{windows.AccountAddress, &limits.AccountAddress},
		{windows.Account, &limits.Account},
		{windows.Device, &limits.Device},
		{windows.Codes, &limits.Codes},
		{windows.CodesLong, &limits.CodesLong},
		{windows.Recipient, &limits.Recipient},
		{windows.Sender, &limits.Sender},
		{windows.Passkeys, &limits.Passkeys},
		{windows.FailedSignInEvents, &limits.FailedSignInEvents},
	} {
		limiter, err := build(budget.window)
		if err != nil {
			return Limits{}, fmt.Errorf("account: sign-in limit: %w", err)
		}
		*budget.into = limiter
	}
	return limits, nil
}

func (l Limits) check() error {
	for _, limiter := range []Limiter{
		l.Address, l.AccountAddress, l.Account, l.Device, l.Codes, l.CodesLong, l.Recipient, l.Sender, l.Passkeys, l.FailedSignInEvents,
	} {
		if limiter == nil {
			return errors.New("account: Config.Limits is incomplete: every budget is required")
		}
	}
	return nil
}
