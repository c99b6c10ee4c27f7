package docs

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit"
	"github.com/dotkontor/dotkontor/test/testkit/nodejs"
)

// expectedSignature is the output of every signing snippet.
const expectedSignature = "HqZMqZcKcGOmY_QgWoj85aIC7mfF38wLxV14Gs6ZOC8"

var fence = regexp.MustCompile("(?s)\n```([a-z]+)\n(.*?\n)```\n")

// snippets returns the code blocks of the checkout page in a language.
func snippets(t *testing.T, language string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "checkout.md"))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, block := range fence.FindAllStringSubmatch(string(text), -1) {
		if block[1] == language {
			found = append(found, block[2])
		}
	}
	if len(found) == 0 {
		t.Fatalf("the page has no %s", language)
	}
	return found
}

func TestCheckoutPage_SnippetsProduceExpectedSignature(t *testing.T) {
	t.Parallel()
	for language, how := range map[string]struct {
		find func(*testing.T) string
		file string
		args []string
	}{
		"go":     {find: systemProgram("go"), file: "main.go", args: []string{"run"}},
		"python": {find: systemProgram("python3"), file: "sign.py"},
		// The pinned Node runs TypeScript.
		"typescript": {find: func(t *testing.T) string { return nodejs.Program(t, "playwright-core") }, file: "sign.mts"},
		"sh":         {find: systemProgram("sh"), file: "sign.sh"},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			program := how.find(t)
			text := snippets(t, language)[0]
			file := filepath.Join(t.TempDir(), how.file)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			out, err := exec.CommandContext(ctx, program, append(how.args, file)...).CombinedOutput()
			if err != nil || strings.TrimSpace(string(out)) != expectedSignature {
				t.Errorf("got %s, %v", out, err)
			}
		})
	}
}

// systemProgram returns the path of an installed program or skips the test.
func systemProgram(program string) func(*testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		path, err := exec.LookPath(program)
		if err != nil {
			t.Skipf("%s is not installed", program)
		}
		return path
	}
}

// The page's commands for the five operations run in a shell against a sandbox.
func TestCheckoutPage_CommandsWork(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs the built binary")
	}
	for _, program := range []string{"sh", "curl", "jq"} {
		systemProgram(program)(t)
	}
	script := ""
	for _, block := range snippets(t, "sh") {
		if strings.HasPrefix(block, "# five operations\n") || strings.HasPrefix(block, "# version 2026-04-17\n") {
			script += block
		}
	}
	if script == "" {
		t.Fatal("the page does not show the five operations")
	}
	folder := t.TempDir()
	binary := filepath.Join(folder, "dotkontor")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var building bytes.Buffer
	if err := testkit.Build(ctx, binary, &building); err != nil {
		t.Fatalf("%v\n%s", err, &building)
	}
	sandbox, err := testkit.Start(ctx, testkit.Command{
		Path: binary, Args: []string{"sandbox", "--listen", "127.0.0.1:0", "--data", filepath.Join(folder, "data"), "--info", filepath.Join(folder, "info.json")},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := sandbox.Stop(); err != nil {
			t.Error(err)
		}
	}()
	want := regexp.MustCompile("^not_ready_for_payment\nready_for_payment\n8.21\ncompleted\nkaffee-[0-9-]+[.]de\nconflict\n" +
		"ready_for_payment\ncompleted\nprocessing\n$")
	for range 2 { // readers run them more than once
		shell := exec.CommandContext(ctx, "sh", "-eu")
		shell.Dir, shell.Stdin = folder, strings.NewReader(script)
		shell.Env = append(testkit.Environment(), "PATH="+folder+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := shell.CombinedOutput()
		if err != nil || !want.Match(out) {
			t.Errorf("the commands print\n%s%v\nwant\n%s", out, err, want)
		}
	}
}
