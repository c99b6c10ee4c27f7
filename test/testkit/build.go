package testkit

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	buildTimeout = 10 * time.Minute // a cold build of all libraries takes minutes
	module       = "github.com/dotkontor/dotkontor/"
	// buildCacheVariable names the folder in which the packages of one test run share
	// builds: linking the product takes seconds, and most packages need the same binary.
	buildCacheVariable = "TEST_BUILDS"
)

// Build builds the binary with additional flags. GOFLAGS has those of "make build".
func Build(ctx context.Context, path string, errOut io.Writer, flags ...string) error {
	return BuildProgram(ctx, "cmd/dotkontor", path, errOut, flags...)
}

// BuildProgram is Build for a program in another folder.
func BuildProgram(ctx context.Context, program, path string, errOut io.Writer, flags ...string) error {
	if _, err := Sources(); err != nil {
		return err
	}
	return build(ctx, program, path, errOut, flags)
}

// BuildExample builds a program of the folder examples.
func BuildExample(ctx context.Context, name, path string, errOut io.Writer) error {
	return build(ctx, "examples/"+name, path, errOut, nil)
}

// build hard-links a binary that the same run has built before, or compiles it and adds
// it to the shared folder.
func build(ctx context.Context, program, path string, errOut io.Writer, flags []string) error {
	cached := cachedBuild(os.Environ(), program, flags)
	if cached != "" && os.Link(cached, path) == nil {
		return nil
	}
	if err := compile(ctx, program, path, errOut, flags); err != nil {
		return err
	}
	if cached != "" {
		_ = os.Link(path, cached) // fails if another package was faster
	}
	return nil
}

// cachedBuild returns the path of a shared build, or nothing if builds are not shared. It
// reads the whole environment because the go tool records lookups of single variables:
// the folder differs in each run, so test results would never be cached.
func cachedBuild(environment []string, program string, flags []string) string {
	for _, variable := range environment {
		if folder, found := strings.CutPrefix(variable, buildCacheVariable+"="); found && folder != "" {
			return filepath.Join(folder, strings.ReplaceAll(strings.Join(append([]string{program}, flags...), " "), "/", "-"))
		}
	}
	return ""
}

func compile(ctx context.Context, program, path string, errOut io.Writer, flags []string) error {
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	args := append([]string{"build", "-buildvcs=false", "-o", path}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, module+program)...)
	cgo := "CGO_ENABLED=0"
	if slices.Contains(flags, "-race") { // needs cgo
		cgo = "CGO_ENABLED=1"
	}
	cmd.Env = append(os.Environ(), cgo)
	cmd.Stderr = errOut
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s does not build (run this inside the repository): %w", program, err)
	}
	return nil
}

// SkipShort reports whether -short was given, in which case it prints that the package
// is skipped. TestMain calls it in packages whose tests run the built binary.
func SkipShort() bool {
	flag.Parse()
	if testing.Short() {
		fmt.Println("skipped with -short: these tests run the built binary")
	}
	return testing.Short()
}

// Main is the body of TestMain in a package whose tests run the product: it builds the
// binary, stores its path, runs the tests and returns their exit code.
func Main(tests interface{ Run() int }, binary *string, flags ...string) int {
	if SkipShort() {
		return 0
	}
	folder, err := os.MkdirTemp("", "dotkontor-tests-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(folder) }()
	*binary = filepath.Join(folder, "dotkontor")
	if err := Build(context.Background(), *binary, os.Stderr, flags...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return tests.Run()
}

// RaceEnvironment returns the race detector's settings, for processes that get no other
// part of the environment.
func RaceEnvironment() []string {
	var variables []string
	for _, variable := range os.Environ() {
		if strings.HasPrefix(variable, "GORACE=") {
			variables = append(variables, variable)
		}
	}
	return variables
}
