package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The variables are what scripts/test.sh and the tests read.
func TestCIRun_PassesSchemaDirsToTests(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files []string // next to the checkout
		set   string
		want  string // relative to the parent of the checkout
	}{
		"none":        {want: "ACP= EPP="},
		"both":        {files: []string{"shared/acp/spec/x", "shared/epp/epp.xsd"}, want: "ACP=shared/acp EPP=shared/epp"},
		"one":         {files: []string{"shared/epp/epp.xsd"}, want: "ACP= EPP=shared/epp"},
		"other files": {files: []string{"shared/acp/README", "shared/epp/README"}, want: "ACP= EPP="},
		"already set": {files: []string{"shared/acp/spec/x"}, set: "ACP_SPEC_DIR=elsewhere", want: "ACP=elsewhere EPP="},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parent, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			put := func(path, text string) {
				path = filepath.Join(parent, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for _, script := range []string{".ci/run", "scripts/setup.sh"} {
				text, err := os.ReadFile(filepath.Join("..", "..", script))
				if err != nil {
					t.Fatal(err)
				}
				put("checkout/"+script, string(text))
			}
			for _, file := range test.files {
				put(file, "")
			}
			put("bin/make", "#!/bin/sh\necho \"$@ ACP=${ACP_SPEC_DIR-} EPP=${EPP_XSD_DIR-}\"\n")
			command := exec.CommandContext(t.Context(), filepath.Join(parent, "checkout", ".ci", "run"))
			command.Env = []string{"PATH=" + filepath.Join(parent, "bin") + ":" + os.Getenv("PATH"), test.set}
			out, err := command.CombinedOutput()
			if got := strings.ReplaceAll(strings.TrimSpace(string(out)), parent+"/", ""); err != nil || got != "test "+test.want {
				t.Errorf("got %q (%v), want %q", got, err, "test "+test.want)
			}
		})
	}
}
