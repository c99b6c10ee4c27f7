package app

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version, Commit and Date are set by the release build, see scripts/ldflags.sh.
var (
	Version = "0.1.0-dev"
	Commit  string
	Date    string // of the commit, RFC 3339
)

func VersionText() string {
	built := revision()
	if Date != "" {
		built += ", " + Date
	}
	return fmt.Sprintf("dotkontor %s (%s, %s)", Version, built, runtime.Version())
}

func revision() string {
	if Commit != "" {
		return Commit
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				return setting.Value
			}
		}
	}
	return "unknown revision"
}
