package main

import (
	"context"
	"path/filepath"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit"
)

const wantedStart = 1.0 // seconds

// benchStart measures the time from the start of the binary to the line "ready", each
// time with an empty data folder.
func benchStart(ctx context.Context, b bench) ([]measurement, error) {
	b.progress("starting the sandbox %d times", b.starts)
	var times []float64
	for n := range b.starts {
		folder := filepath.Join(b.folder, "start-"+strconv.Itoa(n))
		began := time.Now()
		p, err := testkit.Start(ctx, testkit.Command{Path: b.binary, Args: []string{"sandbox", "--listen", "127.0.0.1:0", "--data", folder}})
		took := time.Since(began)
		if err != nil {
			return nil, err
		}
		if err := p.Stop(); err != nil {
			return nil, err
		}
		times = append(times, took.Seconds())
	}
	return []measurement{newMeasurement("start of the sandbox, from exec to ready", median(times), seconds, atMost(wantedStart),
		"median of "+strconv.Itoa(b.starts))}, nil
}
