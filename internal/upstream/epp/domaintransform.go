package epp

import (
	"context"
	"time"
)

// UpdateDomain changes a domain (RFC 5731, 3.2.5). Zero fields stay unchanged.
type UpdateDomain struct {
	Name        string
	Add, Remove DomainElements
	// HostAttributes selects how the nameservers in Add and Remove are sent.
	HostAttributes bool
	// Registrant is the new registrant; empty keeps the old one.
	Registrant string
	// AuthInfo is the new auth code; empty keeps the old one. ClearAuthInfo removes
	// it, which blocks transfers.
	AuthInfo      string
	ClearAuthInfo bool
	DNSSEC        DNSSECChange
	ClTRID        string
}

// DomainElements can be added to a domain or removed from it.
type DomainElements struct {
	Nameservers []Nameserver
	Contacts    []Contact
	// Statuses are client statuses such as clientTransferProhibited.
	Statuses []string
}

func (p *DomainElements) isEmpty() bool {
	return len(p.Nameservers) == 0 && len(p.Contacts) == 0 && len(p.Statuses) == 0
}

// UpdateDomain changes a domain.
func (c *Client) UpdateDomain(ctx context.Context, q UpdateDomain) (Receipt, error) {
	cmd := &call{
		Command: Command{Verb: "update", Object: "domain", Request: q}, trid: q.ClTRID,
		requiredExtensions: q.DNSSEC.requiredExtensions(), body: q.write,
		writeExtension: func(w *Writer, _ services) { q.DNSSEC.write(w) },
	}
	return c.sendForReceipt(ctx, cmd)
}

// sendForReceipt sends a command whose response has no data.
func (c *Client) sendForReceipt(ctx context.Context, cmd *call) (Receipt, error) {
	a, err := c.send(ctx, cmd)
	if err != nil {
		return Receipt{}, err
	}
	return a.receipt(), nil
}

func (q *UpdateDomain) write(w *Writer) {
	w.Start("domain:update", Attr{"xmlns:domain", nsDomain})
	w.label("domain:name", q.Name)
	q.Add.write(w, "domain:add", q.HostAttributes)
	q.Remove.write(w, "domain:rem", q.HostAttributes)
	if q.Registrant != "" || q.AuthInfo != "" || q.ClearAuthInfo {
		w.Start("domain:chg")
		if q.Registrant != "" {
			w.handle("domain:registrant", q.Registrant)
		}
		switch {
		case q.AuthInfo != "" && q.ClearAuthInfo:
			w.Fail("domain:authInfo", "can't be set and cleared at the same time")
		case q.AuthInfo != "":
			writeAuthInfo(w, "domain", q.AuthInfo)
		case q.ClearAuthInfo:
			w.Start("domain:authInfo")
			w.Empty("domain:null")
			w.End("domain:authInfo")
		}
		w.End("domain:chg")
	}
	w.End("domain:update")
}

// clientStatuses are the values that a registrar may set and remove (RFC 5731,
// 2.3).
var clientStatuses = map[string]bool{
	"clientDeleteProhibited": true, "clientHold": true, "clientRenewProhibited": true,
	"clientTransferProhibited": true, "clientUpdateProhibited": true,
}

