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

// settleTimeout is how long the books may take to agree: webhooks arrive, loops look
// at orders and refunds are made after a scenario has seen its last page.
const settleTimeout = 30 * time.Second

// Reporter is a test.
type Reporter interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
}

// Reconcile proves after a scenario that money, orders, lines, domains and the
// registry agree. configuration is the file of the service that runs in front of a
// sandbox's world, environment what else it was told.
func Reconcile(t Reporter, configuration string, environment ...string) {
	t.Helper()
	problems, err := ReconcileProblems(t.Context(), configuration, environment, settleTimeout)
	if err != nil {
		t.Errorf("the books can't be read: %v", err)
	}
	for _, problem := range problems {
		t.Errorf("books: %s", problem)
	}
}

// ReconcileProblems returns what does not agree. It looks again until nothing is wrong or
// within is over: what is only late passes, what is wrong stays.
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

// PaymentProblems is what the product's own audit finds ('dotkontor doctor --books'),
// with no patience: everything must be at rest.
func PaymentProblems(ctx context.Context, db *store.DB, settings config.Stripe) ([]string, error) {
	if settings.SecretKey == "" {
		return nil, errors.New("no payment provider is set, so there are no books of its own")
	}
	provider := stripe.New(stripe.Options{Key: string(settings.SecretKey), URL: settings.APIURL, Methods: settings.PaymentMethods})
	report, err := reconcile.Run(ctx, db, provider, reconcile.Options{Now: time.Now()})
	if err != nil {
		return nil, err
	}
	problems := make([]string, 0, len(report.Findings))
	for _, finding := range report.Findings {
		problems = append(problems, finding.String())
	}
	return problems, nil
}

// FindPersonalData are the texts that no public answer may hold, whatever the registrant is
// called, and where they were found.
func FindPersonalData(texts []string, answers map[string]string) (found []string) {
	for where, answer := range answers {
		plain := strings.ToLower(answer)
		for _, text := range texts {
			if text != "" && strings.Contains(plain, strings.ToLower(text)) {
				found = append(found, fmt.Sprintf("%s holds %q", where, text))
			}
		}
	}
	slices.Sort(found)
	return found
}
