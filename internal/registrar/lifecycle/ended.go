package lifecycle

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// EndedDomain is what became of a domain after its order was completed. The order itself stays as
// it was.
type EndedDomain struct {
	At         time.Time
	HandedOver bool // to the registry, which asks the registrant; otherwise it was deleted
}

// NewEndedDomain returns the end of a domain of a TLD.
func NewEndedDomain(tld string, cause registrar.Code, at time.Time) EndedDomain {
	return EndedDomain{At: at, HandedOver: cause != CauseRefund && PolicyOf(tld).Unpaid == UnpaidTransit}
}
