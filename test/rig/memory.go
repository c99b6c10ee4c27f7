package rig

import (
	"os"
	"strconv"
	"strings"
)

// Memory is what a process has in the machine's memory, in bytes. Where the
// system does not tell, it is zero.
type Memory struct {
	// Now is what it holds, and Most what it ever held.
	Now, Most int64
}

// Memory looks at the process.
func (p *Process) Memory() Memory {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/status")
	if err != nil {
		return Memory{}
	}
	return parseMemory(string(text))
}

// parseMemory reads lines like "VmRSS:	   1234 kB" of proc(5).
func parseMemory(text string) Memory {
	var m Memory
	for row := range strings.Lines(text) {
		name, value, _ := strings.Cut(row, ":")
		kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			continue
		}
		switch name {
		case "VmRSS":
			m.Now = kilobytes << 10
		case "VmHWM":
			m.Most = kilobytes << 10
		}
	}
	return m
}
