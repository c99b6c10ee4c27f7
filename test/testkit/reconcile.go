package testkit

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/billing/reconcile"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/upstream/stripe"
)

// settleTimeout is how long reconciliation may take to succeed: webhooks, workers and
// refunds finish after the last page of a scenario.
const settleTimeout = 30 * time.Second

// Reporter is the part of testing.TB that reconciliation uses.
type Reporter interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
}

// Reconcile fails the test if payments, orders, items, domains and registry disagree.
// configuration is the file of a service in front of a sandbox's world, environment its
// additional environment.
func Reconcile(t Reporter, configuration string, environment ...string) {
	t.Helper()
	problems, err := ReconcileProblems(t.Context(), configuration, environment, settleTimeout)
	if err != nil {
		t.Errorf("reconcile: %v", err)
	}
	for _, problem := range problems {
		t.Errorf("reconcile: %s", problem)
	}
}

// ReconcileProblems returns the disagreements. It retries until there are none or the
// time within is over, so that work in progress is not reported.
func ReconcileProblems(ctx context.Context, configuration string, environment []string, within time.Duration) (problems []string, err error) {
	cfg, err := config.Load(configuration, environment)
	if err != nil {
		return nil, err
	}
	db, err := store.Open(ctx, store.Options{URL: string(cfg.Database.URL), Data: cfg.Data, MaxConnections: 4})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	world, err := FindWorld(filepath.Dir(configuration))
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(within); ; {
		problems, err = reconcileOnce(ctx, db, cfg.Stripe, world)
		if err != nil || len(problems) == 0 || time.Now().After(deadline) {
			return problems, err
		}
		select {
		case <-ctx.Done():
			return problems, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func reconcileOnce(ctx context.Context, db *store.DB, settings config.Stripe, world World) ([]string, error) {
	money, err := PaymentProblems(ctx, db, settings)
	if err != nil {
		return nil, err
	}
	held, err := ReadRegistryState(ctx, db, world)
	if err != nil {
		return nil, err
	}
	problems := slices.Concat(money, held.Problems())
	slices.Sort(problems)
	return problems, nil
}

// PaymentProblems returns the findings of 'dotkontor doctor --reconcile' without grace
// period, and those of 'doctor --books'.
func PaymentProblems(ctx context.Context, db *store.DB, settings config.Stripe) ([]string, error) {
	if settings.SecretKey == "" {
		return nil, errors.New("testkit: reconcile: no payment provider is configured")
	}
	provider := stripe.New(stripe.Options{Key: string(settings.SecretKey), URL: settings.APIURL, Methods: settings.PaymentMethods})
	report, err := reconcile.Run(ctx, db, provider, reconcile.Options{Now: time.Now()})
	if err != nil {
		return nil, err
	}
	// Each completed item has one registry charge, also after a kill.
	books, err := reconcile.RunBooks(ctx, db, nil)
	if err != nil {
		return nil, err
	}
	findings := slices.Concat(report.Findings, books.Findings)
	problems := make([]string, 0, len(findings))
	for _, finding := range findings {
		problems = append(problems, finding.String())
	}
	return problems, nil
}

// FindPersonalData returns which of the texts occur in which of the answers, ignoring
// case.
func FindPersonalData(texts []string, answers map[string]string) (found []string) {
	for where, answer := range answers {
		plain := strings.ToLower(answer)
		for _, text := range texts {
			if text != "" && strings.Contains(plain, strings.ToLower(text)) {
				found = append(found, fmt.Sprintf("%s contains %q", where, text))
			}
		}
	}
	slices.Sort(found)
	return found
}
