//go:build !linux

package pwhash

import (
	"os"
	"os/exec"
)

// ExecutablePath returns the path of this program.
func ExecutablePath() (string, error) { return os.Executable() }

func setProcessGroup(*exec.Cmd) {}

// lowerPriority does nothing; a separate heap is the main benefit.
func lowerPriority(int) error { return nil }
