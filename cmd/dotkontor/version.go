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
	_, err := fmt.Fprintln(t.out, versionText())
	return err
}

func versionText() string {
	return fmt.Sprintf("dotkontor %s (%s, %s)", version, revision(), runtime.Version())
}

// revision is the commit that the program was built from.
func revision() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				return setting.Value
			}
		}
	}
	return "unknown revision"
}
