package portal

import (
	"strconv"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
)

func TestLockText_DisputeLocksWhateverTheRegistryShows(t *testing.T) {
	t.Parallel()
	for want, domains := range map[string][]portfolio.Domain{
		"":      {{}}, // the statuses are not known yet
		"false": {{RegistryStatus: []string{"ok"}}},
		"true":  {{RegistryStatus: []string{"clientTransferProhibited"}}, {TransferBarred: true}, {TransferBarred: true, RegistryStatus: []string{"ok"}}},
	} {
		for _, domain := range domains {
			if got := lockText(domain, strconv.FormatBool); got != want {
				t.Errorf("%+v: %q, want %q", domain, got, want)
			}
		}
	}
}
