package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version is set by the release build.
var Version = "1.0.0-dev"

type versionCommand struct{}

// Run prints the version and what it was built from.
func (versionCommand) Run(t *Terminal) error {
	_, err := fmt.Fprintln(t.Out, VersionText())
	return err
}

func VersionText() string {
	return fmt.Sprintf("dotkontor %s (%s, %s)", Version, Revision(), runtime.Version())
}

// Revision is the commit that the program was built from.
func Revision() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				return setting.Value
			}
		}
	}
	return "unknown revision"
}
