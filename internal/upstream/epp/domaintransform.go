package epp

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// UpdateDomain changes a domain (RFC 5731, 3.2.5). Zero fields stay unchanged.
type UpdateDomain struct {
	Name        string
	Add, Remove DomainElements
	// HostAttributes selects how the nameservers in Add and Remove are sent.
	HostAttributes bool
	Registrant     string
	AuthInfo       string
	ClTRID         string
}

// DomainElements can be added to a domain or removed from it.
type DomainElements struct {
	Nameservers []domainchange.Nameserver
	Contacts    []Contact
	// Statuses are client statuses such as clientTransferProhibited.
	Statuses []string
	DS       []domainchange.DS
}

// inUpdate reports whether there are elements for the update itself; DS records are
// sent in its extension.
func (p *DomainElements) inUpdate() bool {
	return len(p.Nameservers)+len(p.Contacts)+len(p.Statuses) > 0
}

func (q *UpdateDomain) changesDS() bool { return len(q.Add.DS)+len(q.Remove.DS) > 0 }

func (q *UpdateDomain) isEmpty() bool {
	return !q.Add.inUpdate() && !q.Remove.inUpdate() && !q.changesDS() && q.Registrant == "" && q.AuthInfo == ""
}

// UpdateDomain changes a domain. If it is pending, a poll message reports the
// result; the same holds for the other commands that return pending.
func (c *Client) UpdateDomain(ctx context.Context, q UpdateDomain) (pending bool, err error) {
	cmd := &call{Command: Command{Verb: "update", Object: "domain", Request: q}, trid: q.ClTRID, body: q.write}
	if q.changesDS() {
		cmd.requiredExtension = nsSecDNS
		cmd.writeExtension = func(w *Writer, _ services) { writeDSChange(w, q.Add.DS, q.Remove.DS) }
	}
	return c.sendForPending(ctx, cmd)
}

// sendForPending sends a command whose response has no data.
func (c *Client) sendForPending(ctx context.Context, cmd *call) (pending bool, err error) {
	a, err := c.send(ctx, cmd)
	return err == nil && a.code == CodePending, err
}

func (q *UpdateDomain) write(w *Writer) {
	w.label("domain:name", q.Name)
	q.Add.write(w, "domain:add", q.HostAttributes)
	q.Remove.write(w, "domain:rem", q.HostAttributes)
	if q.Registrant == "" && q.AuthInfo == "" {
		return
	}
	w.Start("domain:chg")
	if q.Registrant != "" {
		w.handle("domain:registrant", q.Registrant)
	}
	if q.AuthInfo != "" {
		writeAuthInfo(w, "domain", q.AuthInfo)
	}
	w.End("domain:chg")
}

// clientStatuses are the values that a registrar may set and remove (RFC 5731,
// 2.3).
var clientStatuses = map[string]bool{
	"clientDeleteProhibited": true, "clientHold": true, "clientRenewProhibited": true,
	"clientTransferProhibited": true, "clientUpdateProhibited": true,
}

func (p *DomainElements) write(w *Writer, tag string, attributes bool) {
	if !p.inUpdate() {
		return
	}
	w.Start(tag)
	writeNameservers(w, p.Nameservers, attributes)
	writeContacts(w, p.Contacts)
	for _, status := range p.Statuses {
		if !clientStatuses[status] {
			w.Fail("domain:status", "is not a status that a registrar may set")
		}
		w.Empty("domain:status", Attr{"s", status})
	}
	w.End(tag)
}

// RenewDomain extends a registration (RFC 5731, 3.2.3).
type RenewDomain struct {
	Name string
	// Expires is the current expiry. The registry refuses a second renewal with the
	// same date, so repeating the command is harmless.
	Expires time.Time
	Years   int
	Fee     registrar.Money // the agreed fee of a premium name; zero for others
	ClTRID  string
}

