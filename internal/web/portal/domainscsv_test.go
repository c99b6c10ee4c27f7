package portal

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
)

func TestLockKey_DisputeLocksWhateverTheRegistryShows(t *testing.T) {
	t.Parallel()
	for want, domains := range map[string][]portfolio.Domain{
		"":            {{}}, // the statuses are not known yet
		"domains.no":  {{RegistryStatus: []string{"ok"}}},
		"domains.yes": {{RegistryStatus: []string{"clientTransferProhibited"}}, {TransferBarred: true}, {TransferBarred: true, RegistryStatus: []string{"ok"}}},
	} {
		for _, domain := range domains {
			if got := lockKey(domain, false); got != want {
				t.Errorf("%+v: %q, want %q", domain, got, want)
			}
		}
	}
}

func TestLockKey_ExtensionWithoutLockIsNotCalledUnlocked(t *testing.T) {
	t.Parallel()
	for want, domains := range map[string][]portfolio.Domain{
		"domains.csv_no_lock": {{}, {RegistryStatus: []string{"ok"}}},
		"domains.yes":         {{TransferBarred: true}},
	} {
		for _, domain := range domains {
			if got := lockKey(domain, true); got != want {
				t.Errorf("%+v: %q, want %q", domain, got, want)
			}
		}
	}
}
