package epp

import (
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// ContactRule is what a registry requires of a contact. From which countries a registrant may
// be is not part of it: the price list has that (registrar.Requirement).
type ContactRule struct {
	Type   ContactType
	Postal PostalForm
	// Required are the fields that the schema of RFC 5733 leaves optional.
	Required []string
	// NameMax and OrganisationMax limit the lengths in characters; 0 means the schema's 255.
	NameMax, OrganisationMax int
	// EmailOutside means that the email address must not be below the domain itself.
	EmailOutside bool
	Disclose     Disclosure
	// Languages are those that the registry writes to the registrant in. Only typed contacts
	// have one.
	Languages []string
	Source    string
}

// ContactType is the EPP extension with which a registry distinguishes contacts.
type ContactType string

// The types. Contacts of most registries have none.
const (
	// TypeEURid: a contact is a registrant, a tech, a billing contact for good, and has a
	// language (contact-ext-1.3).
	TypeEURid ContactType = "eurid"
	// TypeNicAT: a contact is a person, an organisation or a role (at-ext-contact-1.0).
	TypeNicAT ContactType = "nic.at"
)

// PostalForm is which forms of an address a registry takes (RFC 5733, 2.4).
type PostalForm string

// The forms.
const (
	PostalBoth          PostalForm = "both" // the international form, and the local one where it differs
	PostalInternational PostalForm = "int"
	PostalLocal         PostalForm = "loc"
)

// Disclosure is what a registry lets its contacts hide (RFC 5733, 2.9). We hide what can be
// hidden.
type Disclosure string

// What can be hidden.
const (
	DiscloseAll Disclosure = "all" // every field
	// DiscloseOrganisation: the registry hides persons by itself and publishes organisations,
	// which can hide phone, fax and email only.
	DiscloseOrganisation Disclosure = "organisation"
	DiscloseNone         Disclosure = "none" // it takes no preference
)

//go:embed contactpolicy.csv
var contactTable string

// contactPolicy is a row of the table.
type contactPolicy struct {
	roles []Role
	rule  ContactRule
}

const defaultRow = "default"

var contactPolicies = sync.OnceValues(func() (map[string]contactPolicy, error) { return parseContactPolicies(contactTable) })

var errContactColumns = errors.New("epp: contact policies: wrong columns")

func parseContactPolicies(table string) (map[string]contactPolicy, error) {
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("epp: contact policies: %w", err)
	}
	const columns = "tlds,contacts,type,postal,required,name_max,organisation_max,email,disclose,languages,source"
	if len(rows) == 0 || strings.Join(rows[0], ",") != columns {
		return nil, errContactColumns
	}
	parsed := make(map[string]contactPolicy, len(rows))
	for i, row := range rows[1:] {
		policy, err := parseContactPolicy(row)
		if err != nil {
			return nil, fmt.Errorf("epp: contact policies: line %d: %w", i+2, err)
		}
		for tld := range strings.FieldsSeq(row[0]) {
			if _, twice := parsed[tld]; twice {
				return nil, fmt.Errorf("epp: contact policies: line %d: %s appears twice", i+2, tld)
			}
			parsed[tld] = policy
		}
	}
	if len(parsed[defaultRow].roles) == 0 {
		return nil, errors.New("epp: contact policies: there is no default")
	}
	return parsed, nil
}

func parseContactPolicy(row []string) (p contactPolicy, err error) {
	for _, role := range strings.Fields(row[1]) {
		if !slices.Contains(allRoles, Role(role)) || slices.Contains(p.roles, Role(role)) {
			return p, fmt.Errorf("%q is no role, or appears twice", role)
		}
		p.roles = append(p.roles, Role(role))
	}
	if row[10] == "" {
		return p, errors.New("the source is missing")
	}
	if len(p.roles) == 0 {
		if strings.Join(row[2:10], "") != "" {
			return p, errors.New("a registry without contacts has no rules for them")
		}
		p.rule.Source = row[10]
		return p, nil
	}
	if !slices.Contains(p.roles, Registrant) {
		return p, errors.New("the registrant is missing")
	}
	p.rule = ContactRule{
		Type: ContactType(row[2]), Postal: PostalForm(row[3]), Required: strings.Fields(row[4]), EmailOutside: row[7] == "outside",
		Disclose: Disclosure(row[8]), Languages: strings.Fields(row[9]), Source: row[10],
	}
	for _, check := range []struct {
		value   string
		allowed []string
	}{
		{row[2], []string{"", string(TypeEURid), string(TypeNicAT)}},
		{row[3], []string{string(PostalBoth), string(PostalInternational), string(PostalLocal)}},
		{row[7], []string{"", "outside"}},
		{row[8], []string{string(DiscloseAll), string(DiscloseOrganisation), string(DiscloseNone)}},
	} {
		if !slices.Contains(check.allowed, check.value) {
			return p, fmt.Errorf("%q is not one of %q", check.value, check.allowed)
		}
	}
	for _, field := range p.rule.Required {
		if registrantField(&registrar.Registrant{}, field) == nil {
			return p, fmt.Errorf("%q is no field of a registrant", field)
		}
	}
	for column, limit := range map[int]*int{5: &p.rule.NameMax, 6: &p.rule.OrganisationMax} {
		if row[column] == "" {
			continue
		}
		if *limit, err = strconv.Atoi(row[column]); err != nil || *limit < 1 || *limit > 255 {
			return p, fmt.Errorf("%q is not a length of 1 to 255", row[column])
		}
	}
	if typed := p.rule.Type == TypeEURid; typed != (len(p.rule.Languages) > 0) {
		return p, errors.New("contacts of EURid, and no others, have a language")
	}
	return p, nil
}

