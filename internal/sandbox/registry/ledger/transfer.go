package ledger

import "time"

// DomainTransfer is a transfer request.
type DomainTransfer struct {
	Name      string
	Years     int // 0 means the zone's default
	Auth      string
	AgreedFee *AgreedFee
}

// TransferResult is a transfer after a command.
type TransferResult struct {
	Transfer *Transfer
	Pending  bool
	Cost     int64
}

// RequestTransfer requests a domain of another registrar.
func (l *Ledger) RequestTransfer(by Request, c DomainTransfer) (result TransferResult, err error) {
	place, refusal := l.lookUp(c.Name)
	if refusal != nil {
		return result, refusal
	}
	err = l.do(by, func(t *tx) (refusal *Refusal) {
		result, refusal = t.requestTransfer(c, place)
		return refusal
	})
	return result, err
}

func (t *tx) requestTransfer(c DomainTransfer, place NameEntry) (result TransferResult, refusal *Refusal) {
	domain := t.domain(c.Name, place)
	switch {
	case domain == nil:
		return result, refuse(NotFound, "domain:name", c.Name, "There is no such domain.")
	case domain.Sponsor == t.by.Account:
		return result, refuse(NotTransferable, "domain:name", c.Name, "The domain is yours already.")
	case domain.Sponsor == registrySponsor:
		return result, refuse(PolicyForbids, "domain:name", c.Name, "The name is the registry's own.")
	case domain.transferring():
		return result, refuse(TransferPending, "domain:name", c.Name, "A transfer of the domain is pending.")
	case c.Years > 1:
		return result, refuse(PolicyForbids, "domain:period", "", "A transfer adds one year.")
	case c.Auth == "":
		return result, refuse(Missing, "domain:authInfo", "", "A transfer needs the authInfo.")
	case c.Auth != domain.Auth:
		return result, refuse(WrongAuthInfo, "domain:authInfo", "", "This is not the domain's authInfo.")
	}
	if refusal := domain.checkNotProhibited("clientTransferProhibited", "serverTransferProhibited"); refusal != nil {
		return result, refusal
	}
	if result.Cost, refusal = t.computeCharge(place, TransferIn, 1, c.AgreedFee); refusal != nil {
		return result, refusal
	}
	domain = domain.clone()
	domain.Transfer = &Transfer{
		Name: c.Name, Status: transferPending, Requester: t.by.Account, Requested: t.now,
		Actor: domain.Sponsor, Decided: t.now.Add(transferTime), Expires: domain.expiryAfterTransfer(place, t.now),
	}
	if place.Policy.Gateway {
		t.completeTransfer(domain, place, serverApproved)
		result.Transfer = domain.Transfer
		return result, nil
	}
	t.putDomain(domain)
	t.enqueueMessage(domain.Sponsor, Message{Text: "Transfer requested", Transfer: domain.Transfer})
	result.Transfer, result.Pending = domain.Transfer, true
	return result, nil
}

// expiryAfterTransfer is the expiry of a domain transferred now.
func (d *Domain) expiryAfterTransfer(place NameEntry, now time.Time) time.Time {
	if place.Policy.Gateway { // it sells a year, which begins with the transfer
		return now.AddDate(1, 0, 0)
	}
	if place.Policy.TransferKeepsTerm || within(d.AutoRenewed, autoRenewPeriod, now) {
		return d.Expires
	}
	expires := d.Expires.AddDate(1, 0, 0)
	if limit := now.AddDate(maxYearsAhead, 0, 0); expires.After(limit) {
		return limit
	}
	return expires
}

// completeTransfer moves a domain and the hosts below it to the requester, and
// queues a message for both sides.
func (t *tx) completeTransfer(domain *Domain, place NameEntry, status string) {
	loser := domain.Sponsor
	if within(domain.AutoRenewed, autoRenewPeriod, t.now) {
		t.book(loser, place.Fees.Renew) // the requester's year replaces it
	}
	done := *domain.Transfer
	done.Status, done.Decided, done.Expires = status, t.now, domain.expiryAfterTransfer(place, t.now)
	domain.Transfer = &done
	domain.Sponsor, domain.Agent = done.Requester, ""
	domain.Expires = done.Expires
	domain.Transferred, domain.MovedIn = t.now, t.now
	domain.AutoRenewed, domain.Renewed, domain.AddYears, domain.RenewYears = time.Time{}, time.Time{}, 0, 0
	if place.Policy.Gateway {
		domain.Phase, domain.PhaseUntil, domain.MovedIn = Active, time.Time{}, time.Time{}
	}
	t.putDomain(domain)
	if t.l.hostsBelow[domain.Name] > 0 {
		for _, host := range t.l.hosts {
			if host.Above == domain.Name {
				result := *host
				result.Sponsor, result.Moved = domain.Sponsor, t.now
				t.putHost(&result)
			}
		}
	}
	t.enqueueMessage(loser, Message{Text: "Transfer completed: the domain has left", Transfer: &done})
	if !place.Policy.Gateway {
		t.enqueueMessage(done.Requester, Message{Text: "Transfer completed: the domain has arrived", Transfer: &done})
	}
}