func (p *DomainElements) write(w *Writer, tag string, attributes bool) {
	if p.isEmpty() {
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
	Expires   time.Time
	Years     int
	AgreedFee *AgreedFee
	ClTRID    string
}

// DomainRenewed is the registry's confirmation.
type DomainRenewed struct {
	Receipt
	Expires    time.Time
	ChargedFee *ChargedFee
}

// RenewDomain extends a registration. See RenewOrFind for lost responses.
func (c *Client) RenewDomain(ctx context.Context, q RenewDomain) (DomainRenewed, error) {
	cmd := &call{
		Command: Command{Verb: "renew", Object: "domain", Request: q}, trid: q.ClTRID,
		requiredExtensions: q.AgreedFee.requiredExtensions(),
		body: func(w *Writer) {
			w.Start("domain:renew", Attr{"xmlns:domain", nsDomain})
			w.label("domain:name", q.Name)
			w.date("domain:curExpDate", q.Expires)
			w.years("domain:period", q.Years)
			w.End("domain:renew")
		},
		writeExtension: func(w *Writer, _ services) { q.AgreedFee.write(w, "renew") },
	}
	a, err := c.send(ctx, cmd)
	if err != nil {
		return DomainRenewed{}, err
	}
	return DomainRenewed{
		Receipt:    a.receipt(),
		Expires:    a.data.Child(nsDomain, "renData").timeValue(nsDomain, "exDate"),
		ChargedFee: readChargedFee(a.extension, "renData"),
	}, nil
}

// DeleteDomain deletes a domain (RFC 5731, 3.2.2).
type DeleteDomain struct{ Name, ClTRID string }

// DeleteDomain deletes a domain.
func (c *Client) DeleteDomain(ctx context.Context, q DeleteDomain) (Receipt, error) {
	return c.sendForReceipt(ctx, &call{
		Command: Command{Verb: "delete", Object: "domain", Request: q}, trid: q.ClTRID,
		body: func(w *Writer) {
			w.Start("domain:delete", Attr{"xmlns:domain", nsDomain})
			w.label("domain:name", q.Name)
			w.End("domain:delete")
		},
	})
}

// RestoreDomain restores a deleted domain (RFC 3915, 4.2.5).
type RestoreDomain struct {
	Name string
	// Report is required by gTLD registries during pendingRestore; nil sends the
	// request. Request and report are separate commands.
	Report *RestoreReport
	// AgreedFee is the restore fee that the client agrees to.
	AgreedFee *AgreedFee
	ClTRID    string
}

// RestoreReport is the registrar's restore report (RFC 3915, 4.2.5).
type RestoreReport struct {
	// Before and After describe the domain, usually as its whois record.
	Before, After     string
	Deleted, Restored time.Time
	Reason            string
	// Statements are one or two sentences that the registry prescribes.
	Statements []string
	Other      string
}

// RestoreDomain sends a restore request or its report.
func (c *Client) RestoreDomain(ctx context.Context, q RestoreDomain) (Receipt, error) {
	return c.sendForReceipt(ctx, &call{
		Command: Command{Verb: "update", Object: "domain", Request: q}, trid: q.ClTRID,
		requiredExtensions: append([]string{nsRGP}, q.AgreedFee.requiredExtensions()...),
		body: func(w *Writer) {
			w.Start("domain:update", Attr{"xmlns:domain", nsDomain})
			w.label("domain:name", q.Name)
			w.Empty("domain:chg") // RFC 3915, 4.2.5: an update that changes nothing
			w.End("domain:update")
		},
		writeExtension: func(w *Writer, _ services) {
			w.Start("rgp:update", Attr{"xmlns:rgp", nsRGP})
			q.Report.write(w)
			w.End("rgp:update")
			q.AgreedFee.write(w, "update")
		},
	})
}

func (r *RestoreReport) write(w *Writer) {
	if r == nil {
		w.Empty("rgp:restore", Attr{"op", "request"})
		return
	}
	if n := len(r.Statements); n < 1 || n > 2 {
		w.Fail("rgp:statement", "must appear once or twice")
	}
	if r.Deleted.IsZero() || r.Restored.IsZero() {
		w.Fail("rgp:report", "lacks its times")
	}
	w.Start("rgp:restore", Attr{"op", "report"})
	w.Start("rgp:report")
	w.Leaf("rgp:preData", r.Before)
	w.Leaf("rgp:postData", r.After)
	w.Leaf("rgp:delTime", r.Deleted.UTC().Format(time.RFC3339))
	w.Leaf("rgp:resTime", r.Restored.UTC().Format(time.RFC3339))
	w.Leaf("rgp:resReason", r.Reason)
	for _, statement := range r.Statements {
		w.Leaf("rgp:statement", statement)
	}
	if r.Other != "" {
		w.Leaf("rgp:other", r.Other)
	}
	w.End("rgp:report")
	w.End("rgp:restore")
}
