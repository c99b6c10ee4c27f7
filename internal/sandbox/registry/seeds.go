package registry

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

// SeedDomain is a name registered explicitly and not by a rule of the table, such
// as a domain of a product's customer. It is the first ledger entry of its name;
// later changes by commands and the clock persist.
type SeedDomain struct {
	Name string // A-labels, lower case
	// Registrar is the registrar's name; one of the sandbox's own has its usual
	// data.
	Registrar string
	// Statuses are EPP statuses such as clientTransferProhibited; none means ok. A
	// period among them, such as redemptionPeriod, ends by the clock.
	Statuses                  []string
	Created, Changed, Expires time.Time
	// Nameservers are the delegation. Without any the name is registered but not in
	// the DNS, like a name on hold or in redemption.
	Nameservers []string
}

// seedTRID is the clTRID of seeded objects.
const seedTRID = "SIM-before-the-start"

// seeds builds the ledger entries of seed domains.
func (w *world) seeds(held []SeedDomain, now time.Time) ([]*ledger.Domain, error) {
	domains := make([]*ledger.Domain, 0, len(held))
	for _, one := range held {
		domain, err := w.seed(one, now.UTC().Truncate(time.Second))
		if err != nil {
			return nil, err
		}
		domains = append(domains, domain)
	}
	return domains, nil
}

// seed builds the ledger entry of a seed domain.
func (w *world) seed(held SeedDomain, now time.Time) (*ledger.Domain, error) {
	label, zone, found := w.split(held.Name)
	switch {
	case !found || strings.Contains(label, ".") || !ledger.WellFormed(held.Name) || misbehaviourOf(label) != misbehaveNot:
		return nil, fmt.Errorf("the name %q can't be seeded here", held.Name)
	case w.stateOf(label, zone) != stateFree:
		return nil, fmt.Errorf("the name %q is already in the table", held.Name)
	case held.Created.IsZero() || held.Expires.IsZero():
		return nil, fmt.Errorf("the name %q needs dates", held.Name)
	}
	domain := &ledger.Domain{
		Name: held.Name, ROID: handleOf(held.Name), Created: held.Created.UTC(), Updated: held.Changed.UTC(), Expires: held.Expires.UTC(),
		Auth: authOf(label),
	}
	if held.Changed.IsZero() {
		domain.Updated = time.Time{}
	}
	domain.Sponsor, domain.Agent = sponsorOf(held.Registrar)
	domain.Creator = domain.Sponsor
	for _, host := range held.Nameservers {
		domain.Nameservers = append(domain.Nameservers, ledger.Nameserver{Host: host})
	}
	if domain.Sponsor == ledger.TransitSponsor {
		domain.Phase, domain.PhaseUntil = ledger.Transit, now.AddDate(0, 0, 30)
	}
	for _, status := range held.Statuses {
		applyStatus(domain, status, now)
	}
	return domain, nil
}

// applyStatus puts a domain into a status as if it had reached it naturally, with
// matching dates.
func applyStatus(domain *ledger.Domain, status string, now time.Time) {
	recently := func(at time.Time, days int) time.Time {
		if at.After(now) || at.AddDate(0, 0, days).Before(now) {
			return now
		}
		return at
	}
	switch status {
	case "ok", "inactive": // derived from the others
	case "redemptionPeriod":
		domain.Deleted = recently(domain.Expires.AddDate(0, 0, 45), 30)
		domain.Phase, domain.PhaseUntil = ledger.Redemption, domain.Deleted.AddDate(0, 0, 30)
		domain.Updated = domain.Deleted
		domain.Asked.Server = seedTRID
	case "pendingDelete":
		if domain.Phase == ledger.Active {
			domain.Phase, domain.PhaseUntil = ledger.PendingDelete, now.AddDate(0, 0, 5)
			domain.Asked.Server = seedTRID
		}
	case "autoRenewPeriod":
		domain.AutoRenewed = recently(domain.Expires.AddDate(-1, 0, 0), 45)
	case "pendingTransfer":
		requester := ProductAccount
		if domain.Sponsor == ProductAccount {
			requester = otherAccount
		}
		domain.Transfer = &ledger.Transfer{
			Name: domain.Name, Status: ledger.StatusPending, Requester: requester, Requested: now,
			Actor: domain.Sponsor, Decided: now.AddDate(0, 0, 5), Expires: domain.Expires.AddDate(1, 0, 0),
		}
	default:
		domain.Locks = append(domain.Locks, status)
	}
}

// sponsorOf finds the account of a registrar. One without an account is identified
// by its name.
func sponsorOf(registrar string) (account, name string) {
	if registrar == ledger.TransitName {
		return ledger.TransitSponsor, registrar
	}
	if registrar == ProductName {
		return ProductAccount, ""
	}
	if known := slices.IndexFunc(worldRegistrars[:], func(a worldRegistrar) bool { return a.name == registrar }); known >= 0 {
		return worldRegistrars[known].account, ""
	}
	return "elsewhere", registrar
}

// rdapStatus converts an EPP status to RDAP (RFC 8056): words instead of camel
// case.
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
