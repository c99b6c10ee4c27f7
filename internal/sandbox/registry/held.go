package registry

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Held is a name that stands in the registry by name and not by rule, such as
// one that a customer of the product holds.
type Held struct {
	Name string // A-labels, lower case
	// Registrar is its registrar's name; one of the world's own has its usual data.
	Registrar string
	// Statuses are EPP's, such as clientTransferProhibited; none means ok.
	Statuses                  []string
	Created, Changed, Expires time.Time
	// Nameservers are what it is delegated to. Without any it is registered, but
	// not in the DNS, as a name on hold or in redemption is.
	Nameservers []string
}

// hold puts a name into the table.
func (w *world) hold(held Held) error {
	label, zone, found := w.split(held.Name)
	switch {
	case !found || strings.Contains(label, ".") || !wellFormed(held.Name) || mannerOf(label) != behaved:
		return fmt.Errorf("the name %q can't be held here", held.Name)
	case w.standing(label, zone) != free:
		return fmt.Errorf("the name %q stands in the table already", held.Name)
	case held.Created.IsZero() || held.Expires.IsZero():
		return fmt.Errorf("the name %q needs dates", held.Name)
	}
	w.held[held.Name] = held
	return nil
}

// record is what the registry holds of a taken name.
func (w *world) record(name string, what standing, now time.Time) record {
	rec := recordOf(name, what, now)
	held, listed := w.held[name]
	if !listed {
		return rec
	}
	rec.agent = agent{held.Registrar, "9999", "https://registrar.sandbox.example", "abuse@registrar.sandbox.example"}
	if known := slices.IndexFunc(agents[:], func(a agent) bool { return a.name == held.Registrar }); known >= 0 {
		rec.agent = agents[known]
	}
	rec.created, rec.changed, rec.expires = held.Created.UTC(), held.Changed.UTC(), held.Expires.UTC()
	if held.Changed.IsZero() {
		rec.changed = rec.created
	}
	rec.statuses = nil
	for _, epp := range held.Statuses {
		rec.statuses = append(rec.statuses, status{epp, rdapStatus(epp)})
	}
	if len(rec.statuses) == 0 {
		rec.statuses = []status{{"ok", "active"}}
	}
	rec.nameservers, rec.signed = held.Nameservers, false
	return rec
}

// rdapStatus spells an EPP status as RDAP does (RFC 8056): words instead of
// capitals.
func rdapStatus(epp string) string {
	if epp == "ok" {
		return "active"
	}
	var words strings.Builder
	for _, r := range epp {
		if unicode.IsUpper(r) {
			words.WriteByte(' ')
		}
		words.WriteRune(unicode.ToLower(r))
	}
	return words.String()
}
