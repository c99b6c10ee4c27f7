package account

import (
	"errors"
	"fmt"
	"time"
)

// Limiter counts events of a key in a sliding window.
type Limiter interface {
	// Peek says how long to wait until the key has a place again; 0: it has one.
	// It counts nothing.
	Peek(key string) time.Duration
	// Count takes a place and returns 0, or takes none and returns the wait.
	Count(key string) time.Duration
}

// Window allows Count events in any span of the length Per.
type Window struct {
	Count int
	Per   time.Duration
}

// Windows are the sizes of the budgets.
type Windows struct {
	// Address bounds the wrong passwords of one address.
	Address Window
	// AccountAddress bounds the wrong passwords for one account from one address.
	AccountAddress Window
	// Account bounds the wrong passwords for one account from browsers that have
	// never signed in to it.
	Account Window
	// Device bounds the wrong passwords of a browser that has signed in to the
	// account before, or is signed in. It is the only budget for such a browser.
	Device Window
	// Codes bounds the codes that are tried for one account, or one known browser;
	// CodesLong does so for those who have the password, and patience.
	Codes, CodesLong Window
	// Recipient bounds the letters that strangers can have sent to one address.
	Recipient Window
	// Sender bounds the letters that one network address can have sent.
	Sender Window
	// Passkeys bounds the passkey ceremonies that one address begins, or one
	// customer who has signed in. Each is a row, and anybody may begin one.
	Passkeys Window
	// FailedSignInEvents bounds the failed sign-ins that are written into the audit.
	FailedSignInEvents Window
}

// DefaultWindows are the sizes that the service has without any setting.
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

// Limits are the budgets; Windows says what each is for.
type Limits struct {
	Address, AccountAddress, Account, Device, Codes, CodesLong, Recipient, Sender, Passkeys, FailedSignInEvents Limiter
}

// NewLimits builds every budget by build.
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
			return Limits{}, fmt.Errorf("a limit of sign-ins: %w", err)
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
			return errors.New("customer: a budget is missing; without it something could be tried without end")
		}
	}
	return nil
}
