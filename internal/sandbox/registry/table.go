package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

// What names cost at the registry, in cents of ledger.Currency.
var (
	standardTariff = ledger.Tariff{Class: ledger.StandardClass, Create: 800, Renew: 800, Move: 800, Restore: 4000}
	premiumTariff  = ledger.Tariff{Class: "premium", Create: 250_00, Renew: 250_00, Move: 250_00, Restore: 250_00}
	goldTariff     = ledger.Tariff{Class: "premium-gold", Create: 2500_00, Renew: 500_00, Move: 500_00, Restore: 500_00}
)

// table shows the world's rules to the ledger.
type table struct{ *world }

var _ ledger.Table = table{}

// Place finds the zone of a name.
func (t table) Place(name string) (ledger.Place, bool) {
	label, zone, found := t.split(name)
	if !found {
		return ledger.Place{}, false
	}
	place := ledger.Place{Zone: zone.TLD, Label: label, Policy: ledger.PolicyOf(zone.TLD), Tariff: standardTariff}
	place.Policy.MinYears, place.Policy.MaxYears = zone.MinYears, zone.MaxYears
	_, apex := t.zones["."+name]
	switch what := t.standing(label, zone); {
	case apex:
		place.Standing = ledger.Apex
	case what == taken || what == undelegated:
		place.Standing = ledger.Taken
	case what == reserved || what == openlyReserved:
		place.Standing = ledger.Reserved
	case what == premium && strings.HasPrefix(label, premiumPrefix):
		place.Tariff = premiumTariff
	case what == premium:
		place.Tariff = goldTariff
	}
	if place.Policy.Gateway {
		place.Tariff.Move = 0
	}
	return place, true
}

// Origin is a taken name as the ledger would have it.
func (t table) Origin(name string, now time.Time) *ledger.Domain {
	label, zone, found := t.split(name)
	if !found {
		return &ledger.Domain{Name: name}
	}
	rec := recordOf(name, t.standing(label, zone), now)
	domain := &ledger.Domain{
		Name: name, ROID: rec.handle, Sponsor: rec.agent.account, Creator: rec.agent.account,
		Created: rec.created, Updated: rec.changed, Expires: rec.expires, Auth: authOf(label),
	}
	for _, status := range rec.statuses {
		if strings.HasPrefix(status.epp, "client") {
			domain.Locks = append(domain.Locks, status.epp)
		}
	}
	for _, host := range rec.nameservers {
		domain.Nameservers = append(domain.Nameservers, ledger.Nameserver{Host: host})
	}
	if rec.signed {
		sum := sha256.Sum256([]byte(name))
		domain.Keys = []ledger.DS{{
			KeyTag: uint16(hash(name)), Algorithm: 13, DigestType: 2, Digest: strings.ToUpper(hex.EncodeToString(sum[:])),
		}}
	}
	return domain
}

// authOf is the authInfo of every name that was there before the first command.
func authOf(label string) string { return "auth-" + label }

// find says how a name stands now, and what the registry holds of it if it is
// taken.
func (r *Registry) find(label string, zone Zone) (standing, record) {
	name := label + zone.TLD
	domain, known := r.ledger.Public(name)
	what := r.world.standing(label, zone)
	switch {
	case !known:
		if what == taken || what == undelegated {
			return what, recordOf(name, what, r.Now())
		}
		return what, record{}
	case domain == nil:
		if what == taken || what == undelegated {
			return free, record{} // its holder gave it up
		}
		return what, record{}
	case domain.Delegated():
		return taken, r.recordOf(domain)
	default:
		return undelegated, r.recordOf(domain)
	}
}

// recordOf is what everybody sees of a domain of the ledger.
func (r *Registry) recordOf(domain *ledger.Domain) record {
	rec := record{
		name: domain.Name, unicode: toUnicode(domain.Name), handle: domain.ROID, agent: r.agentOf(domain),
		created: domain.Created, changed: domain.Updated, expires: domain.Expires,
		signed: len(domain.Keys) > 0, keys: domain.Keys,
	}
	if rec.changed.IsZero() {
		rec.changed = domain.Created
	}
	statuses := domain.Statuses()
	if grace := domain.Grace(r.Now()); grace != "" && !slices.Contains(statuses, grace) {
		statuses = append([]string{grace}, statuses...)
	}
	for _, epp := range statuses {
		rec.statuses = append(rec.statuses, status{epp, rdapStatus(epp)})
	}
	for _, server := range domain.Nameservers {
		rec.nameservers = append(rec.nameservers, server.Host)
	}
	return rec
}

// agentOf is the registrar of a domain.
func (r *Registry) agentOf(domain *ledger.Domain) agent {
	name := domain.Agent
	if name == "" {
		if known := slices.IndexFunc(agents[:], func(a agent) bool { return a.account == domain.Sponsor }); known >= 0 {
			return agents[known]
		}
		name = r.ledger.AccountName(domain.Sponsor)
	}
	return agent{
		name: name, id: "9999", url: "https://registrar.sandbox.example", abuse: "abuse@registrar.sandbox.example", account: domain.Sponsor,
	}
}
