package lifecycle

import "time"

// EndedDomain is what became of a domain after its order was completed. The order itself stays as
// it was.
type EndedDomain struct {
	At         time.Time
	HandedOver bool // to the registry, which asks the registrant; otherwise it was deleted
}

// NewEndedDomain returns the end of a domain of a TLD.
func NewEndedDomain(tld string, at time.Time) EndedDomain {
	return EndedDomain{At: at, HandedOver: DeletionHandsOver(tld)}
}

// DeletionHandsOver reports whether the registry of a TLD takes a domain over that its registrar
// deletes, also because of a refund, and asks the registrant.
func DeletionHandsOver(tld string) bool { return PolicyOf(tld).Unpaid == UnpaidTransit }
