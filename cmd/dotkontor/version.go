package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the release build.
var version = "1.0.0-dev"

type versionCommand struct{}

// Run prints the version and what it was built from.
func (versionCommand) Run(t *terminal) error {
	revision := "unknown revision"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				revision = setting.Value
			}
		}
	}
	_, err := fmt.Fprintf(t.out, "dotkontor %s (%s, %s)\n", version, revision, runtime.Version())
	return err
}
