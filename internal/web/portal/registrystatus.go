package portal

import (
	"cmp"
	"slices"
)

// registryStatus is an EPP status with its colour.
type registryStatus struct{ Code, Tone string }

// urgency orders the tones of statuses, the most urgent first.
var urgency = []string{"bad", "warn", "wait", "good"}

// statusTones are the colours of the statuses of RFC 5731, 2.3 and RFC 3915, 3.1.
var statusTones = map[string]string{
	"clientHold": "bad", "serverHold": "bad", "pendingDelete": "bad", "redemptionPeriod": "bad", "pendingRestore": "bad",
	"inactive":      "warn",
	"pendingCreate": "wait", "pendingRenew": "wait", "pendingTransfer": "wait", "pendingUpdate": "wait",
	"addPeriod": "wait", "autoRenewPeriod": "wait", "renewPeriod": "wait", "transferPeriod": "wait",
	"clientRenewProhibited": "wait", "serverRenewProhibited": "wait", "clientUpdateProhibited": "wait", "serverUpdateProhibited": "wait",
	"ok": "good", "clientTransferProhibited": "good", "serverTransferProhibited": "good",
	"clientDeleteProhibited": "good", "serverDeleteProhibited": "good",
}

// registryStatuses returns the statuses of a domain, the most urgent first.
func registryStatuses(codes []string) []registryStatus {
	all := make([]registryStatus, 0, len(codes))
	for i, code := range codes {
		if slices.Contains(codes[:i], code) { // pendingDelete is a status of both RFCs
			continue
		}
		all = append(all, registryStatus{code, statusTones[code]})
	}
	slices.SortStableFunc(all, func(a, b registryStatus) int {
		return cmp.Compare(slices.Index(urgency, a.Tone), slices.Index(urgency, b.Tone))
	})
	return all
}
