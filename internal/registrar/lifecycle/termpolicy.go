package lifecycle

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Policy is what happens to a domain of a TLD at the end of its term.
type Policy struct {
	AtExpiry AtExpiry
	// GraceDays is how long after its own renewal the registry refunds a deletion.
	GraceDays int
	Unpaid    UnpaidAction
	// HoldAfter and DeleteAfter are the days between the end of the term and the hold, and
	// the deletion. A HoldAfter of 0 means that the domain is not held. With UnpaidExpire, they
	// are the registry's, which holds the domain from the end of the term if HoldAfter is 0.
	HoldAfter, DeleteAfter int
	// RenewableDays is how long after the end of its term a domain can be renewed.
	RenewableDays int
	// RedemptionDays is how long a deleted domain can be restored (RFC 3915); 0 means that
	// the registry does not offer it, or only by a command of its own.
	RedemptionDays int
	// LeadDays is how long before the end of a term an automatic renewal is charged.
	LeadDays int
	Source   string // of these figures
}

// AtExpiry is what the registry does at the end of an unrenewed term.
type AtExpiry string

// What registries do.
const (
	RegistryRenews  AtExpiry = "renews"  // it renews and charges us; GraceDays says whether it refunds
	RegistryExpires AtExpiry = "expires" // it takes the domain out of service and then deletes it
	RegistryNoTerm  AtExpiry = "none"    // it has no terms (DENIC)
)

// ActionOnExpiry returns what we do about a domain whose customer lets it expire.
func ActionOnExpiry(tld string) UnpaidAction {
	if action := PolicyOf(tld).Unpaid; action != UnpaidConsent {
		return action
	}
	return UnpaidDelete
}

// Plan says what happens to a domain that nobody renews, and when. Mails and pages announce it.
type Plan struct {
	Action UnpaidAction
	// HoldAt is when the domain leaves the DNS; zero if it does so at the end of its term or never.
	// DeleteAt is the earliest time of its deletion or handover; zero if an operator decides.
	HoldAt, DeleteAt time.Time
}

// Ours reports whether we delete the domain or hand it over, not its registry.
func (p Plan) Ours() bool { return !p.DeleteAt.IsZero() && p.Action != UnpaidExpire }

// PlanFor returns the plan for a domain whose term ends. expire means that its customer lets it expire.
func PlanFor(tld string, end time.Time, expire bool, now time.Time) Plan {
	policy := PolicyOf(tld)
	plan := Plan{Action: policy.Unpaid}
	if policy.Unpaid == UnpaidConsent && expire {
		plan.Action = UnpaidDelete
	}
	switch plan.Action {
	case UnpaidExpire:
		if policy.HoldAfter > 0 {
			plan.HoldAt = end.AddDate(0, 0, policy.HoldAfter)
		}
		plan.DeleteAt = notBefore(policy.DeletionAt(end, time.Time{}), now)
	case UnpaidDelete, UnpaidTransit:
		plan.HoldAt, plan.DeleteAt = policy.plannedHold(end, now), policy.PlannedDeletion(end, now)
	case UnpaidConsent, UnpaidOperator: // an operator decides
	}
	return plan
}

// NearEnd reports whether a term ends so soon that its customer is notified.
func NearEnd(end, now time.Time) bool { return !now.Before(end.Add(-noticeMonth)) }

// UnpaidAction is what we do about a domain whose term ended unpaid.
type UnpaidAction string

// What we do.
const (
	UnpaidDelete   UnpaidAction = "delete"   // hold, then delete
	UnpaidConsent  UnpaidAction = "consent"  // delete if the customer chose to let it expire; otherwise an operator decides
	UnpaidTransit  UnpaidAction = "transit"  // hand it over to the registry
	UnpaidExpire   UnpaidAction = "expire"   // nothing: the registry acts
	UnpaidOperator UnpaidAction = "operator" // an operator decides
)

//go:embed termpolicy.csv
var policyTable string

var policies = sync.OnceValues(func() (map[string]Policy, error) { return parsePolicies(policyTable) })

const policyColumns = 10