// TransferAnswer is the decision on a pending transfer.
type TransferAnswer uint8

// Decisions on a transfer.
const (
	Approve TransferAnswer = iota
	Reject
	Cancel
)

// RequestTransferWithoutAuth requests a domain as if the account knew its authInfo. An empty
// authInfo is still refused.
func (l *Ledger) RequestTransferWithoutAuth(by Request, name string) (TransferResult, error) {
	place, refusal := l.lookUp(name)
	if refusal != nil {
		return TransferResult{}, refusal
	}
	request := DomainTransfer{Name: name}
	l.view(func(now time.Time) {
		if domain := l.find(name, place, now); domain != nil {
			request.Auth = domain.Auth
		}
	})
	return l.RequestTransfer(by, request)
}

// AnswerTransfer ends a pending transfer.
func (l *Ledger) AnswerTransfer(by Request, name string, answer TransferAnswer) (ended *Transfer, err error) {
	place, refusal := l.lookUp(name)
	if refusal != nil {
		return nil, refusal
	}
	err = l.do(by, func(t *tx) *Refusal {
		domain := t.domain(name, place)
		if domain == nil {
			return refuse(NotFound, "domain:name", name, "There is no such domain.")
		}
		if !domain.transferring() {
			if domain.Sponsor != by.Account && (domain.Transfer == nil || domain.Transfer.Requester != by.Account) {
				return refuse(NotAuthorised, "domain:name", name, "This is not your transfer.")
			}
			return refuse(NoTransferPending, "domain:name", name, "No transfer is pending.")
		}
		who := domain.Sponsor
		if answer == Cancel {
			who = domain.Transfer.Requester
		}
		if by.Account != who {
			return refuse(NotAuthorised, "domain:name", name, "The other side answers this transfer.")
		}
		domain = domain.clone()
		if answer == Approve {
			t.completeTransfer(domain, place, clientApproved)
			ended = domain.Transfer
			return nil
		}
		over := *domain.Transfer
		over.Decided, over.Expires, over.Status = t.now, time.Time{}, clientRejected
		recipient := over.Requester
		if answer == Cancel {
			over.Status, recipient = clientCancelled, domain.Sponsor
		}
		domain.Transfer = &over
		t.putDomain(domain)
		t.book(over.Requester, place.Fees.Transfer)
		t.enqueueMessage(recipient, Message{Text: "Transfer ended without a move", Transfer: &over})
		ended = &over
		return nil
	})
	return ended, err
}

// QueryTransfer shows the last transfer of a domain to its parties and to accounts
// that know the authInfo.
func (l *Ledger) QueryTransfer(by Request, name, auth string) (last *Transfer, err error) {
	place, refusal := l.lookUp(name)
	if refusal != nil {
		return nil, refusal
	}
	refusal = nil
	l.view(func(now time.Time) {
		domain := l.find(name, place, now)
		switch {
		case domain == nil:
			refusal = refuse(NotFound, "domain:name", name, "There is no such domain.")
		case auth != "" && auth != domain.Auth:
			refusal = refuse(WrongAuthInfo, "domain:authInfo", "", "This is not the domain's authInfo.")
		case auth == "" && domain.Sponsor != by.Account &&
			(domain.Transfer == nil || domain.Transfer.Requester != by.Account && domain.Transfer.Actor != by.Account):
			refusal = refuse(NotAuthorised, "domain:name", name, "This is not your transfer.")
		case domain.Transfer == nil:
			refusal = refuse(NoTransferPending, "domain:name", name, "The domain was never transferred.")
		default:
			last = domain.Transfer
		}
	})
	if refusal != nil {
		return nil, refusal
	}
	return last, nil
}
