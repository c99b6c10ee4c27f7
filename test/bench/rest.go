package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/dotkontor/dotkontor/test/testkit"
)

const (
	// wantedRatio is the minimum ratio of a check's rate to that of a bare handler.
	wantedRatio = 0.6
	// takenName is registered in the sandbox's world. Taken names are cached longest,
	// for two minutes.
	takenName  = "google.com"
	checkRoute = "/api/domain/check"
)

func checkSpec() requestSpec {
	return requestSpec{path: checkRoute, host: "dotkontor.example", body: `{"domain":"` + takenName + `"}`}
}

// benchREST compares a check that is answered from memory with a bare handler.
func benchREST(ctx context.Context, b bench) (lines []measurement, err error) {
	running, err := testkit.StartProduct(ctx, b.binary, filepath.Join(b.folder, "rest"), nil, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, running.Stop()) }()

	ours, answer, err := newSide(ctx, "product", running.Server, checkSpec(), b.connections)
	if err != nil {
		return nil, err
	}
	defer ours.load.close()
	bare, err := newReferenceSide(ctx, b, refBareREST, checkSpec(), answer)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bare.stop()) }()

	if err := alternateRounds(ctx, b, ours, bare); err != nil {
		return nil, err
	}
	if err := verifyAllObserved(ctx, running, checkRoute, ours.load.sent.Load()); err != nil {
		return nil, err
	}
	return compareREST(ours, bare), nil
}

// compareREST turns the rounds into measurements.
func compareREST(ours, bare *side) []measurement {
	lines := []measurement{
		newMeasurement("REST check from memory, as a share of bare net/http", ours.rateRatioTo(bare),
			ratio, atLeast(wantedRatio), "answers per second; limits, metrics and log on; the aim is 0.8"),
		newMeasurement("  product", median(ours.rates), perSecond, nil, "client and server share the cores"),
		newMeasurement("  bare net/http handler", median(bare.rates), perSecond, nil, ""),
	}
	share, known := ours.cpuRatioTo(bare)
	if !known {
		return lines
	}
	return append(lines,
		newMeasurement("  the same by the servers' CPU time", share, ratio, nil, "without the client's share"),
		newMeasurement("  product, CPU time for one answer", median(ours.cpuCosts), microseconds, nil, ""),
		newMeasurement("  bare, CPU time for one answer", median(bare.cpuCosts), microseconds, nil, ""))
}
