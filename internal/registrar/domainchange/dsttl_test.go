package domainchange

import (
	"testing"
	"time"
)

func TestDSTTL_UnknownExtensionWaitsADay(t *testing.T) {
	t.Parallel()
	for _, tld := range []string{".com", ".de", ".unlisted"} {
		if got := DSTTL(tld); got != 24*time.Hour {
			t.Errorf("%s: %s", tld, got)
		}
	}
}
