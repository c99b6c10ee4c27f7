package ledger

import "time"

// DomainDeleted is the result of a delete.
type DomainDeleted struct {
	Pending bool // it can still be restored
	Credit  int64
}

// DeleteDomain deletes a domain.
func (l *Ledger) DeleteDomain(by Request, name string) (deleted DomainDeleted, err error) {
	place, refusal := l.lookUp(name)
	if refusal != nil {
		return deleted, refusal
	}
	err = l.do(by, func(t *tx) *Refusal {
		domain, refusal := t.ownDomain(name, place)
		if refusal != nil {
			return refusal
		}
		if refusal := domain.checkNotProhibited("clientDeleteProhibited", "serverDeleteProhibited"); refusal != nil {
			return refusal
		}
		if l.hostsBelow[name] > 0 {
			return refuse(StillUsed, "domain:name", name, "Hosts below the domain exist.")
		}
		domain = domain.clone()
		domain.Updated, domain.Updater = t.now, t.by.Account
		if place.Policy.Gateway {
			t.moveToTransit(domain)
			return nil
		}
		deleted.Credit = domain.deleteCredit(place, t.now)
		t.book(t.by.Account, deleted.Credit)
		if domain.Grace(t.now) == "addPeriod" {
			t.dropDomain(name)
			return nil
		}
		if within(domain.AutoRenewed, autoRenewPeriod, t.now) {
			domain.Expires = domain.Expires.AddDate(-1, 0, 0)
		}
		domain.AutoRenewed, domain.Renewed, domain.MovedIn, domain.RenewYears = time.Time{}, time.Time{}, time.Time{}, 0
		domain.Phase, domain.PhaseUntil = Redemption, t.now.Add(place.Policy.redemption())
		domain.Deleted, domain.Asked = t.now, t.by.TRID
		deleted.Pending = true
		t.putDomain(domain)
		return nil
	})
	return deleted, err
}

// moveToTransit handles a .de name deleted by its provider: the registry keeps it
// and writes to the registrant, who can still transfer it with the authInfo.
func (t *tx) moveToTransit(domain *Domain) {
	domain.Sponsor, domain.Agent = TransitSponsor, TransitName
	domain.Nameservers = []Nameserver{
		{Host: "ns1.transit.registry.example", Attribute: true}, {Host: "ns2.transit.registry.example", Attribute: true},
	}
	domain.Locks, domain.Keys, domain.Registrant, domain.Contacts = nil, nil, "", nil
	domain.Phase, domain.PhaseUntil = Transit, t.now.Add(transitPeriod)
	t.putDomain(domain)
}

// RestoreReport is a restore report (RFC 3915, 4.2.5).
type RestoreReport struct {
	Deleted, Restored time.Time
}

// RestoreDomain requests the restore of a deleted domain (report nil) or submits
// the report.
func (l *Ledger) RestoreDomain(by Request, name string, report *RestoreReport, offer *AgreedFee) (restored *Domain, cost int64, err error) {
	place, refusal := l.lookUp(name)
	if refusal != nil {
		return nil, 0, refusal
	}
	err = l.do(by, func(t *tx) (refusal *Refusal) {
		if restored, refusal = t.ownDomain(name, place); refusal != nil {
			return refusal
		}
		required := Redemption
		if report != nil {
			required = PendingRestore
		}
		if restored.Phase != required {
			return refuse(StatusForbids, "rgp:restore", "", "The domain is not in the status "+string(required)+".")
		}
		restored = restored.clone()
		restored.Updated, restored.Updater = t.now, t.by.Account
		if report == nil {
			if cost, refusal = t.computeCharge(place, Restore, 1, offer); refusal != nil {
				return refusal
			}
			restored.Phase, restored.PhaseUntil = PendingRestore, t.now.Add(restorePeriod)
			t.putDomain(restored)
			return nil
		}
		if report.Restored.Before(report.Deleted) {
			return refuse(OutOfRange, "rgp:resTime", "", "The restore lies before the deletion.")
		}
		restored.Phase, restored.PhaseUntil, restored.Deleted, restored.Asked = Active, time.Time{}, time.Time{}, TRID{}
		// A domain that expired meanwhile is restored with the missing year.
		for !restored.Expires.After(t.now) {
			restored.Expires = restored.Expires.AddDate(1, 0, 0)
		}
		t.putDomain(restored)
		return nil
	})
	return restored, cost, err
}
