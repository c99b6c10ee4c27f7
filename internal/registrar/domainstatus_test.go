package registrar_test

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestDomainStatuses_MatchContract(t *testing.T) {
	t.Parallel()
	if got := len(registrar.DomainStatuses()); got != 6 {
		t.Errorf("%d states, the contract has 6", got)
	}
	if registrar.DomainStatus("").Valid() || registrar.DomainStatus("lost").Valid() {
		t.Error("an unknown state is valid")
	}
}
