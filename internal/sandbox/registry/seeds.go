package registry

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

// SeedDomain is a name that stands in the registry by name and not by rule, such as
// one that a customer of the product holds. It is the first entry in the ledger
// of its name: what commands and the clock make of it later is kept.
type SeedDomain struct {
	Name string // A-labels, lower case
	// Registrar is its registrar's name; one of the world's own has its usual data.
	Registrar string
	// Statuses are EPP's, such as clientTransferProhibited; none means ok. A
	// period that they name, such as redemptionPeriod, goes on by the clock.
	Statuses                  []string
	Created, Changed, Expires time.Time
	// Nameservers are what it is delegated to. Without any it is registered, but
	// not in the DNS, as a name on hold or in redemption is.
	Nameservers []string
}

// seedTRID stands for the command by which a held name came to be as it is.
const seedTRID = "SIM-before-the-start"

// seed makes the ledger's entry of a held name.
func (w *world) seed(held SeedDomain, now time.Time) (*ledger.Domain, error) {
	label, zone, found := w.split(held.Name)
	switch {
	case !found || strings.Contains(label, ".") || !ledger.WellFormed(held.Name) || misbehaviourOf(label) != misbehaveNot:
		return nil, fmt.Errorf("the name %q can't be held here", held.Name)
	case w.stateOf(label, zone) != stateFree:
		return nil, fmt.Errorf("the name %q stands in the table already", held.Name)
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

// applyStatus puts a domain into a status as if it had come to it by itself, with
// dates that fit the others as far as they can.
func applyStatus(domain *ledger.Domain, status string, now time.Time) {
	recently := func(at time.Time, days int) time.Time {
		if at.After(now) || at.AddDate(0, 0, days).Before(now) {
			return now
		}
		return at
	}
	switch status {
	case "ok", "inactive": // they follow from the others
	case "redemptionPeriod":
		domain.Deleted = recently(domain.Expires.AddDate(0, 0, 45), 30)
		domain.Phase, domain.PhaseUntil = ledger.Redemption, domain.Deleted.AddDate(0, 0, 30)
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

// sponsorOf finds the account of a registrar's name. One without an account is
// told apart by its name only.
func sponsorOf(registrar string) (account, name string) {
	if registrar == ledger.TransitName {
		return ledger.TransitSponsor, registrar
	}
	if registrar == productName {
		return ProductAccount, ""
	}
	if known := slices.IndexFunc(worldRegistrars[:], func(a worldRegistrar) bool { return a.name == registrar }); known >= 0 {
		return worldRegistrars[known].account, ""
	}
	return "elsewhere", registrar
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
