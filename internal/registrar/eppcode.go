package registrar

import "strings"

// Codes of registry refusals (EPP result codes of RFC 5730) that transports explain
// in their own words.
const (
	EPPExists      Code = "epp_exists"
	EPPMissing     Code = "epp_missing"
	EPPAuthInfo    Code = "epp_auth_info"
	EPPBilling     Code = "epp_billing"
	EPPNotAllowed  Code = "epp_not_allowed"
	EPPNotEligible Code = "epp_not_eligible"
)

// IsEPPCode reports whether code is a registry's refusal.
func IsEPPCode(code Code) bool { return strings.HasPrefix(string(code), "epp_") }