// RenewDomain extends a registration. See RenewOrFind for lost responses.
func (c *Client) RenewDomain(ctx context.Context, q RenewDomain) (provision.Outcome, error) {
	cmd := &call{
		Command: Command{Verb: "renew", Object: "domain", Request: q}, trid: q.ClTRID,
		body: func(w *Writer) {
			w.label("domain:name", q.Name)
			if q.Expires.IsZero() {
				w.Fail("domain:curExpDate", "is missing")
			}
			w.Leaf("domain:curExpDate", q.Expires.UTC().Format(time.DateOnly))
			w.years("domain:period", q.Years)
		},
	}
	cmd.agreeTo(q.Fee)
	a, err := c.send(ctx, cmd)
	if err != nil {
		return provision.Outcome{}, err
	}
	return a.outcome("renData"), nil
}

// DeleteDomain deletes a domain (RFC 5731, 3.2.2). The fee is what the registry charges for it:
// below zero during a grace period, when it returns a fee; zero if it reports nothing.
func (c *Client) DeleteDomain(ctx context.Context, name, clTRID string) (pending bool, fee registrar.Money, err error) {
	a, err := c.send(ctx, &call{
		Command: Command{Verb: "delete", Object: "domain", Request: name}, trid: clTRID,
		body: func(w *Writer) { w.label("domain:name", name) },
	})
	if err != nil {
		return false, registrar.Money{}, err
	}
	return a.code == CodePending, a.chargedFee("delData"), nil
}

// TransferOp is an operation on a transfer (RFC 5730, 2.9.3.4).
type TransferOp string

// Transfer operations.
const (
	TransferRequest TransferOp = "request"
	TransferQuery   TransferOp = "query"
	TransferApprove TransferOp = "approve"
	TransferReject  TransferOp = "reject"
	TransferCancel  TransferOp = "cancel"
)

// Transfer states (RFC 5730, 2.9.3.4).
const (
	TransferPending        = "pending"
	TransferClientApproved = "clientApproved"
	TransferClientRejected = "clientRejected"
	TransferServerApproved = "serverApproved"
)

// TransferDomain requests a transfer from another registrar, queries its state or
// decides it (RFC 5731, 3.1.3 and 3.2.4).
type TransferDomain struct {
	Op   TransferOp
	Name string
	// Years are added by a request; 0 means the registry's default.
	Years int
	// AuthInfo is the auth code. A request needs it, and so does a query by a third
	// party.
	AuthInfo string
	Fee      registrar.Money // the agreed fee of a request for a premium name; zero for others
	ClTRID   string
}

// Transfer is the state of a transfer.
type Transfer struct {
	Status string
	// Requester is the account that requested it (reID), at Requested (reDate).
	Requester string
	Requested time.Time
	// Acts is when it was decided, or when the registry decides (acDate).
	Acts time.Time
	// Fee is what a request costs; zero if the registry reports none.
	Fee registrar.Money
}

// TransferDomain performs an operation on a transfer. See TransferOrFind for lost
// responses to a request.
func (c *Client) TransferDomain(ctx context.Context, q TransferDomain) (Transfer, error) {
	cmd := &call{
		Command: Command{Verb: "transfer", Object: "domain", Request: q}, trid: q.ClTRID,
		attrs: []Attr{{"op", string(q.Op)}}, safe: q.Op == TransferQuery, body: q.write,
	}
	cmd.agreeTo(q.Fee)
	a, err := c.send(ctx, cmd)
	if err != nil {
		return Transfer{}, err
	}
	data := a.data.Child(nsDomain, "trnData")
	transfer := Transfer{
		Status: data.value(nsDomain, "trStatus"), Requester: data.value(nsDomain, "reID"),
		Requested: data.timeValue(nsDomain, "reDate"), Acts: data.timeValue(nsDomain, "acDate"), Fee: a.chargedFee("trnData"),
	}
	if a.code == CodePending {
		transfer.Status = TransferPending
	}
	return transfer, nil
}

func (q *TransferDomain) write(w *Writer) {
	switch q.Op {
	case TransferRequest, TransferQuery, TransferApprove, TransferReject, TransferCancel:
	default:
		w.Fail("transfer", "is not a transfer operation")
	}
	w.label("domain:name", q.Name)
	if q.Op == TransferRequest {
		w.years("domain:period", q.Years)
	}
	if q.AuthInfo != "" {
		writeAuthInfo(w, "domain", q.AuthInfo)
	}
}