// contactPolicyOf returns the row of a TLD.
func contactPolicyOf(tld string) contactPolicy {
	all, err := contactPolicies()
	if err != nil {
		panic(err) // the table is compiled in, and a test reads it
	}
	if policy, found := all[tld]; found {
		return policy
	}
	return all[defaultRow]
}

// registrantField returns a field of a registrant by its name on the wire.
func registrantField(registrant *registrar.Registrant, name string) *string {
	switch name {
	case "name":
		return &registrant.Name
	case "organisation":
		return &registrant.Organisation
	case "street":
		return &registrant.Street
	case "postal_code":
		return &registrant.PostalCode
	case "city":
		return &registrant.City
	case "state":
		return &registrant.State
	case "phone":
		return &registrant.Phone
	default:
		return nil
	}
}

// problems returns what the registry would reject about a registrant, as the words of
// provision.RegistrantProblem. domain is the name to be registered.
func (r *ContactRule) problems(registrant registrar.Registrant, domain string) (words []string) {
	for _, field := range r.Required {
		if *registrantField(&registrant, field) == "" {
			words = append(words, provision.RegistrantProblem(field, provision.ProblemMissing))
		}
	}
	for field, limit := range map[string]int{"name": r.NameMax, "organisation": r.OrganisationMax} {
		if limit > 0 && utf8.RuneCountInString(*registrantField(&registrant, field)) > limit {
			words = append(words, provision.RegistrantProblem(field, provision.ProblemOver(limit)))
		}
	}
	if r.Postal == PostalInternational {
		latin := internationalForm(registrant)
		for _, field := range []string{"name", "organisation", "street", "postal_code", "city", "state"} {
			if !isASCII(*registrantField(&latin.Registrant, field)) {
				words = append(words, provision.RegistrantProblem(field, provision.ProblemScript))
			}
		}
	}
	if r.EmailOutside && isBelow(registrant.Email, domain) {
		words = append(words, provision.RegistrantProblem("email", provision.ProblemBelowDomain))
	}
	slices.Sort(words)
	return words
}

// CheckRegistrant returns the first problem of a registrant as an error, whose code is the
// word of provision.RegistrantProblem.
func (p *Policy) CheckRegistrant(registrant registrar.Registrant, domain string) error {
	if !p.NeedsContacts() {
		return nil
	}
	if words := p.Contact.problems(registrant, domain); len(words) > 0 {
		return &registrar.Error{Kind: registrar.KindConflict, Code: registrar.Code(words[0])}
	}
	return nil
}

// isBelow reports whether an email address ends if the domain does.
func isBelow(email, domain string) bool {
	_, host, _ := strings.Cut(strings.ToLower(email), "@")
	domain = strings.ToLower(domain)
	return domain != "" && (host == domain || strings.HasSuffix(host, "."+domain))
}

// germanSpeaking are the countries whose registrants get a registry's mails in German.
var germanSpeaking = []string{"AT", "CH", "DE", "LI", "LU"}

// language is the one in which the registry writes to the registrant.
func (r *ContactRule) language(country string) string {
	if slices.Contains(germanSpeaking, country) && slices.Contains(r.Languages, "de") {
		return "de"
	}
	return "en"
}

// Namespaces of the types.
const (
	nsContactEURid = "http://www.eurid.eu/xml/epp/contact-ext-1.3"
	nsContactNicAT = "http://www.nic.at/xsd/at-ext-contact-1.0"
)

// namespace is that of the extension, empty without a type.
func (t ContactType) namespace() string {
	switch t {
	case TypeEURid:
		return nsContactEURid
	case TypeNicAT:
		return nsContactNicAT
	default:
		return ""
	}
}

// writeType writes the extension of a contact for a role. A server that does not announce it is a
// gateway, which adds what its registry needs.
func (r *ContactRule) writeType(w *Writer, has services, registrant registrar.Registrant, role Role) {
	if r.Type == "" || !has[r.Type.namespace()] {
		return
	}
	person := registrant.Organisation == ""
	switch r.Type {
	case TypeEURid:
		w.Start("contact-ext:create", Attr{"xmlns:contact-ext", nsContactEURid})
		w.Leaf("contact-ext:type", string(role))
		w.Leaf("contact-ext:lang", r.language(registrant.Country))
		w.Leaf("contact-ext:naturalPerson", strconv.FormatBool(person))
		w.End("contact-ext:create")
	case TypeNicAT:
		w.Start("at-ext-contact:create", Attr{"xmlns:at-ext-contact", nsContactNicAT})
		kind := "organisation"
		if person {
			kind = "privateperson"
		}
		w.Leaf("at-ext-contact:type", kind)
		w.End("at-ext-contact:create")
	}
}
