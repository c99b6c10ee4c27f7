package registry

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// rdapBases maps the base paths of one RDAP host to their zones.
type rdapBases map[string]zoneSet

// answerRDAP returns the handler of one host: RFC 9082 paths in, RFC 9083 objects
// out.
func (r *Registry) answerRDAP(bases rdapBases) func(*http.Request) httpResponse {
	return func(req *http.Request) httpResponse {
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

func (r *Registry) rdapDomain(question string, zones zoneSet) httpResponse {
	name, ok := normalise(question)
	if !ok {
		return rdapError(http.StatusBadRequest, "Bad query", "This is not a domain name.")
	}
	label, zone, found := r.world.split(name)
	if !found || !zones[zone.TLD] {
		return rdapError(http.StatusNotFound, "Not found", "This name is not in this registry.")
	}
	if strings.Contains(label, ".") {
		return rdapError(http.StatusBadRequest, "Query not supported", "Hosts below a domain are not served here.")
	}
	if misbehaviour := misbehaviourOf(label); misbehaviour != misbehaveNot {
		a := rdapMagicAnswer(misbehaviour, name)
		a.misbehaviour = misbehaviour
		return a
	}
	switch what, rec := r.find(label, zone); what {
	case stateTaken, stateUndelegated:
		return rdapJSON(http.StatusOK, domainObject(rec))
	case stateOpenlyReserved:
		return rdapError(http.StatusNotFound, "Not found",
			"This name is reserved by the registry and can't be registered.")
	case statePremium:
		return rdapError(http.StatusNotFound, "Not found",
			"This is a premium name. It is available for registration at a premium price.")
	default:
		return rdapError(http.StatusNotFound, "Not found", "No object with this name exists.")
	}
}

// rdapMagicAnswer returns the response to a magic name, if it has one.
func rdapMagicAnswer(misbehaviour misbehaviour, name string) httpResponse {
	switch misbehaviour {
	case misbehaveThrottle:
		return throttledHTTP(retryAfterMagicName)
	case misbehaveDecline:
		return rdapError(http.StatusBadRequest, "Query not supported", "This server does not support this kind of query.")
	case misbehaveGarble:
		if hashText(name)%2 == 0 {
			return httpResponse{status: http.StatusOK, kind: htmlType, body: []byte(maintenancePage)}
		}
		return httpResponse{status: http.StatusOK, kind: rdapType, body: []byte(`{"objectClassName":"domain","ldhName":"` + name + `","status":[`)}
	default:
		return httpResponse{}
	}
}

// RDAP objects with the members that registries use (RFC 9083, 4 and 5).
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

// domainObject renders a record with all contacts unredacted.
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
			Class: "entity", Handle: rec.registrar.id, Roles: []string{"registrar"},
			PublicIDs: []rdapPublicID{{"IANA Registrar ID", rec.registrar.id}},
			VCard:     vcard([]any{"fn", emptyObject{}, "text", rec.registrar.name}),
			Entities: []rdapEntity{{
				Class: "entity", Roles: []string{"abuse"},
				VCard: vcard([]any{"fn", emptyObject{}, "text", "Abuse desk"}, []any{"email", emptyObject{}, "text", rec.registrar.abuse}),
			}},
		}},
		SecureDNS: rdapSecureDNS{Signed: rec.signed},
		Links:     []rdapLink{{Rel: "related", Href: rec.registrar.url + "/rdap/domain/" + rec.name, Type: rdapType}},
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
				[]any{"fn", emptyObject{}, "text", person.person},
				[]any{"org", emptyObject{}, "text", person.company},
				[]any{"adr", emptyObject{}, "text", []string{"", "", person.street, person.city, "", person.postal, "Deutschland"}},
				[]any{"tel", map[string]string{"type": "voice"}, "text", person.phone},
				[]any{"email", emptyObject{}, "text", person.email},
			),
		})
	}
	return object
}

// emptyObject is an empty JSON object: a jCard property without parameters.
type emptyObject struct{}

// vcard wraps properties into a jCard (RFC 7095).
func vcard(properties ...any) []any {
	version := []any{"version", emptyObject{}, "text", "4.0"}
	return []any{"vcard", append([]any{version}, properties...)}
}

func rdapHelp() httpResponse {
	return rdapJSON(http.StatusOK, rdapHelpObject{conformance(), terms()})
}

func rdapError(code int, title, description string) httpResponse {
	return rdapJSON(code, rdapErrorObject{conformance(), code, title, []string{description}})
}

func rdapJSON(code int, object any) httpResponse {
	body, err := json.Marshal(object)
	if err != nil { // unreachable with the types above; treated as a server error
		return httpResponse{status: http.StatusInternalServerError, kind: htmlType, body: []byte(gatewayPage)}
	}
	return httpResponse{status: code, kind: rdapType, body: body}
}
