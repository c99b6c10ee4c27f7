package pwhash

import (
	"os"
	"os/exec"
	"syscall"
)

// niceness gives request handling nine tenths of a contended core. With the lowest
// priority, 19, it would get 98 percent, and sign-ins would stall on a busy machine.
const niceness = 10

// ExecutablePath returns the path of this program. It refers to the running file, even
// after an upgrade has replaced it.
func ExecutablePath() (string, error) {
	const running = "/proc/self/exe"
	if _, err := os.Stat(running); err == nil {
		return running, nil
	}
	return os.Executable()
}

// setProcessGroup puts the process into its own group, so that a terminal signal to the
// service does not end a process that the service still needs.
func setProcessGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// lowerPriority applies to the group: for the process alone it would affect one thread only.
func lowerPriority(pid int) error { return syscall.Setpriority(syscall.PRIO_PGRP, pid, niceness) }
