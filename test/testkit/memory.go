package testkit

import (
	"os"
	"strconv"
	"strings"
)

// Memory is what a process has in the machine's memory, in bytes. Where the
// system does not tell, it is zero.
type Memory struct {
	// RSS is what it holds, and Most what it ever held.
	RSS, Peak int64
}

// Memory looks at the process and at those that it has started: what they ever
// held is added up, as if all had been at their highest at the same moment.
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

// childrenOf looks through all processes, because not every kernel keeps a list.
func childrenOf(pid int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var children []int
	for _, entry := range entries {
		child, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue // no process
		}
		text, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err == nil && parseParentPID(string(text)) == pid {
			children = append(children, child)
		}
	}
	return children
}

// parseParentPID is the fourth field of proc(5)'s stat. Counting begins behind the
// second, the program's name, which may hold spaces.
func parseParentPID(stat string) int {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	pid, _ := strconv.Atoi(fields[1]) // 0 is nobody's
	return pid
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
			m.RSS = kilobytes << 10
		case "VmHWM":
			m.Peak = kilobytes << 10
		}
	}
	return m
}
