package registrar

import "slices"

// DomainStatus is the state of a domain as its customer sees it. Registries have
// more states; these say what the customer can do about the domain.
type DomainStatus string

// The states.
const (
	// DomainActive: registered and paid for.
	DomainActive DomainStatus = "active"
	// DomainPending: paid, but the registration or the inbound transfer is still in
	// progress at the registry.
	DomainPending DomainStatus = "pending"
	// DomainExpired: the paid term has ended. A renewal at the usual price restores it.
	DomainExpired DomainStatus = "expired"
	// DomainRedemption: deleted, but restorable for this registrant for some weeks, at
	// the price of a restore.
	DomainRedemption DomainStatus = "redemption"
	// DomainTransit: handed to DENIC, which asks the holder of a .de domain directly
	// how to proceed.
	DomainTransit DomainStatus = "transit"
	// DomainTransferredOut: another registrar sponsors it.
	DomainTransferredOut DomainStatus = "transferred_out"
)

// DomainStatuses lists all states, the most urgent for the customer first.
func DomainStatuses() []DomainStatus {
	return []DomainStatus{DomainRedemption, DomainExpired, DomainTransit, DomainPending, DomainActive, DomainTransferredOut}
}

// Valid reports whether s is one of DomainStatuses.
func (s DomainStatus) Valid() bool { return slices.Contains(DomainStatuses(), s) }

// TermEndChoice is what a customer wants at the end of a domain's term.
type TermEndChoice string

// The choices. They are stored.
const (
	TermEndUndecided TermEndChoice = ""
	TermEndRenew     TermEndChoice = "renew"  // automatically, with a consent (package renewal)
	TermEndExpire    TermEndChoice = "expire" // let it expire
)
