package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit"
)

const (
	coldChecks  = 4000
	coldCallers = 16
)

// benchCold measures checks of names that nobody has asked for before, by where they are decided:
// by an EPP account (.com), and by RDAP and DNS, each over its own protocol and, for RDAP, TLS.
func benchCold(ctx context.Context, b bench) (lines []measurement, err error) {
	for _, source := range []struct {
		what, extension string
		config          func(string) (string, error)
	}{
		{"a check that EPP decides", ".com", nil},
		{"a check that RDAP and DNS decide", ".app", withoutAccounts},
	} {
		folder := filepath.Join(b.folder, "cold"+source.extension)
		if err := os.MkdirAll(folder, 0o750); err != nil {
			return nil, err
		}
		running, err := testkit.StartProductBehind(ctx, b.binary, folder, nil, []string{
			"DOTKONTOR_LIMITS_LOOKUP_PER_MINUTE=100000", "DOTKONTOR_LIMITS_LOOKUP_PER_6_HOURS=100000",
			"DOTKONTOR_UPSTREAM_PER_HOST_PER_SECOND=-1",
		}, source.config)
		if err != nil {
			return nil, err
		}
		cost, rate, err := coldCost(ctx, b, running, source.extension)
		if err := errors.Join(err, running.Stop()); err != nil {
			return nil, err
		}
		lines = append(lines,
			newMeasurement("CPU time of the product for "+source.what, cost, microseconds, nil, fmt.Sprintf("%d names, %d at a time", coldChecks, coldCallers)),
			newMeasurement("  checks", rate, perSecond, nil, "client, product and world share the cores"))
	}
	return lines, nil
}

// withoutAccounts removes the registry accounts from a configuration.
func withoutAccounts(text string) (string, error) {
	var kept []string
	inside := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "[") {
			inside = strings.HasPrefix(line, "[[epp")
		}
		if !inside {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, ""), nil
}

func coldCost(ctx context.Context, b bench, running *testkit.Product, extension string) (cost, rate float64, err error) {
	var asked atomic.Int64
	var failed atomic.Pointer[error]
	check := func() bool {
		n := asked.Add(1)
		if n > coldChecks {
			return false
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, running.Server.Ready+checkRoute, strings.NewReader(fmt.Sprintf(`{"domain":"kalt%d%s"}`, n, extension)))
		if err == nil {
			request.Header.Set("Content-Type", "application/json")
			err = answered(request)
		}
		if err != nil {
			failed.Store(&err)
			return false
		}
		return true
	}
	check() // connects
	before, known := running.Server.CPU()
	began := time.Now()
	var all sync.WaitGroup
	for range coldCallers {
		all.Go(func() {
			for check() {
			}
		})
	}
	all.Wait()
	took := time.Since(began)
	after, stillKnown := running.Server.CPU()
	if err := failed.Load(); err != nil {
		return 0, 0, *err
	}
	if !known || !stillKnown {
		return 0, 0, errors.New("the system does not report CPU time")
	}
	b.progress("%d cold checks of %s in %s", coldChecks, extension, took)
	return float64((after - before).Microseconds()) / (coldChecks - 1), (coldChecks - 1) / took.Seconds(), nil
}

// answered sends a request that must be answered with 200.
func answered(request *http.Request) error {
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %s", response.Status)
	}
	return nil
}
