package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/dotkontor/dotkontor/test/testkit"
)

const (
	// wantedRESTRatio is the minimum ratio of a bare handler's CPU time to that of a check.
	wantedRESTRatio = 0.85
	restMeasure     = "REST check from memory, as a share of a bare net/http handler, by CPU time"
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
	var lines []measurement
	if share, known := ours.cpuRatioTo(bare); known {
		lines = append(lines,
			newMeasurement(restMeasure, share, ratio, atLeast(wantedRESTRatio), "limits, metrics and log on; the aim is 0.92"),
			newMeasurement("  product, CPU time for one answer", median(ours.cpuCosts), microseconds, nil, ""),
			newMeasurement("  bare handler", median(bare.cpuCosts), microseconds, nil, ""))
	}
	return append(lines,
		newMeasurement("  as a share of the bare handler's rate", ours.rateRatioTo(bare), ratio, nil, "client and server share the cores"),
		newMeasurement("  product", median(ours.rates), perSecond, nil, ""),
		newMeasurement("  bare handler", median(bare.rates), perSecond, nil, ""))
}
