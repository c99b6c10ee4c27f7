package account

import (
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
)

// Windows are the sizes of all budgets.
type Windows struct {
	Address        ratelimit.Window // limits the wrong passwords from one address
	AccountAddress ratelimit.Window // limits the wrong passwords for one account from one address
	Account        ratelimit.Window // limits the wrong passwords for one account from all unknown browsers
	// Device limits the wrong passwords from a browser that is or was signed in to the
	// account. It is the only budget for such a browser.
	Device ratelimit.Window
	// Codes limits the codes tried for one account or one known browser. CodesLong does
	// so over a longer period, against a patient attacker who knows the password.
	Codes, CodesLong ratelimit.Window
	// Recipient limits the mails that unauthenticated requests can send to one address.
	Recipient ratelimit.Window
	Sender    ratelimit.Window // limits the mails that one network address can cause
	// Passkeys limits the WebAuthn challenges started by one address or one signed-in
	// customer. Each is a row, and starting one needs no authentication.
	Passkeys           ratelimit.Window
	FailedSignInEvents ratelimit.Window // limits the failed sign-ins written to the audit log
}

// DefaultWindows are the default sizes.
func DefaultWindows() Windows {
	return Windows{
		Address:            ratelimit.Window{Limit: 30, Per: 10 * time.Minute},
		AccountAddress:     ratelimit.Window{Limit: 10, Per: 15 * time.Minute},
		Account:            ratelimit.Window{Limit: 50, Per: time.Hour},
		Device:             ratelimit.Window{Limit: 10, Per: 15 * time.Minute},
		Codes:              ratelimit.Window{Limit: 10, Per: 15 * time.Minute},
		CodesLong:          ratelimit.Window{Limit: 25, Per: 10 * time.Hour},
		Recipient:          ratelimit.Window{Limit: 3, Per: time.Hour},
		Sender:             ratelimit.Window{Limit: 20, Per: time.Hour},
		Passkeys:           ratelimit.Window{Limit: 60, Per: 10 * time.Minute},
		FailedSignInEvents: ratelimit.Window{Limit: 1, Per: 10 * time.Minute},
	}
}

// Limits are the budgets; Windows documents each. Only NewLimits creates them, so none
// is missing.
type Limits struct {
	address, accountAddress, account, device, codes, codesLong, recipient, sender, passkeys, failedSignInEvents *ratelimit.Limiter
}

// NewLimits creates every budget with build.
func NewLimits(windows Windows, build func(name string, window ratelimit.Window) (*ratelimit.Limiter, error)) (limits Limits, err error) {
	for _, budget := range []struct {
		into   **ratelimit.Limiter
		name   string
		window ratelimit.Window
	}{
		{&limits.address, "sign-in address", windows.Address},
		{&limits.accountAddress, "sign-in account and address", windows.AccountAddress},
		{&limits.account, "sign-in account", windows.Account},
		{&limits.device, "sign-in device", windows.Device},
		{&limits.codes, "codes", windows.Codes},
		{&limits.codesLong, "codes long", windows.CodesLong},
		{&limits.recipient, "mail recipient", windows.Recipient},
		{&limits.sender, "mail sender", windows.Sender},
		{&limits.passkeys, "passkeys", windows.Passkeys},
		{&limits.failedSignInEvents, "failed sign-in events", windows.FailedSignInEvents},
	} {
		if *budget.into, err = build(budget.name, budget.window); err != nil {
			return Limits{}, fmt.Errorf("account: sign-in limit: %w", err)
		}
	}
	return limits, nil
}

// budgetSet holds the budgets that apply to one request.
type budgetSet []budget

type budget struct {
	limiter *ratelimit.Limiter
	key     string
}

// wait returns how long the caller must wait; 0 if no budget is exhausted.
func (g budgetSet) wait() time.Duration {
	var longest time.Duration
	for _, b := range g {
		longest = max(longest, b.limiter.Peek(ratelimit.TextKey(b.key)).RetryAfter)
	}
	return longest
}

// consume uses one attempt of every budget, or none and returns the wait.
func (g budgetSet) consume() time.Duration {
	if wait := g.wait(); wait > 0 {
		return wait
	}
	return g.count()
}

// count uses one attempt of every budget that is not exhausted.
func (g budgetSet) count() time.Duration {
	var longest time.Duration
	for _, b := range g {
		longest = max(longest, b.limiter.AllowText(b.key))
	}
	return longest
}

func tooMany(wait time.Duration) error {
	return &registrar.Error{Kind: registrar.KindRateLimited, Code: TooManyAttempts, RetryAfter: wait}
}
