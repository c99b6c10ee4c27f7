package registrar

import "strings"

// Codes that several packages return.
const (
	NoSuchCustomer Code = "no_such_customer" // KindNotFound; only operators see it
	NoSuchDomain   Code = "no_such_domain"   // KindNotFound: there is none, or it belongs to another customer

	NameHeld     Code = "name_held"     // KindConflict: an account here holds the name, or an order for it is in progress
	NameReserved Code = "name_reserved" // KindConflict: the registry does not register the name
	NamePremium  Code = "name_premium"  // KindConflict: the registry charges an individual price

	NoRegistryAccount Code = "no_registry_account" // KindUnsupported: no registry account serves the extension
	RegistryDenied    Code = "registry_denied"     // KindConflict: the registry refused the request
	TransferRejected  Code = "transfer_rejected"   // KindConflict: the losing registrar rejected a transfer to us
	RegistryNotFound  Code = "registry_gone"       // KindNotFound: the name is not registered
	OtherRegistrar    Code = "registry_elsewhere"  // KindForbidden: another registrar sponsors the name
)

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
