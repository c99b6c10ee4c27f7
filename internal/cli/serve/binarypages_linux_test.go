package serve

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// binaryRSS returns how much of the binary is mapped, without what can be written.
func binaryRSS(t *testing.T) (kib int) {
	t.Helper()
	binary, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	ours := false
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if _, _, found := addressRange(line); found {
			ours = fields[len(fields)-1] == binary && !strings.Contains(fields[1], "w")
		} else if ours && fields[0] == "Rss:" {
			n, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			kib += n
		}
	}
	return kib
}

func TestReleaseBinaryPages_UnmapsWhatTheStartUsed(t *testing.T) {
	before := binaryRSS(t)
	released, err := releaseBinaryPages()
	if err != nil {
		t.Fatal(err)
	}
	after := binaryRSS(t)
	if released == 0 || after >= before {
		t.Errorf("%d bytes released, %d KiB mapped before and %d after", released, before, after)
	}
}
