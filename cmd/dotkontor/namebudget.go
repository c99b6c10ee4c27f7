package main

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/quota"
)

// nameBudget bounds for how many names one account's agents have the registries
// asked. An order names up to 20, also one that is only tried, so without it an
// account with many tokens could look names up by the hundred thousand, past every
// limit of lookups and at the cost of our standing with the registries.
type nameBudget struct{ limiter *quota.Limiter }

// namesPerCall is how many names an account may give for each call that one of its
// tokens is allowed.
const namesPerCall = 2

func newNameBudget(callsPerMinute, callsPerHour int, newLimiter func(...quota.Window) (*quota.Limiter, error)) (*nameBudget, error) {
	const most = 100_000 // of a window
	limiter, err := newLimiter(
		quota.Window{Limit: min(most, max(orderNames, namesPerCall*callsPerMinute)), Per: time.Minute},
		quota.Window{Limit: min(most, max(orderNames, namesPerCall*callsPerHour)), Per: time.Hour})
	return &nameBudget{limiter}, err
}

// orderNames is the largest order: it must fit whatever is set.
const orderNames = 20

// spend counts the names of one call, all or none, or says how long to wait. After
// that wait there is room for every order.
func (b *nameBudget) spend(account string, names int) time.Duration {
	key := quota.TextKey(account)
	if now := b.limiter.Peek(key); now.Remaining < names {
		return b.limiter.Windows()[now.Window].Per
	}
	for range names {
		// Another call may have been quicker; then this one has what was left.
		b.limiter.Allow(key)
	}
	return 0
}
