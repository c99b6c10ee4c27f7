package registry

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/idna"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

// nameState is the registry state of a name.
type nameState uint8

const (
	stateFree           nameState = iota
	stateTaken                    // registered and delegated
	stateUndelegated              // registered, without nameservers
	stateReserved                 // reserved, not shown by RDAP
	stateOpenlyReserved           // reserved, shown by RDAP
	statePremium                  // free, at a premium price
)

// misbehaviour is how servers misbehave for a magic name.
type misbehaviour uint8

const (
	misbehaveNot misbehaviour = iota
	misbehaveHang
	misbehaveReset
	misbehaveGarble
	misbehaveThrottle
	misbehaveDecline
)

// magicPrefixes maps label prefixes to misbehaviours.
var magicPrefixes = [...]struct {
	prefix string
	manner misbehaviour
}{
	{"timeout-", misbehaveHang},
	{"refused-", misbehaveReset},
	{"garbled-", misbehaveGarble},
	{"throttled-", misbehaveThrottle},
	{"unknown-", misbehaveDecline},
}

// zoneSet is the set of zones that one server answers for.
type zoneSet map[string]bool

// world is the table of names as rules: labels by zones.
type world struct {
	zones     map[string]Zone
	parent    map[string]bool                    // names above a zone that are not zones themselves: "uk" if only .co.uk is served
	everyZone map[string]nameState               // labels with a fixed state under every zone
	known     map[string]bool                    // labels that are taken under popular zones
	icann     map[string]bool                    // labels that are reserved in generic zones
	premium   atomic.Pointer[ledger.FeeSchedule] // of labels that begin with premiumPrefix
}

func newWorld(zones []Zone) (*world, error) {
	w := &world{
		zones:     make(map[string]Zone, len(zones)),
		parent:    map[string]bool{},
		everyZone: map[string]nameState{},
		known:     map[string]bool{},
		icann:     map[string]bool{},
	}
	w.premium.Store(&premiumTariff)
	for _, zone := range zones {
		name, dotted := strings.CutPrefix(zone.TLD, ".")
		if !dotted || !ledger.WellFormed(name) {
			return nil, fmt.Errorf("zone %q is not in lower case A-labels with a leading dot", zone.TLD)
		}
		if _, twice := w.zones[zone.TLD]; twice {
			return nil, fmt.Errorf("zone %s is listed twice", zone.TLD)
		}
		w.zones[zone.TLD] = zone
		for _, rest, found := strings.Cut(name, "."); found; _, rest, found = strings.Cut(rest, ".") {
			w.parent[rest] = true
		}
	}
	for words, what := range map[string]nameState{
		alwaysTakenLabels: stateTaken, undelegatedLabels: stateUndelegated, openlyReservedLabels: stateOpenlyReserved, premiumLabels: statePremium,
	} {
		for label := range strings.FieldsSeq(words) {
			w.everyZone[label] = what
		}
	}
	for label := range strings.FieldsSeq(knownLabels) {
		w.known[label] = true
	}
	for label := range strings.FieldsSeq(icannReservedLabels) {
		w.icann[label] = true
	}
	return w, nil
}

// normalise converts a queried name to the form of the table: lower case A-labels
// without a final dot. ok is false if it can't be a name.
func normalise(text string) (name string, ok bool) {
	name = strings.ToLower(strings.TrimSuffix(text, "."))
	for i := range len(name) {
		if name[i] < 0x80 {
			continue
		}
		var err error
		if name, err = idna.Lookup.ToASCII(name); err != nil {
			return "", false
		}
		break
	}
	return name, ledger.WellFormed(name)
}

