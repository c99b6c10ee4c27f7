//go:build !linux

package hashing

import (
	"os"
	"os/exec"
)

// Self is the path of this program.
func Self() (string, error) { return os.Executable() }

func setApart(*exec.Cmd) {}

// yield does nothing: a heap of its own is the better part.
func yield(int) error { return nil }