func parsePolicies(table string) (map[string]Policy, error) {
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("lifecycle: term policies: %w", err)
	}
	parsed := make(map[string]Policy, len(rows))
	for line, row := range rows[1:] {
		var days [6]int
		for i, column := range [...]int{2, 4, 5, 6, 7, 8} {
			if days[i], err = strconv.Atoi(row[column]); err != nil || days[i] < 0 {
				return nil, fmt.Errorf("lifecycle: term policies: line %d: %q is not a number of days", line+2, row[column])
			}
		}
		parsed[row[0]] = Policy{
			AtExpiry: AtExpiry(row[1]), GraceDays: days[0], Unpaid: UnpaidAction(row[3]), HoldAfter: days[1], DeleteAfter: days[2],
			RenewableDays: days[3], RedemptionDays: days[4], LeadDays: days[5], Source: row[policyColumns-1],
		}
	}
	return parsed, nil
}

// Lasts reports whether a domain whose customer has not chosen to let it expire stays beyond its
// term, until an operator decides: the registry renews it, and we don't delete it by ourselves.
func (p Policy) Lasts() bool {
	return p.AtExpiry == RegistryRenews && (p.Unpaid == UnpaidConsent || p.Unpaid == UnpaidOperator)
}

// RenewalEndsWithTerm reports whether a domain can't be renewed once its term has ended.
func (p Policy) RenewalEndsWithTerm() bool {
	return p.RenewableDays == 0 && (p.AtExpiry == RegistryExpires || p.Unpaid == UnpaidDelete)
}

// EndsWithTerm reports whether a domain of a TLD can't be kept beyond its term: it can't be renewed then,
// or its customer lets it expire and its deletion begins as soon as the term has ended.
func EndsWithTerm(tld string, expire bool) bool {
	policy := PolicyOf(tld)
	return policy.RenewalEndsWithTerm() || expire && policy.Unpaid == UnpaidConsent && policy.DeleteAfter == 0
}

// RenewalOver reports whether a domain whose paid term ends at a time can't be renewed any more.
// Where the registry renews by itself, a domain that still is here can be renewed late.
func (p Policy) RenewalOver(end, now time.Time) bool {
	if p.AtExpiry != RegistryExpires && !p.RenewalEndsWithTerm() {
		return false
	}
	return !now.Before(end.AddDate(0, 0, p.RenewableDays))
}

// DaysToRestore returns how long a deleted domain of a TLD can be restored here at these net prices;
// 0 if it can't be. Restoring includes a renewal if the term has ended.
func DaysToRestore(tld string, restore, renew registrar.Cents) int {
	if restore <= 0 || renew <= 0 {
		return 0
	}
	return PolicyOf(tld).RedemptionDays
}

// RestorableUntil returns until when a domain of a TLD that was deleted at a time can be restored; zero
// if it can't be, or if that time is unknown.
func RestorableUntil(tld string, deleted time.Time) time.Time {
	days := PolicyOf(tld).RedemptionDays
	if days == 0 || deleted.IsZero() {
		return time.Time{}
	}
	return deleted.AddDate(0, 0, days)
}

// RestoreOver reports whether a domain of a TLD that was deleted at a time, zero if unknown, can't be
// restored any more, or never could be: by our own date, or by the statuses that its registry gave last.
func RestoreOver(tld string, deleted time.Time, statuses []string, now time.Time) bool {
	until := RestorableUntil(tld, deleted)
	if PolicyOf(tld).RedemptionDays == 0 || !until.IsZero() && !now.Before(until) {
		return true
	}
	return slices.Contains(statuses, "pendingDelete") && !slices.ContainsFunc(statuses, OffersRestore)
}

// OffersRestore reports whether a status is that of a domain that can be restored (RFC 3915).
func OffersRestore(status string) bool {
	return status == "redemptionPeriod" || status == "pendingRestore"
}

// PolicyOf returns the policy of a TLD (".co.uk"). A TLD without a row has that of its
// kind: two letters make a ccTLD.
func PolicyOf(tld string) Policy {
	all, err := policies()
	if err != nil {
		panic(err) // the table is compiled in, and a test reads it
	}
	if policy, found := all[tld]; found {
		return policy
	}
	if last := tld[strings.LastIndexByte(tld, '.')+1:]; len(last) == 2 {
		return all["cctld"]
	}
	return all["gtld"]
}
