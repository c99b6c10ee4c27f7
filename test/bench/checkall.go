package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/test/testkit"
)

const (
	wantedCheckAll  = 0.5 // seconds
	checkAllRounds  = 5
	checkAllMeasure = "check NAME --tlds all, one EPP account, every upstream at 80 ms"
)

// benchCheckAll runs the command for one name under all extensions, from exec to exit. Its
// configuration has one registry account, which serves nearly all of them.
func benchCheckAll(ctx context.Context, b bench) (lines []measurement, err error) {
	world, err := testkit.Start(ctx, testkit.Command{Path: b.binary, Args: []string{
		"sandbox", "--world-only", "--listen", "127.0.0.1:0", "--world-latency", worldLatency,
		"--data", filepath.Join(b.folder, "checkall-world"),
	}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, world.Stop()) }()
	list, err := catalog.Shipped()
	if err != nil {
		return nil, err
	}
	b.progress("checking a name under all extensions, %d times", checkAllRounds)
	var took, spent []float64
	for n := range checkAllRounds {
		cmd := exec.CommandContext(ctx, b.binary, "check", "alle-"+strconv.Itoa(n), "--tlds", "all", "--ndjson", "--config", world.Ready)
		cmd.Env = testkit.Environment()
		began := time.Now()
		out, err := cmd.Output()
		took = append(took, time.Since(began).Seconds())
		if err != nil {
			return nil, fmt.Errorf("check: %w", err)
		}
		spent = append(spent, float64((cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()).Microseconds())/1000)
		if err := verifyCheckAll(out, list); err != nil {
			return nil, err
		}
	}
	return []measurement{
		newMeasurement(checkAllMeasure, median(took), seconds, atMost(wantedCheckAll), "from exec to exit; median of "+strconv.Itoa(checkAllRounds)+", no name twice"),
		newMeasurement("  CPU time of the process", median(spent), milliseconds, nil, ""),
	}, nil
}

// verifyCheckAll fails if a name has no answer, or one from another source than the
// account. The sandbox's account excludes the extensions without a public source.
func verifyCheckAll(out []byte, list *catalog.Catalog) error {
	served := 0
	for _, ext := range list.All() {
		if ext.RDAP != "" || ext.WHOIS != "" {
			served++
		}
	}
	answers, fromAccount := bytes.Count(out, []byte("\n")), bytes.Count(out, []byte(`"available":true`))
	if byEPP := bytes.Count(out, []byte(`"source":"epp"`)); answers != list.Len() || fromAccount != served || byEPP != served {
		return fmt.Errorf("check: %d of %d answers, %d free and %d from the account, want %d", answers, list.Len(), fromAccount, byEPP, served)
	}
	return nil
}
