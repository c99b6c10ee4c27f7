package registrar

// Registrant is the registrant of a domain as submitted to a registry.
type Registrant struct {
	Name         string `json:"name"`
	Organisation string `json:"organisation,omitempty"`
	Street       string `json:"street"`
	PostalCode   string `json:"postal_code,omitempty"`
	City         string `json:"city"`
	State        string `json:"state,omitempty"`
	Country      string `json:"country"`
	Phone        string `json:"phone"`
	Email        string `json:"email"`
}

// IdentityRequired goes with KindConflict: the extension requires a verified
// identity, and the registrant's name is not verified.
const IdentityRequired Code = "requires_identity"

// RequiresCode goes with KindConflict: the registrant does not meet a rule of the
// catalog's column "requires". Each rule has its own code, so that a transport can
// explain it.
func RequiresCode(rule string) Code { return Code("requires_" + rule) }

// CheckRegistrant returns an error if the extension does not admit this registrant.
// verified is the name that an identity check has confirmed; empty if there was none.
// Rules about data that only a gateway can submit are not checked here: without the
// gateway such names can't be ordered.
func (e Extension) CheckRegistrant(registrant Registrant, verified string) error {
	if err := e.CheckCountry(registrant.Country); err != nil {
		return err
	}
	return e.CheckIdentity(registrant.Name, verified)
}

// CheckCountry is the part of CheckRegistrant about the country.
func (e Extension) CheckCountry(country string) error {
	requirement := RequirementOf(e.Requires)
	if !requirement.Admits(country) {
		return &Error{Kind: KindConflict, Code: RequiresCode(e.Requires), Detail: e.TLD}
	}
	return nil
}

// CheckIdentity is the part of CheckRegistrant about the identity.
func (e Extension) CheckIdentity(name, verified string) error {
	if e.Verify && !SameName(verified, name) {
		return &Error{Kind: KindConflict, Code: IdentityRequired, Detail: e.TLD}
	}
	return nil
}

// CheckRegistrant applies Extension.CheckRegistrant to each of tlds.
func CheckRegistrant(find func(tld string) (Extension, bool), tlds []string, registrant Registrant, verified string) error {
	return CheckExtensions(find, tlds, func(extension Extension) error { return extension.CheckRegistrant(registrant, verified) })
}

// CheckExtensions applies check to each of tlds and returns the first error. find
// looks extensions up in the catalog; those it no longer lists are skipped.
func CheckExtensions(find func(tld string) (Extension, bool), tlds []string, check func(Extension) error) error {
	for _, tld := range tlds {
		extension, listed := find(tld)
		if !listed {
			continue
		}
		if err := check(extension); err != nil {
			return err
		}
	}
	return nil
}
