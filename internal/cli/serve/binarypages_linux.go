package serve

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// releaseBinaryPages unmaps the pages of the binary that have been used so far, and returns how
// many bytes they may be. The start runs and reads most of the binary, of which an idle process
// needs a fraction; the rest comes back from the page cache when it is used. Only mappings that
// can't be written and that hold no page of their own are unmapped: relocations, which a
// position-independent build has, would be lost.
func releaseBinaryPages() (released uintptr, err error) {
	binary, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return 0, err
	}
	mappings, err := os.Open("/proc/self/smaps")
	if err != nil {
		return 0, err
	}
	defer mappings.Close()
	var start, length uintptr
	for lines := bufio.NewScanner(mappings); lines.Scan(); {
		line := lines.Text()
		if first, last, found := addressRange(line); found {
			start, length = 0, 0
			if strings.HasSuffix(line, " "+binary) && !strings.Contains(strings.Fields(line)[1], "w") {
				start, length = first, last-first
			}
			continue
		}
		if fields := strings.Fields(line); length > 0 && len(fields) == 3 && fields[0] == "Anonymous:" && fields[1] == "0" {
			if _, _, failure := syscall.Syscall(syscall.SYS_MADVISE, start, length, syscall.MADV_DONTNEED); failure != 0 {
				return released, failure
			}
			released += length
		}
	}
	return released, nil
}

// addressRange reads the addresses at the start of a mapping's first line.
func addressRange(line string) (first, last uintptr, found bool) {
	head, _, _ := strings.Cut(line, " ")
	from, to, _ := strings.Cut(head, "-")
	a, errA := strconv.ParseUint(from, 16, strconv.IntSize)
	b, errB := strconv.ParseUint(to, 16, strconv.IntSize)
	return uintptr(a), uintptr(b), errA == nil && errB == nil && b > a
}
