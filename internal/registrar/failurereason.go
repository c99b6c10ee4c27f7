package registrar

// FailureReason is why an ordered item failed, as far as customers can act on it or want to
// know. Pages and mails have a text of their own for each; a code with its own text on a page
// needs none here.
type FailureReason string

// Reasons of a failed item.
const (
	FailureTaken  FailureReason = "taken"
	FailureCode   FailureReason = "code"   // the auth code is wrong
	FailureLocked FailureReason = "locked" // also too young for a transfer
	FailureGone   FailureReason = "gone"   // the registry does not have the domain
	FailureOurs   FailureReason = "ours"   // our registry account could not execute it
	FailureDenied FailureReason = "denied"
	FailureOther  FailureReason = "other"
)

// FailureReasons returns all reasons.
func FailureReasons() []FailureReason {
	return []FailureReason{FailureTaken, FailureCode, FailureLocked, FailureGone, FailureOurs, FailureDenied, FailureOther}
}

var failureReasons = map[Code]FailureReason{
	EPPExists: FailureTaken, NameHeld: FailureTaken, "name_taken": FailureTaken, NameReserved: FailureTaken,
	EPPAuthInfo: FailureCode, "auth_code_wrong": FailureCode,
	"epp_status_prohibits": FailureLocked, EPPNotEligible: FailureLocked, "transfer_locked": FailureLocked,
	EPPMissing: FailureGone, RegistryNotFound: FailureGone, "not_registered": FailureGone,
	EPPBilling: FailureOurs, "registry_billing": FailureOurs, NoRegistryAccount: FailureOurs,
	RegistryDenied: FailureDenied,
}

// FailureReasonOf returns the reason of a code.
func FailureReasonOf(code Code) FailureReason {
	if reason, known := failureReasons[code]; known {
		return reason
	}
	if IsEPPCode(code) {
		return FailureDenied
	}
	return FailureOther
}
