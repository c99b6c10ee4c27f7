package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// maxStolen is the share of CPU time that the host may give to other machines while
	// this one has work to do.
	maxStolen = 0.2
	// A host that has taken CPU time from a busy machine gives it back after minutes
	// without work.
	restTime = time.Minute
	maxRests = 10
)

// rests makes the tests that failed for lack of CPU time wait until the host gives it back,
// so that they are not repeated under the same lack. left bounds all waits of a run together.
type rests struct {
	left   int
	pause  time.Duration
	stolen func(context.Context) float64
}

func newRests() *rests { return &rests{left: maxRests, pause: restTime, stolen: stolenShare} }

// await returns when the host lets this machine use its cores, or when no rest is left.
func (r *rests) await(ctx context.Context, out io.Writer) {
	for ; r.left > 0; r.left-- {
		stolen := r.stolen(ctx)
		if stolen <= maxStolen || ctx.Err() != nil {
			return
		}
		fmt.Fprintf(out, "the host withholds %.0f %% of the CPU time: resting for %s\n", 100*stolen, r.pause)
		select {
		case <-ctx.Done():
		case <-time.After(r.pause):
		}
	}
}

// stolenShare keeps every core busy for a second and returns the share of the CPU time
// that the host has withheld meanwhile; 0 where the system does not count it.
func stolenShare(ctx context.Context) float64 {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	before := readCPUTimes()
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			for ctx.Err() == nil {
			}
		})
	}
	wg.Wait()
	after := readCPUTimes()
	if after.total <= before.total {
		return 0
	}
	return float64(after.stolen-before.stolen) / float64(after.total-before.total)
}

// cpuTimes are ticks since the start of the machine.
type cpuTimes struct{ total, stolen uint64 }

func readCPUTimes() cpuTimes {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return cpuTimes{} // not Linux
	}
	return parseCPUTimes(string(text))
}

// parseCPUTimes reads the first line of /proc/stat: user, nice, system, idle, iowait, irq,
// softirq, steal, and guest times that user and nice contain; see proc_stat(5).
func parseCPUTimes(stat string) cpuTimes {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return cpuTimes{}
	}
	var times cpuTimes
	for i, field := range fields[1:9] {
		ticks, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			return cpuTimes{}
		}
		times.total += ticks
		if i == 7 {
			times.stolen = ticks
		}
	}
	return times
}
