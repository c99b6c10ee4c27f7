package provision_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// Two nodes ask once an hour between them, also if the lease changes hands.
func TestPollMessages_BalanceIsQueriedOnceAnHour(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t, &fakeRegistry{balance: "3.50"})
		there := env.newNode(t, func(cfg *provision.Config) { cfg.Node = "there" })
		queries := func() (count int) {
			for _, event := range env.log.all() {
				if event == "balance queried" {
					count++
				}
			}
			return count
		}
		for i, node := range []*provision.Service{env.Service, there, env.Service} {
			ctx, stop := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { node.Run(ctx) })
			time.Sleep(39 * time.Minute)
			stop()
			running.Wait()
			if got, want := queries(), []int{1, 2, 2}[i]; got != want {
				t.Errorf("after %d minutes: %d queries, want %d", 39*(i+1), got, want)
			}
		}
		stored, _, _ := env.store.QueriedBalance(t.Context(), "registry")
		if stored.Details.Balance == nil || stored.Details.Balance.Available != "3.50" || stored.Unread || stored.Number != "" {
			t.Errorf("stored %+v", stored)
		}
	})
}

// The warning that a balance is low ends soon after a deposit.
func TestPollMessages_LowBalanceIsQueriedMoreOften(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t, &fakeRegistry{balance: "-3.50"})
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { env.Run(ctx) })
		time.Sleep(time.Minute)
		if stored, _, _ := env.store.QueriedBalance(t.Context(), "registry"); !stored.Unread {
			t.Errorf("the balance is no warning: %+v", stored)
		}
		env.registry.mu.Lock()
		env.registry.balance = "500.00"
		env.registry.mu.Unlock()
		time.Sleep(10 * time.Minute)
		stop()
		running.Wait()
		if stored, _, _ := env.store.QueriedBalance(t.Context(), "registry"); stored.Unread || stored.Details.Balance.Available != "500.00" {
			t.Errorf("after the deposit: %+v", stored)
		}
	})
}

// A moved clock makes the query due at the next poll, so that pages don't show a balance that is
// months old.
func TestPollMessages_BalanceIsQueriedByBusinessTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ahead atomic.Int64
		now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		env := newEnv(t, &fakeRegistry{balance: "3.50"}, func(cfg *provision.Config) { cfg.Now = now })
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { env.Run(ctx) })
		time.Sleep(time.Minute)
		ahead.Store(int64(30 * 24 * time.Hour))
		time.Sleep(10 * time.Minute)
		stop()
		running.Wait()
		stored, _, _ := env.store.QueriedBalance(t.Context(), "registry")
		if age := now().Sub(stored.StoredAt); age < 0 || age > time.Hour || stored.Queued.After(stored.StoredAt) {
			t.Errorf("the balance is %v old, queried at %v", age, stored.Queued)
		}
	})
}

func TestPollMessages_RegistryWithoutBalanceIsNoFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t, &fakeRegistry{})
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { env.Run(ctx) })
		time.Sleep(3 * time.Hour)
		stop()
		running.Wait()
		if _, found, _ := env.store.QueriedBalance(t.Context(), "registry"); found || env.registry.polls.Load() < 2 || slices.Contains(env.log.all(), "balance queried") {
			t.Errorf("stored %t after %d polls", found, env.registry.polls.Load())
		}
	})
}
