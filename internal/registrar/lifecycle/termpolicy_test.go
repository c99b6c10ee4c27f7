package lifecycle

import (
	"slices"
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
		if p.HoldAfter > 0 && (p.Unpaid != UnpaidDelete || p.DeleteAfter-p.HoldAfter < 8) {
			t.Errorf("%s: held for %d days, want at least 8 before the deletion", tld, p.DeleteAfter-p.HoldAfter)
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
