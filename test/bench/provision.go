package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/dotkontor/dotkontor/test/crash"
)

const (
	registrations     = 500
	wantedProvisioned = 10.0 // seconds
	provisionWithin   = 2 * time.Minute
)

// benchProvision starts the product with five hundred paid items and waits until each
// is a registered domain. The time includes the start. Each item takes a contact, a
// registration and three commits; the nameservers exist after the first one.
func benchProvision(ctx context.Context, b bench) (lines []measurement, err error) {
	stage, err := crash.NewEnv(ctx, b.binary, filepath.Join(b.folder, "provision"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stage.Close()) }()
	b.progress("writing %d paid lines", registrations)
	for n := range registrations {
		if _, err := stage.AddPaidItem(ctx, fmt.Sprintf("bench-%d", n), []string{".org", ".de", ".info", ".com"}[n%4]); err != nil {
			return nil, err
		}
	}
	b.progress("carrying them out")
	began := time.Now()
	server, err := stage.Serve(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	if err := stage.WaitProvisioned(ctx, provisionWithin); err != nil {
		return nil, err
	}
	took := time.Since(began)
	if err := stage.Reconcile(ctx); err != nil {
		return nil, err
	}
	return []measurement{
		newMeasurement(fmt.Sprintf("%d registrations from paid to active, SQLite", registrations), took.Seconds(), seconds, atMost(wantedProvisioned),
			fmt.Sprintf("%.0f a second, the product's start included", registrations/took.Seconds())),
	}, nil
}
