package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/dotkontor/dotkontor/test/rig"
)

const (
	// wantedRatio is the share of a bare handler's speed that a check must have.
	wantedRatio = 0.6
	// takenName is registered in the sandbox's world. Taken names are remembered
	// longest, for two minutes.
	takenName  = "google.com"
	checkRoute = "/api/domain/check"
)

func checkInquiry() inquiry {
	return inquiry{path: checkRoute, host: "dotkontor.example", body: `{"domain":"` + takenName + `"}`}
}

// benchREST compares a check that is answered from memory with a bare handler.
func benchREST(ctx context.Context, b bench) (lines []line, err error) {
	running, err := rig.StartProduct(ctx, b.binary, filepath.Join(b.folder, "rest"), nil, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, running.Stop()) }()

	ours, answer, err := newSide(ctx, "product", running.Server, checkInquiry(), b.connections)
	if err != nil {
		return nil, err
	}
	defer ours.load.close()
	bare, err := newReferenceSide(ctx, b, refBareREST, checkInquiry(), answer)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bare.stop()) }()

	if err := takeTurns(ctx, b, ours, bare); err != nil {
		return nil, err
	}
	if err := sawAll(ctx, running, checkRoute, ours.load.sent.Load()); err != nil {
		return nil, err
	}
	return compareREST(ours, bare), nil
}

// compareREST turns the rounds into lines.
func compareREST(ours, bare *side) []line {
	lines := []line{
		measured("REST check from memory, as a share of bare net/http", ours.asShareOf(bare),
			ratio, atLeast(wantedRatio), "answers per second; limits, metrics and log on; the aim is 0.8"),
		measured("  product", median(ours.rates), perSecond, nil, "client and server share the cores"),
		measured("  bare net/http handler", median(bare.rates), perSecond, nil, ""),
	}
	share, known := ours.cheapnessBeside(bare)
	if !known {
		return lines
	}
	return append(lines,
		measured("  the same by the servers' CPU time", share, ratio, nil, "without the client's share"),
		measured("  product, CPU time for one answer", median(ours.costs), microseconds, nil, ""),
		measured("  bare, CPU time for one answer", median(bare.costs), microseconds, nil, ""))
}
