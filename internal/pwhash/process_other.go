//go:build !linux

package pwhash

import (
	"os"
	"os/exec"
)

// ExecutablePath is the path of this program.
func ExecutablePath() (string, error) { return os.Executable() }

func setProcessGroup(*exec.Cmd) {}

// lowerPriority does nothing: a heap of its own is the better part.
func lowerPriority(int) error { return nil }
