package registrar

// FailureReason is why an ordered item failed, as far as customers can act on it or want to
// know. Pages and mails have a text of their own for each; a code with its own text on a page
// needs none here.
type FailureReason string

// Reasons of a failed item.
const (
	FailureTaken  FailureReason = "taken"
	FailureHeld   FailureReason = "held"   // a transfer: the name is here already, or another order transfers it
	FailureCode   FailureReason = "code"   // the auth code is wrong
	FailureLocked FailureReason = "locked" // also too young for a transfer
	FailureGone   FailureReason = "gone"   // the registry does not have the domain
	FailureOurs   FailureReason = "ours"   // our registry account could not execute it
	FailureFee    FailureReason = "fee"    // the registry has raised its price of a premium name
	FailureDenied FailureReason = "denied"
	FailureLoser  FailureReason = "loser" // the losing registrar rejected the transfer
	FailureOther  FailureReason = "other"
)

// FailureReasons returns all reasons.
func FailureReasons() []FailureReason {
	return []FailureReason{FailureTaken, FailureHeld, FailureCode, FailureLocked, FailureGone, FailureOurs, FailureFee, FailureDenied, FailureLoser, FailureOther}
}

var failureReasons = map[Code]FailureReason{
	EPPExists: FailureTaken, NameHeld: FailureTaken, "name_taken": FailureTaken, NameReserved: FailureTaken,
	EPPAuthInfo: FailureCode, "auth_code_wrong": FailureCode,
	"epp_status_prohibits": FailureLocked, EPPNotEligible: FailureLocked, "transfer_locked": FailureLocked,
	EPPMissing: FailureGone, RegistryNotFound: FailureGone, "not_registered": FailureGone,
	EPPBilling: FailureOurs, "registry_billing": FailureOurs, NoRegistryAccount: FailureOurs, "given_up": FailureOurs,
	"registry_fee_raised": FailureFee, RegistryDenied: FailureDenied, TransferRejected: FailureLoser,
}

// FailureReasonOf returns the reason of a code. A transfer does not fail because its name is
// taken: it has to be.
func FailureReasonOf(code Code, transfer bool) FailureReason {
	if reason, known := failureReasons[code]; known {
		if transfer && reason == FailureTaken {
			return FailureHeld
		}
		return reason
	}
	if IsEPPCode(code) {
		return FailureDenied
	}
	return FailureOther
}