// split finds the longest zone of a name. label is the part before the zone, with
// dots if the name is deeper.
func (w *world) split(name string) (label string, zone Zone, found bool) {
	for at := strings.IndexByte(name, '.'); at >= 0; {
		if zone, found = w.zones[name[at:]]; found {
			return name[:at], zone, true
		}
		next := strings.IndexByte(name[at+1:], '.')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return "", Zone{}, false
}

// stateOf returns the state of a label under a zone.
func (w *world) stateOf(label string, zone Zone) nameState {
	// .co.uk is a name of .uk that can't be registered.
	if _, apex := w.zones["."+label+zone.TLD]; apex {
		return stateTaken
	}
	if what, listed := w.everyZone[label]; listed {
		return what
	}
	switch {
	case generic(zone.TLD) && (len(label) == 1 || w.icann[label]):
		return stateReserved
	case zone.Popular && w.known[label]:
		return stateTaken
	case strings.HasPrefix(label, premiumPrefix):
		return statePremium
	case strings.HasPrefix(label, transferPrefix):
		return stateTaken
	}
	return stateFree
}

// misbehaviourOf returns the misbehaviour of a magic label.
func misbehaviourOf(label string) misbehaviour {
	for _, spell := range magicPrefixes {
		if strings.HasPrefix(label, spell.prefix) {
			return spell.manner
		}
	}
	return misbehaveNot
}

// generic reports whether ICANN's gTLD rules apply: one label longer than a country
// code.
func generic(tld string) bool {
	return len(tld) > len(".xx") && strings.LastIndexByte(tld, '.') == 0
}

// status is one EPP status as shown by WHOIS and by RDAP (RFC 8056).
type status struct{ epp, rdap string }

// worldRegistrar is a registrar of the sandbox.
type worldRegistrar struct {
	name, id, url, abuse string
	account              string // EPP account; most never log in
}

var worldRegistrars = [...]worldRegistrar{
	{"Nordlicht Namen GmbH", "9990", "https://nordlicht-namen.example", "abuse@nordlicht-namen.example", otherAccount},
	{"Harbour & Quay Registrations Ltd", "9991", "https://harbour-quay.example", "abuse@harbour-quay.example", "hafen"},
	{"Blue Lantern Domains, Inc.", "9992", "https://bluelantern.example", "abuse@bluelantern.example", noFundsAccount},
	{"Domaines du Vieux Port SARL", "9993", "https://vieux-port.example", "abuse@vieux-port.example", "vieux-port"},
	{"Alpenhof Internet AG", "9994", "https://alpenhof.example", "abuse@alpenhof.example", "alpenhof"},
}

// record is the registry's record of a taken name without contacts.
type record struct {
	name        string
	unicode     string
	handle      string
	registrar   worldRegistrar
	created     time.Time
	changed     time.Time
	expires     time.Time
	statuses    []status
	nameservers []string
	signed      bool
	keys        []ledger.DS // of changed names
}

// handleOf is the ROID of a name of the table.
func handleOf(name string) string { return fmt.Sprintf("D%010d-SIM", hashText(name)%10_000_000_000) }

// recordOf generates the record of a taken name. Everything except the dates of the
// last and next renewal follows from the name.
func recordOf(name string, what nameState, now time.Time) record {
	h := hashText(name)
	rec := record{
		name:      name,
		unicode:   toUnicode(name),
		handle:    handleOf(name),
		registrar: worldRegistrars[h>>8%uint64(len(worldRegistrars))],
		signed:    h>>16%3 == 0,
	}
	rec.created = time.Date(1996+int(h>>24%24), time.Month(1+h>>32%12), 1+int(h>>40%28),
		int(h>>44%24), int(h>>48%60), int(h>>52%60), 0, time.UTC)
	for !rec.created.Before(now) { // the clock may be set far back
		rec.created = rec.created.AddDate(-10, 0, 0)
	}
	// Names are renewed yearly on their creation date.
	years := now.Year() - rec.created.Year()
	if rec.created.AddDate(years, 0, 0).After(now) {
		years--
	}
	rec.changed = rec.created.AddDate(years, 0, 0)
	rec.expires = rec.created.AddDate(years+1, 0, 0)

	if strings.HasPrefix(name, transferPrefix) {
		rec.registrar, rec.signed, rec.statuses = worldRegistrars[0], false, []status{{"ok", "active"}}
		rec.nameservers = rec.registrar.servers()
		return rec
	}
	rec.statuses = []status{{"clientTransferProhibited", "client transfer prohibited"}}
	if h>>56%2 == 0 {
		rec.statuses = append(rec.statuses, status{"clientDeleteProhibited", "client delete prohibited"})
	}
	if what == stateUndelegated {
		rec.statuses = append(rec.statuses, status{"inactive", "inactive"})
		rec.signed = false
		return rec
	}
	rec.nameservers = rec.registrar.servers()
	return rec
}

// servers returns the nameservers of a registrar's customers.
func (a worldRegistrar) servers() []string {
	host := strings.TrimPrefix(a.url, "https://")
	return []string{"ns1." + host, "ns2." + host}
}

func toUnicode(name string) string {
	if text, err := idna.Display.ToUnicode(name); err == nil {
		return text
	}
	return name
}
