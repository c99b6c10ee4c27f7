package rdap

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

// Data about the name in a domain object (RFC 9083, 5.3). Of the entities only the
// name of a top-level one is read whose role is registrar without any contact role.
// Nested entities are ignored.

// maxElements limits the work on a hostile list.
const maxElements = 200

// record ignores members of an unexpected type.
func (o *object) record() *lookup.Record {
	r := &lookup.Record{Registrar: o.registrar()}
	for _, element := range list(o.Status) {
		if word, ok := statusWord(element); ok {
			r.AddStatus(word)
		}
	}
	for _, element := range list(o.Nameservers) {
		if host, ok := serverName(element); ok {
			r.AddNameserver(host)
		}
	}
	for _, element := range list(o.Events) {
		addEvent(r, element)
	}
	return r
}

// list returns raw as a list; a single element is a list of one.
func list(raw json.RawMessage) []json.RawMessage {
	if len(raw) == 0 || raw[0] == 'n' {
		return nil
	}
	if raw[0] != '[' {
		return []json.RawMessage{raw}
	}
	var elements []json.RawMessage
	if json.Unmarshal(raw, &elements) != nil {
		return nil
	}
	return elements[:min(len(elements), maxElements)]
}

// statusWord returns the EPP status (RFC 8056) or a known registry-specific one.
func statusWord(raw json.RawMessage) (string, bool) {
	value, _ := text(raw)
	word, ok := lookup.ParseStatus(strings.Join(strings.Fields(value), " "))
	if word == "active" {
		word = "ok" // RDAP's name for it
	}
	return word, ok
}

// serverName reads a nameserver object, or a bare name, which some servers send.
func serverName(raw json.RawMessage) (string, bool) {
	name, ok := text(raw)
	if !ok {
		var server struct {
			LDHName     json.RawMessage `json:"ldhName"`
			UnicodeName json.RawMessage `json:"unicodeName"`
		}
		if json.Unmarshal(raw, &server) != nil {
			return "", false
		}
		if name, ok = text(server.LDHName); !ok {
			name, _ = text(server.UnicodeName)
		}
	}
	host, err := registrar.ParseHost(name)
	return host, err == nil && strings.Contains(host, ".")
}

// addEvent records the first event of each kind (RFC 9083, 4.5).
func addEvent(r *lookup.Record, raw json.RawMessage) {
	var event struct {
		Action json.RawMessage `json:"eventAction"`
		Date   json.RawMessage `json:"eventDate"`
	}
	if json.Unmarshal(raw, &event) != nil {
		return
	}
	action, _ := text(event.Action)
	var slot *time.Time
	switch strings.ToLower(strings.Join(strings.Fields(action), " ")) {
	case "registration":
		slot = &r.Created
	case "last changed":
		slot = &r.Updated
	case "expiration":
		slot = &r.Expires
	default:
		return
	}
	date, _ := text(event.Date)
	if t, ok := eventTime(date); ok && slot.IsZero() {
		*slot = t
	}
}

// eventTime parses RFC 3339 and common deviations. Without a zone it is UTC.
func eventTime(value string) (time.Time, bool) {
	value = strings.ToUpper(value)
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07", "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02"} {
		if t, err := time.Parse(layout, value); err == nil && t.Year() >= 1980 && t.Year() <= 2150 {
			if _, offset := t.Zone(); offset == 0 {
				t = t.UTC()
			}
			return t, true
		}
	}
	return time.Time{}, false
}

// entity is read only for the registrar's name.
type entity struct {
	Roles     json.RawMessage `json:"roles"`
	VCard     json.RawMessage `json:"vcardArray"`
	Handle    json.RawMessage `json:"handle"`
	PublicIDs json.RawMessage `json:"publicIds"`
}

// registrar returns the registrar's name, else its IANA number or handle.
func (o *object) registrar() string {
	for _, element := range list(o.Entities) {
		var e entity
		if json.Unmarshal(element, &e) != nil || !e.isRegistrar() {
			continue
		}
		handle, _ := text(e.Handle)
		for _, candidate := range []string{e.fullName(), e.number(), handle} {
			if name, ok := registrarName(candidate); ok {
				return name
			}
		}
	}
	return ""
}

// isRegistrar requires the registrar role and no contact role: a registrant that
// also lists itself as registrar is not read.
func (e *entity) isRegistrar() bool {
	found := false
	for _, element := range list(e.Roles) {
		role, _ := text(element)
		switch strings.ToLower(role) {
		case "registrar":
			found = true
		case "registrant", "administrative", "technical", "billing":
			return false
		}
	}
	return found
}

// fullName returns the fn property of a jCard (RFC 7095, 3): ["fn", {}, "text",
// "…"]. Cards of individuals are not read.
func (e *entity) fullName() string {
	var card []json.RawMessage
	if json.Unmarshal(e.VCard, &card) != nil || len(card) < 2 {
		return ""
	}
	name := ""
	for _, element := range list(card[1]) {
		var property []json.RawMessage
		if json.Unmarshal(element, &property) != nil || len(property) < 4 {
			continue
		}
		key, _ := text(property[0])
		value, _ := text(property[3])
		switch strings.ToLower(key) {
		case "fn":
			if name == "" {
				name = value
			}
		case "kind":
			if strings.EqualFold(value, "individual") {
				return ""
			}
		}
	}
	return name
}

// number is the registrar's IANA number.
func (e *entity) number() string {
	for _, element := range list(e.PublicIDs) {
		var id struct {
			Identifier json.RawMessage `json:"identifier"`
		}
		if json.Unmarshal(element, &id) != nil {
			continue
		}
		if value, ok := text(id.Identifier); ok {
			return value
		}
	}
	return ""
}

// registrarName cleans a name and rejects contact data.
func registrarName(value string) (string, bool) {
	clean := lookup.CleanRegistrar(value)
	switch lower := strings.ToLower(clean); {
	case strings.Trim(clean, " .-") == "", strings.Contains(clean, "@"),
		strings.HasPrefix(lower, "http://"), strings.HasPrefix(lower, "https://"), strings.HasPrefix(lower, "www."),
		strings.HasPrefix(lower, "redacted"), strings.HasPrefix(clean, "+"):
		return "", false
	}
	return clean, true
}
