package registry

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// rdapBases are the base paths of one RDAP host with the zones below each.
type rdapBases map[string]zoneSet

// answerRDAP makes the function that answers questions to one host: RFC 9082
// paths in, RFC 9083 objects out.
func (r *Registry) answerRDAP(bases rdapBases) func(*http.Request) answer {
	return func(req *http.Request) answer {
		if refusal, ok := methodAllowed(req); !ok {
			return refusal
		}
		path := req.URL.Path
		if base, isHelp := strings.CutSuffix(path, "help"); isHelp && (base == "/" || bases[base] != nil) {
			return rdapHelp()
		}
		at := strings.LastIndex(path, "/domain/")
		if at < 0 {
			return webNotFound()
		}
		zones, served := bases[path[:at+1]]
		if !served {
			return webNotFound()
		}
		return r.rdapDomain(path[at+len("/domain/"):], zones)
	}
}

func (r *Registry) rdapDomain(question string, zones zoneSet) answer {
	name, ok := normalise(question)
	if !ok {
		return rdapError(http.StatusBadRequest, "Bad question", "This is not a domain name.")
	}
	label, zone, found := r.world.split(name)
	if !found || !zones[zone.TLD] {
		return rdapError(http.StatusNotFound, "Not found", "This name is not in this registry.")
	}
	if strings.Contains(label, ".") {
		return rdapError(http.StatusBadRequest, "Query not supported", "Hosts below a domain are not kept here.")
	}
	if manner := mannerOf(label); manner != behaved {
		a := rdapMisbehaviour(manner, name)
		a.manner = manner
		return a
	}
	switch what, rec := r.find(label, zone); what {
	case taken, undelegated:
		return rdapJSON(http.StatusOK, domainObject(rec))
	case openlyReserved:
		return rdapError(http.StatusNotFound, "Not found",
			"This name is reserved by the registry and can't be registered.")
	case premium:
		return rdapError(http.StatusNotFound, "Not found",
			"This is a premium name. It is available for registration at a premium price.")
	default:
		return rdapError(http.StatusNotFound, "Not found", "No object with this name exists.")
	}
}

// rdapMisbehaviour is the answer to a magic name, as far as it has one.
func rdapMisbehaviour(manner manner, name string) answer {
	switch manner {
	case throttles:
		return throttledHTTP(retryAfterName)
	case declines:
		return rdapError(http.StatusBadRequest, "Query not supported", "This server does not answer this kind of question.")
	case garbles:
		if hash(name)%2 == 0 {
			return answer{status: http.StatusOK, kind: htmlType, body: []byte(maintenancePage)}
		}
		return answer{status: http.StatusOK, kind: rdapType, body: []byte(`{"objectClassName":"domain","ldhName":"` + name + `","status":[`)}
	default:
		return answer{}
	}
}

// The RDAP objects, with the fields that registries fill (RFC 9083, 4 and 5).
type (
	rdapLink struct {
		Value string `json:"value,omitempty"`
		Rel   string `json:"rel"`
		Href  string `json:"href"`
		Type  string `json:"type,omitempty"`
	}
	rdapNotice struct {
		Title       string     `json:"title"`
		Description []string   `json:"description"`
		Links       []rdapLink `json:"links,omitempty"`
	}
	rdapEvent struct {
		Action string `json:"eventAction"`
		Date   string `json:"eventDate"`
	}
	rdapNameserver struct {
		Class string `json:"objectClassName"`
		Name  string `json:"ldhName"`
	}
	rdapPublicID struct {
		Type string `json:"type"`
		ID   string `json:"identifier"`
	}
	rdapEntity struct {
		Class     string         `json:"objectClassName"`
		Handle    string         `json:"handle,omitempty"`
		Roles     []string       `json:"roles"`
		PublicIDs []rdapPublicID `json:"publicIds,omitempty"`
		VCard     []any          `json:"vcardArray"`
		Entities  []rdapEntity   `json:"entities,omitempty"`
	}
	rdapSecureDNS struct {
		Signed bool     `json:"delegationSigned"`
		DS     []rdapDS `json:"dsData,omitempty"`
	}
	rdapDS struct {
		KeyTag     uint16 `json:"keyTag"`
		Algorithm  uint8  `json:"algorithm"`
		Digest     string `json:"digest"`
		DigestType uint8  `json:"digestType"`
	}
	rdapDomain struct {
		Conformance []string         `json:"rdapConformance"`
		Class       string           `json:"objectClassName"`
		Handle      string           `json:"handle"`
		LDHName     string           `json:"ldhName"`
		UnicodeName string           `json:"unicodeName,omitempty"`
		Status      []string         `json:"status"`
		Events      []rdapEvent      `json:"events"`
		Nameservers []rdapNameserver `json:"nameservers,omitempty"`
		Entities    []rdapEntity     `json:"entities"`
		SecureDNS   rdapSecureDNS    `json:"secureDNS"`
		Links       []rdapLink       `json:"links"`
		Notices     []rdapNotice     `json:"notices"`
	}
	rdapHelpObject struct {
		Conformance []string     `json:"rdapConformance"`
		Notices     []rdapNotice `json:"notices"`
	}
	rdapErrorObject struct {
		Conformance []string `json:"rdapConformance"`
		Code        int      `json:"errorCode"`
		Title       string   `json:"title"`
		Description []string `json:"description"`
	}
)

