package lifecycle

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPolicy_RenewalEndsWhereRegistryAllowsNoneAfterTheTerm(t *testing.T) {
	t.Parallel()
	end := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	for tld, days := range map[string]int{".eu": 0, ".pl": 0, ".nl": 0, ".be": 0, ".uk": 90, ".fi": 26, ".com": -1, ".de": -1, ".at": -1, ".fr": -1} { // -1: it never does
		policy, over := PolicyOf(tld), end.AddDate(0, 0, days)
		if got := policy.RenewalEndsWithTerm(); got != (days == 0) {
			t.Errorf("%s: ends with the term: %t", tld, got)
		}
		if days >= 0 && (policy.RenewalOver(end, over.Add(-time.Second)) || !policy.RenewalOver(end, over)) || days < 0 && policy.RenewalOver(end, end.AddDate(1, 0, 0)) {
			t.Errorf("%s: not over %d days after the term", tld, days)
		}
	}
}

func TestPolicyOf_TableIsComplete(t *testing.T) {
	t.Parallel()
	all, err := policies()
	if err != nil {
		t.Fatal(err)
	}
	for tld, p := range all {
		if !slices.Contains([]AtExpiry{RegistryRenews, RegistryExpires, RegistryNoTerm}, p.AtExpiry) ||
			!slices.Contains([]UnpaidAction{UnpaidDelete, UnpaidConsent, UnpaidTransit, UnpaidExpire, UnpaidOperator}, p.Unpaid) ||
			p.LeadDays < 8 || p.Source == "" {
			t.Errorf("%s: %+v", tld, p)
		}
		if p.HoldAfter > 0 && (p.Unpaid != UnpaidDelete && p.Unpaid != UnpaidExpire || p.DeleteAfter-p.HoldAfter < 8) {
			t.Errorf("%s: held for %d days, want at least 8 before the deletion", tld, p.DeleteAfter-p.HoldAfter)
		}
		if p.Unpaid == UnpaidExpire && (p.DeleteAfter == 0 || p.DeleteAfter < p.RenewableDays) {
			t.Errorf("%s: the registry deletes after %d days a domain that can be renewed for %d", tld, p.DeleteAfter, p.RenewableDays)
		}
		if p.Unpaid == UnpaidDelete && p.GraceDays > 0 && p.DeleteAfter >= p.GraceDays {
			t.Errorf("%s: deleted after %d days, the registry refunds only %d", tld, p.DeleteAfter, p.GraceDays)
		}
	}
}

func TestPolicyOf_UnlistedTLDHasPolicyOfItsKind(t *testing.T) {
	t.Parallel()
	if p := PolicyOf(".com"); p.Unpaid != UnpaidDelete || p.HoldAfter != 10 || p.DeleteAfter != 35 || p.RedemptionDays != 30 {
		t.Errorf(".com: %+v", p)
	}
	if p := PolicyOf(".zz"); p.Unpaid != UnpaidOperator || p.DeleteAfter != 0 {
		t.Errorf(".zz, a ccTLD without a source: %+v", p)
	}
	if p := PolicyOf(".co.uk"); p.Unpaid != UnpaidExpire || p.RenewableDays != 90 {
		t.Errorf(".co.uk: %+v", p)
	}
}

func TestRestorableUntil_CountsFromTheDeletion(t *testing.T) {
	t.Parallel()
	deleted := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		tld     string
		deleted time.Time
		days    int // until it can't be restored any more; 0: it never can be, or that is unknown
		over    bool
	}{
		".io":                  {".io", deleted, 30, false},
		".at":                  {".at", deleted, 60, false},
		"no redemption period": {".be", deleted, 0, true},
		"unknown day":          {".io", time.Time{}, 0, false},
	} {
		until := RestorableUntil(test.tld, test.deleted)
		if test.days > 0 && !until.Equal(deleted.AddDate(0, 0, test.days)) || test.days == 0 && !until.IsZero() {
			t.Errorf("%s: until %s", name, until)
		}
		if RestoreOver(test.tld, test.deleted, nil, deleted.AddDate(0, 0, 1)) != test.over || test.days > 0 && !RestoreOver(test.tld, test.deleted, nil, until) {
			t.Errorf("%s: over at the wrong time", name)
		}
	}
}

func TestRestoreOver_RegistryEndsItEarlier(t *testing.T) {
	t.Parallel()
	deleted := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	for statuses, over := range map[string]bool{
		"": false, "ok": false, "pendingDelete redemptionPeriod": false, "pendingDelete pendingRestore": false, "pendingDelete pendingDelete": true,
	} {
		if got := RestoreOver(".at", deleted, strings.Fields(statuses), deleted.AddDate(0, 0, 35)); got != over {
			t.Errorf("%q: over is %t", statuses, got)
		}
	}
}
