package testkit

import (
	"os"
	"strconv"
	"strings"
)

// Memory is the memory use of a process in bytes; zero on systems without /proc.
type Memory struct {
	// RSS is the current resident set, Peak its maximum.
	RSS, Peak int64
}

// Memory returns the sum over the process and its children. Peaks are added up as if
// all processes had reached them at the same time.
func (p *Process) Memory() Memory {
	own := p.cmd.Process.Pid
	all := memoryOf(own)
	for _, child := range childrenOf(own) {
		m := memoryOf(child)
		all.RSS, all.Peak = all.RSS+m.RSS, all.Peak+m.Peak
	}
	return all
}

func memoryOf(pid int) Memory {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return Memory{}
	}
	return parseMemory(string(text))
}

// childrenOf scans all processes, because not every kernel provides a list of children.
func childrenOf(pid int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var children []int
	for _, entry := range entries {
		child, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue // not a process
		}
		text, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err == nil && parseParentPID(string(text)) == pid {
			children = append(children, child)
		}
	}
	return children
}

// parseParentPID returns the fourth field of /proc/PID/stat, see proc(5). Fields are
// counted after the second, the program's name, which may contain spaces.
func parseParentPID(stat string) int {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	pid, _ := strconv.Atoi(fields[1]) // 0 is no process
	return pid
}

// parseMemory parses lines like "VmRSS:	   1234 kB" of proc(5).
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
			m.RSS = kilobytes << 10
		case "VmHWM":
			m.Peak = kilobytes << 10
		}
	}
	return m
}
