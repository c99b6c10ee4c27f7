package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

// Registry prices in cents of ledger.Currency.
var (
	standardTariff = ledger.FeeSchedule{Class: ledger.StandardClass, Create: 800, Renew: 800, Transfer: 800, Restore: 4000}
	premiumTariff  = ledger.FeeSchedule{Class: "premium", Create: 250_00, Renew: 250_00, Transfer: 250_00, Restore: 250_00}
	goldTariff     = ledger.FeeSchedule{Class: "premium-gold", Create: 2500_00, Renew: 500_00, Transfer: 500_00, Restore: 500_00}
)

// table exposes the rules of the table to the ledger.
type table struct{ *world }

var _ ledger.Table = table{}

// Lookup returns the zone data of a name.
func (t table) Lookup(name string) (ledger.NameEntry, bool) {
	label, zone, found := t.split(name)
	if !found {
		return ledger.NameEntry{}, false
	}
	place := ledger.NameEntry{Zone: zone.TLD, Label: label, Policy: ledger.PolicyOf(zone.TLD), Fees: standardTariff}
	if fees := zone.Fees; fees != (Fees{}) {
		place.Fees.Create, place.Fees.Renew, place.Fees.Transfer, place.Fees.Restore = fees.Create, fees.Renew, fees.Transfer, fees.Restore
	}
	place.Policy.MinYears, place.Policy.MaxYears = zone.MinYears, zone.MaxYears
	_, apex := t.zones["."+name]
	switch what := t.stateOf(label, zone); {
	case apex:
		place.State = ledger.Apex
	case what == stateTaken || what == stateUndelegated:
		place.State = ledger.Taken
	case what == stateReserved || what == stateOpenlyReserved:
		place.State = ledger.Reserved
	case what == statePremium && strings.HasPrefix(label, premiumPrefix):
		place.Fees = *t.premium.Load()
	case what == statePremium:
		place.Fees = goldTariff
	}
	if place.Policy.Gateway {
		place.Fees.Transfer = 0
	}
	return place, true
}

// SetPremiumFees changes what the names that begin with premium- cost from now on, in cents.
func (r *Registry) SetPremiumFees(create, renew int64) {
	fees := premiumTariff
	fees.Create, fees.Renew = create, renew
	r.world.premium.Store(&fees)
}

// InitialDomain returns a taken name of the table as a ledger entry.
func (t table) InitialDomain(name string, now time.Time) *ledger.Domain {
	label, zone, found := t.split(name)
	if !found {
		return &ledger.Domain{Name: name}
	}
	rec := recordOf(name, t.stateOf(label, zone), now)
	domain := &ledger.Domain{
		Name: name, ROID: rec.handle, Sponsor: rec.registrar.account, Creator: rec.registrar.account,
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
			KeyTag: uint16(hashText(name)), Algorithm: 13, DigestType: 2, Digest: strings.ToUpper(hex.EncodeToString(sum[:])),
		}}
	}
	return domain
}

// authOf is the authInfo of every name of the table.
func authOf(label string) string { return "auth-" + label }

// find returns the current state of a name, and its record if it is taken.
func (r *Registry) find(label string, zone Zone) (nameState, record) {
	name := label + zone.TLD
	domain, known := r.ledger.Public(name)
	what := r.world.stateOf(label, zone)
	switch {
	case !known:
		if what == stateTaken || what == stateUndelegated {
			return what, recordOf(name, what, r.Now())
		}
		return what, record{}
	case domain == nil:
		if what == stateTaken || what == stateUndelegated {
			return stateFree, record{} // it was deleted
		}
		return what, record{}
	case domain.Delegated():
		return stateTaken, r.recordOf(domain)
	default:
		return stateUndelegated, r.recordOf(domain)
	}
}

// recordOf returns the public record of a ledger domain.
func (r *Registry) recordOf(domain *ledger.Domain) record {
	rec := record{
		name: domain.Name, unicode: toUnicode(domain.Name), handle: domain.ROID, registrar: r.registrarOf(domain),
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

// registrarOf returns the registrar of a domain.
func (r *Registry) registrarOf(domain *ledger.Domain) worldRegistrar {
	name := domain.Agent
	if name == "" {
		if known := slices.IndexFunc(worldRegistrars[:], func(a worldRegistrar) bool { return a.account == domain.Sponsor }); known >= 0 {
			return worldRegistrars[known]
		}
		name = r.ledger.AccountName(domain.Sponsor)
	}
	return worldRegistrar{
		name: name, id: "9999", url: "https://registrar.sandbox.example", abuse: "abuse@registrar.sandbox.example", account: domain.Sponsor,
	}
}
