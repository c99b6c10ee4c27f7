package lifecycle

import (
	"slices"
	"testing"
)

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