func conformance() []string {
	return []string{"rdap_level_0", "icann_rdap_response_profile_1", "icann_rdap_technical_implementation_guide_1"}
}

func terms() []rdapNotice {
	return []rdapNotice{{
		Title:       "Terms of service",
		Description: []string{"This registry is simulated. Nothing that it says concerns a real domain or person."},
		Links:       []rdapLink{{Rel: "terms-of-service", Href: "https://registry.example/terms", Type: "text/html"}},
	}}
}

// domainObject writes a record the way registries do that have not heard of
// data protection.
func domainObject(rec record) rdapDomain {
	object := rdapDomain{
		Conformance: conformance(),
		Class:       "domain",
		Handle:      rec.handle,
		LDHName:     rec.name,
		Events: []rdapEvent{
			{"registration", rec.created.Format(time.RFC3339)},
			{"expiration", rec.expires.Format(time.RFC3339)},
			{"last changed", rec.changed.Format(time.RFC3339)},
		},
		Entities: []rdapEntity{{
			Class: "entity", Handle: rec.agent.id, Roles: []string{"registrar"},
			PublicIDs: []rdapPublicID{{"IANA Registrar ID", rec.agent.id}},
			VCard:     vcard([]any{"fn", nothing{}, "text", rec.agent.name}),
			Entities: []rdapEntity{{
				Class: "entity", Roles: []string{"abuse"},
				VCard: vcard([]any{"fn", nothing{}, "text", "Abuse desk"}, []any{"email", nothing{}, "text", rec.agent.abuse}),
			}},
		}},
		SecureDNS: rdapSecureDNS{Signed: rec.signed},
		Links:     []rdapLink{{Rel: "related", Href: rec.agent.url + "/rdap/domain/" + rec.name, Type: rdapType}},
		Notices:   terms(),
	}
	for _, key := range rec.keys {
		object.SecureDNS.DS = append(object.SecureDNS.DS, rdapDS{key.KeyTag, key.Algorithm, key.Digest, key.DigestType})
	}
	if rec.unicode != rec.name {
		object.UnicodeName = rec.unicode
	}
	for _, status := range rec.statuses {
		object.Status = append(object.Status, status.rdap)
	}
	for _, host := range rec.nameservers {
		object.Nameservers = append(object.Nameservers, rdapNameserver{"nameserver", host})
	}
	for _, person := range contacts {
		object.Entities = append(object.Entities, rdapEntity{
			Class: "entity", Handle: person.handle, Roles: []string{person.role},
			VCard: vcard(
				[]any{"fn", nothing{}, "text", person.person},
				[]any{"org", nothing{}, "text", person.company},
				[]any{"adr", nothing{}, "text", []string{"", "", person.street, person.city, "", person.postal, "Deutschland"}},
				[]any{"tel", map[string]string{"type": "voice"}, "text", person.phone},
				[]any{"email", nothing{}, "text", person.email},
			),
		})
	}
	return object
}

// nothing is an empty JSON object: a jCard property without parameters.
type nothing struct{}

// vcard wraps properties into a jCard (RFC 7095).
func vcard(properties ...any) []any {
	version := []any{"version", nothing{}, "text", "4.0"}
	return []any{"vcard", append([]any{version}, properties...)}
}

func rdapHelp() answer {
	return rdapJSON(http.StatusOK, rdapHelpObject{conformance(), terms()})
}

func rdapError(code int, title, description string) answer {
	return rdapJSON(code, rdapErrorObject{conformance(), code, title, []string{description}})
}

func rdapJSON(code int, object any) answer {
	body, err := json.Marshal(object)
	if err != nil { // none of our types can fail; if one ever does, it is a server's error
		return answer{status: http.StatusInternalServerError, kind: htmlType, body: []byte(gatewayPage)}
	}
	return answer{status: code, kind: rdapType, body: body}
}
