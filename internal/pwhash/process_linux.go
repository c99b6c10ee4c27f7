package pwhash

import (
	"os"
	"os/exec"
	"syscall"
)

// niceness is the priority of the process: whoever answers requests gets nine tenths of a
// processor that both want. With the lowest, 19, it would be 98 hundredths, and on a
// busy machine nobody could sign in any more.
const niceness = 10

// ExecutablePath is the path of this program. It leads to the very file that is running,
// also after an upgrade has put another one in its place.
func ExecutablePath() (string, error) {
	const running = "/proc/self/exe"
	if _, err := os.Stat(running); err == nil {
		return running, nil
	}
	return os.Executable()
}

// setProcessGroup makes a group of its own, so that a signal from the terminal to the
// service does not end what the service still needs.
func setProcessGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// lowerPriority lowers the priority of all threads. That of a process alone would be that
// of its first thread, and others compute.
func lowerPriority(pid int) error { return syscall.Setpriority(syscall.PRIO_PGRP, pid, niceness) }
