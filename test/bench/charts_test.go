package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dotkontor/dotkontor/test/testkit"
)

// The figures of a small database on a busy machine prove nothing, but every page is shown, and
// the margins are those of all items.
func TestCharts_EveryPageIsMeasured(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("with -short: needs the built binary")
	}
	b := bench{settings: settings{rows: 20_000, binary: filepath.Join(t.TempDir(), "dotkontor")}, folder: t.TempDir(), progress: t.Logf}
	if err := testkit.Build(t.Context(), b.binary, os.Stderr); err != nil {
		t.Fatal(err)
	}
	lines, err := measureCharts(t.Context(), b, onSQLite.name, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != 1+len(chartPages) {
		t.Errorf("%d measurements of %d pages", len(lines), len(chartPages))
	}
	for _, l := range lines {
		if l.Measured <= 0 {
			t.Errorf("%s took no time", l.What)
		}
	}
}
