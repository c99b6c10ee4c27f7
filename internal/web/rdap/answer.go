package rdap

import (
	"net/netip"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/publicrecord"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// Values of rdapConformance.
const (
	levelZero             = "rdap_level_0"
	redactedExtension     = "redacted" // RFC 9537
	responseProfile       = "icann_rdap_response_profile_1"
	technicalGuide        = "icann_rdap_technical_implementation_guide_1"
	language              = "en"
	classDomain           = "domain"
	classEntity           = "entity"
	classNameserver       = "nameserver"
	ianaRegistrarID       = "IANA Registrar ID"
	eventRegistration     = "registration"
	eventChange           = "last changed"
	eventExpiration       = "expiration"
	eventRegistrarExpires = "registrar expiration"
	eventDatabase         = "last update of RDAP database"
)

// answer has the members that every response but an error begins with.
type answer struct {
	Conformance []string `json:"rdapConformance"`
	Lang        string   `json:"lang"`
	Notices     []notice `json:"notices"`
}

// domainAnswer is the domain object of RFC 9083, 5.3.
type domainAnswer struct {
	answer
	ObjectClass string       `json:"objectClassName"`
	LDHName     string       `json:"ldhName"`
	UnicodeName string       `json:"unicodeName,omitempty"`
	Status      []string     `json:"status"`
	Events      []event      `json:"events"`
	Nameservers []nameserver `json:"nameservers,omitempty"`
	SecureDNS   *secureDNS   `json:"secureDNS,omitempty"`
	Entities    []entity     `json:"entities"`
	Links       []link       `json:"links"`
	Redacted    []redaction  `json:"redacted"`
}

// entityAnswer is a response with an entity.
type entityAnswer struct {
	answer
	entity
	Redacted []redaction `json:"redacted,omitempty"`
}

// entity is the entity object of RFC 9083, 5.1.
type entity struct {
	ObjectClass string     `json:"objectClassName"`
	Handle      string     `json:"handle,omitempty"`
	PublicIDs   []publicID `json:"publicIds,omitempty"`
	Roles       []string   `json:"roles"`
	VCard       jCard      `json:"vcardArray"`
	Entities    []entity   `json:"entities,omitempty"`
	Events      []event    `json:"events,omitempty"`
	Links       []link     `json:"links,omitempty"`
}

type publicID struct {
	Type       string `json:"type"`
	Identifier string `json:"identifier"`
}

type nameserver struct {
	ObjectClass string       `json:"objectClassName"`
	LDHName     string       `json:"ldhName"`
	UnicodeName string       `json:"unicodeName,omitempty"`
	Addresses   *ipAddresses `json:"ipAddresses,omitempty"`
}

type ipAddresses struct {
	V4 []netip.Addr `json:"v4,omitempty"`
	V6 []netip.Addr `json:"v6,omitempty"`
}

type secureDNS struct {
	DelegationSigned bool              `json:"delegationSigned"`
	DS               []domainchange.DS `json:"dsData,omitempty"` // has the member names of RFC 9083
}

type event struct {
	Action string    `json:"eventAction"`
	Date   time.Time `json:"eventDate"`
}

// link is a web link. Value is the URL of the request, as ICANN's guide requires.
type link struct {
	Value string `json:"value"`
	Rel   string `json:"rel"`
	Href  string `json:"href"`
	Type  string `json:"type,omitempty"`
}

type notice struct {
	Title       string   `json:"title"`
	Description []string `json:"description"`
	Links       []link   `json:"links,omitempty"`
}

const typeHTML = "text/html"

// isAccredited reports whether everything is set that ICANN's profile requires about the
// registrar.
func (r *Registrar) isAccredited() bool {
	return r.Name != "" && r.IANAID != "" && r.AbuseEmail != "" && r.AbusePhone != ""
}

// newAnswer returns the beginning of a response. inProfile says whether ICANN's profile applies
// to the object.
func (h *Handler) newAnswer(request string, inProfile, redacted bool, more ...notice) answer {
	conformance := []string{levelZero}
	if inProfile && h.cfg.Registrar.isAccredited() {
		conformance = append(conformance, responseProfile, technicalGuide)
	}
	if redacted {
		conformance = append(conformance, redactedExtension)
	}
	terms := notice{
		Title:       "Terms of Service",
		Description: []string{"Don't use registration data for advertising, and don't collect it in bulk. The link leads to our terms of service."},
		Links:       []link{{Value: request, Rel: "terms-of-service", Href: h.cfg.BaseURL + h.cfg.Terms, Type: typeHTML}},
	}
	return answer{Conformance: conformance, Lang: language, Notices: append([]notice{terms}, more...)}
}

func (h *Handler) domainAnswer(record publicrecord.Record, request string) domainAnswer {
	generic := registrar.IsGenericTLD(record.TLD)
	// The titles, texts and links of these notices are ICANN's.
	notices := []notice{{
		Title: "Status Codes", Description: []string{"For more information on domain status codes, please visit https://icann.org/epp"},
		Links: []link{{Value: request, Rel: "glossary", Href: "https://icann.org/epp", Type: typeHTML}},
	}}
	if generic { // ICANN takes no complaints about others
		notices = append(notices, notice{
			Title: "RDDS Inaccuracy Complaint Form", Description: []string{"URL of the ICANN RDDS Inaccuracy Complaint Form: https://icann.org/wicf"},
			Links: []link{{Value: request, Rel: "help", Href: "https://icann.org/wicf", Type: typeHTML}},
		})
	}
	result := domainAnswer{
		answer:      h.newAnswer(request, generic, true, notices...),
		ObjectClass: classDomain, LDHName: record.Name, UnicodeName: unicodeName(record.Name), Status: record.Statuses,
		Events: datedEvents(
			event{eventRegistration, record.Registered}, event{eventChange, record.Changed}, event{eventExpiration, record.Expires},
			event{eventRegistrarExpires, record.PaidUntil}, event{eventDatabase, record.ReadAt},
		),
		Entities: []entity{h.registrarEntity(request), h.registrantEntity(record, request)},
		Links:    []link{h.self(request, classDomain+"/"+record.Name)},
		Redacted: domainRedactions,
	}
	if record.Delegated {
		result.SecureDNS = &secureDNS{DelegationSigned: len(record.DS) > 0, DS: record.DS}
	}
	for _, server := range record.Nameservers {
		result.Nameservers = append(result.Nameservers, nameserverOf(server))
	}
	return result
}

// unicodeName returns a name in U-labels; empty if it is the same in A-labels.
func unicodeName(name string) string {
	if written := ui.UnicodeName(name); written != name {
		return written
	}
	return ""
}

// datedEvents returns the events whose date is known.
func datedEvents(all ...event) []event {
	dated := make([]event, 0, len(all))
	for _, e := range all {
		if !e.Date.IsZero() {
			dated = append(dated, event{e.Action, e.Date.UTC().Truncate(time.Second)})
		}
	}
	return dated
}

// nameserverOf has neither handle nor status, which are the registry's.
func nameserverOf(server domainchange.Nameserver) nameserver {
	name := strings.ToLower(server.Name)
	result := nameserver{ObjectClass: classNameserver, LDHName: name, UnicodeName: unicodeName(name)}
	if len(server.Addresses) > 0 {
		result.Addresses = &ipAddresses{}
	}
	for _, address := range server.Addresses {
		if address.Is4() {
			result.Addresses.V4 = append(result.Addresses.V4, address)
		} else {
			result.Addresses.V6 = append(result.Addresses.V6, address)
		}
	}
	return result
}

func (h *Handler) self(request, path string) link {
	return link{Value: request, Rel: "self", Href: h.cfg.BaseURL + Path + path, Type: typeRDAP[0]}
}

// registrarEntity is the registrar with its abuse contact.
func (h *Handler) registrarEntity(request string) entity {
	r := &h.cfg.Registrar
	result := entity{
		ObjectClass: classEntity, Handle: r.IANAID, Roles: []string{"registrar"},
		VCard: newJCard(r.Name).address(r.Country, r.Street, r.City, "", r.PostalCode).voice(r.Phone).email(r.Email),
		Links: []link{{Value: request, Rel: "about", Href: h.cfg.BaseURL + Path, Type: typeRDAP[0]}},
	}
	if r.IANAID != "" {
		result.PublicIDs = []publicID{{ianaRegistrarID, r.IANAID}}
		result.Links = append(result.Links, h.self(request, classEntity+"/"+r.IANAID))
	}
	if r.AbuseEmail != "" || r.AbusePhone != "" {
		result.Entities = []entity{{
			ObjectClass: classEntity, Roles: []string{"abuse"}, VCard: newJCard("Abuse Contact").voice(r.AbusePhone).email(r.AbuseEmail),
		}}
	}
	return result
}

// registrantEntity has no handle: in a domain response ICANN's profile expects the registry's
// handle there, which is redacted. The link has ours.
func (h *Handler) registrantEntity(record publicrecord.Record, request string) entity {
	return entity{
		ObjectClass: classEntity, Roles: []string{"registrant"},
		VCard: newJCard("").address(record.Country, "", "", record.State, "").contactURI(h.cfg.BaseURL + h.cfg.Contact),
		Links: []link{h.self(request, classEntity+"/"+record.Handle)},
	}
}

func (h *Handler) registrarAnswer(request string) entityAnswer {
	result := entityAnswer{answer: h.newAnswer(request, true, false), entity: h.registrarEntity(request)}
	result.Events = datedEvents(event{eventDatabase, h.started})
	return result
}

func (h *Handler) registrantAnswer(record publicrecord.Record, request string) entityAnswer {
	result := entityAnswer{
		answer: h.newAnswer(request, registrar.IsGenericTLD(record.TLD), true), entity: h.registrantEntity(record, request), Redacted: registrantRedactions,
	}
	result.Handle, result.Events = record.Handle, datedEvents(event{eventDatabase, record.ReadAt})
	return result
}

func (h *Handler) helpAnswer(request string) answer {
	return h.newAnswer(request, true, false, notice{
		Title: "Queries",
		Description: []string{
			"domain/NAME: a domain that this registrar sponsors, by A-labels or U-labels.",
			"entity/HANDLE: this registrar by its IANA id, or the registrant of one domain. Registrants' personal data is redacted.",
		},
		Links: []link{{Value: request, Rel: "help", Href: h.cfg.BaseURL + h.cfg.Contact, Type: typeHTML}},
	})
}
