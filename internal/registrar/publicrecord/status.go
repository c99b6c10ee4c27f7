package publicrecord

import (
	"slices"
	"strings"
)

// rdapStatuses maps EPP statuses to RDAP's (RFC 8056, 2). Statuses of a registry's own are not
// published: their meaning, and what they say about a person, is unknown.
var rdapStatuses = map[string]string{
	"addPeriod":                "add period",
	"autoRenewPeriod":          "auto renew period",
	"clientDeleteProhibited":   "client delete prohibited",
	"clientHold":               "client hold",
	"clientRenewProhibited":    "client renew prohibited",
	"clientTransferProhibited": "client transfer prohibited",
	"clientUpdateProhibited":   "client update prohibited",
	"inactive":                 "inactive",
	"ok":                       active,
	"pendingCreate":            "pending create",
	"pendingDelete":            pendingDelete,
	"pendingRenew":             "pending renew",
	"pendingRestore":           pendingRestore,
	"pendingTransfer":          "pending transfer",
	"pendingUpdate":            "pending update",
	"redemptionPeriod":         redemptionPeriod,
	"renewPeriod":              "renew period",
	"serverDeleteProhibited":   "server delete prohibited",
	"serverHold":               "server hold",
	"serverRenewProhibited":    "server renew prohibited",
	"serverTransferProhibited": "server transfer prohibited",
	"serverUpdateProhibited":   "server update prohibited",
	"transferPeriod":           "transfer period",
}

const (
	active           = "active"
	pendingDelete    = "pending delete"
	pendingRestore   = "pending restore"
	redemptionPeriod = "redemption period"
)

// publicStatuses returns RDAP statuses in alphabetical order, each once. Registries' records
// are not always valid combinations, and may be older than a deletion; ICANN's profile requires
// these:
//
//	a deleted domain          pending delete, and either redemption period or pending restore; no other
//	a pending action          no status that prohibits the action, no second pending action
//	active (EPP: ok)          alone
//	no known status           active
func publicStatuses(epp []string, deleted bool) []string {
	var all []string
	for _, status := range epp {
		if status, known := rdapStatuses[status]; known {
			all = append(all, status)
		}
	}
	if slices.Contains(all, pendingRestore) {
		return []string{pendingDelete, pendingRestore}
	}
	if deleted || slices.Contains(all, redemptionPeriod) {
		return []string{pendingDelete, redemptionPeriod}
	}
	slices.Sort(all)
	all = dropConflicts(slices.Compact(all))
	if len(all) > 1 {
		all = slices.DeleteFunc(all, func(status string) bool { return status == active })
	}
	if len(all) == 0 {
		all = []string{active}
	}
	return all
}

// dropConflicts keeps the first pending action and drops the statuses that prohibit it.
func dropConflicts(all []string) []string {
	at := slices.IndexFunc(all, func(status string) bool { return strings.HasPrefix(status, "pending ") })
	if at < 0 {
		return all
	}
	pending := all[at]
	prohibited := strings.TrimPrefix(pending, "pending ") + " prohibited"
	return slices.DeleteFunc(all, func(status string) bool {
		return strings.HasPrefix(status, "pending ") && status != pending || strings.HasSuffix(status, prohibited)
	})
}
