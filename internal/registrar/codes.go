package registrar

import "strings"

// Codes that several packages return.
const (
	// NoSuchCustomer goes with KindNotFound. Only operators see it.
	NoSuchCustomer Code = "no_such_customer"
	// NoSuchDomain goes with KindNotFound: the domain does not exist or belongs to
	// another customer.
	NoSuchDomain Code = "no_such_domain"

	// NameHeld goes with KindConflict: an account here already holds the name, or an
	// order for it is in progress.
	NameHeld Code = "name_held"
	// NameReserved goes with KindConflict: the registry does not register the name.
	NameReserved Code = "name_reserved"
	// NamePremium goes with KindConflict: the registry charges an individual price.
	NamePremium Code = "name_premium"

	// NoRegistryAccount goes with KindUnsupported: no registry account serves the
	// extension.
	NoRegistryAccount Code = "no_registry_account"
	// RegistryDenied goes with KindConflict: the registry refused the request.
	RegistryDenied Code = "registry_denied"
	// RegistryNotFound goes with KindNotFound: the name is not registered.
	RegistryNotFound Code = "registry_gone"
	// OtherRegistrar goes with KindForbidden: another registrar sponsors the name.
	OtherRegistrar Code = "registry_elsewhere"
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
