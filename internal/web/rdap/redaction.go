package rdap

// redaction says that a field is redacted, and how (RFC 9537). Paths are RFC 9535's.
type redaction struct {
	Name            redactedName   `json:"name"`
	PrePath         string         `json:"prePath,omitempty"`         // where the field was
	PostPath        string         `json:"postPath,omitempty"`        // where its empty value is
	ReplacementPath string         `json:"replacementPath,omitempty"` // where its replacement is
	PathLang        string         `json:"pathLang"`
	Method          string         `json:"method"`
	Reason          redactedReason `json:"reason"`
}

// redactedName is a name of ICANN's profile.
type redactedName struct {
	Type string `json:"type"`
}

type redactedReason struct {
	Description string `json:"description"`
}

func redact(name, method string) redaction {
	return redaction{Name: redactedName{name}, PathLang: "jsonpath", Method: method, Reason: redactedReason{"Server policy"}}
}

// removed redacts a field that is not in the response.
func removed(name, path string) redaction {
	r := redact(name, "removal")
	r.PrePath = path
	return r
}

// emptied redacts a field that is in the response without a value.
func emptied(name, path string) redaction {
	r := redact(name, "emptyValue")
	r.PostPath = path
	return r
}

// registrantFields are the redactions of the card of a registrant at a path. Fax numbers and
// extensions of phone numbers are not collected, so there is nothing to redact.
func registrantFields(registrant string) []redaction {
	card := registrant + ".vcardArray[1]"
	email := redact("Registrant Email", "replacementValue")
	email.PrePath, email.ReplacementPath = card+"[?(@[0]=='email')]", card+"[?(@[0]=='contact-uri')]"
	return []redaction{
		emptied("Registrant Name", card+"[?(@[0]=='fn')][3]"),
		removed("Registrant Organization", card+"[?(@[0]=='org')]"),
		emptied("Registrant Street", card+"[?(@[0]=='adr')][3][:3]"),
		emptied("Registrant City", card+"[?(@[0]=='adr')][3][3]"),
		emptied("Registrant Postal Code", card+"[?(@[0]=='adr')][3][5]"),
		removed("Registrant Phone", card+"[?(@[1].type=='voice')]"),
		email,
	}
}

// domainRedactions and registrantRedactions are the redactions of all responses with a domain,
// and of those with a registrant alone.
var (
	domainRedactions = append([]redaction{
		removed("Registry Domain ID", "$.handle"),
		removed("Registry Registrant ID", "$.entities[?(@.roles[0]=='registrant')].handle"),
	}, registrantFields("$.entities[?(@.roles[0]=='registrant')]")...)
	registrantRedactions = registrantFields("$")
)
