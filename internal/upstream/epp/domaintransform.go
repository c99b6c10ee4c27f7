package epp

import (
	"context"
	"time"
)

// UpdateDomain changes a domain (RFC 5731, 3.2.5). What is zero stays.
type UpdateDomain struct {
	Name        string
	Add, Remove DomainElements
	// HostAttributes says how the nameservers in Add and Remove are sent.
	HostAttributes bool
	// Registrant is the new holder; empty leaves the old one.
	Registrant string
	// AuthInfo is the new secret; empty leaves the old one. ClearAuthInfo takes
	// it away, which is how registries close a transfer.
	AuthInfo      string
	ClearAuthInfo bool
	DNSSEC        DNSSECChange
	ClTRID        string
}

// DomainElements are what can be added to a domain and taken from it.
type DomainElements struct {
	Nameservers []Nameserver
	Contacts    []Contact
	// Statuses are words that clients may set, such as clientTransferProhibited.
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

// sendForReceipt sends a command whose answer has no data.
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
			w.Fail("domain:authInfo", "can't be set and cleared at once")
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

// clientStatuses are the words that a registrar may set and lift (RFC 5731, 2.3).
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
			w.Fail("domain:status", "is none that a registrar may set")
		}
		w.Empty("domain:status", Attr{"s", status})
	}
	w.End(tag)
}

// RenewDomain extends a registration (RFC 5731, 3.2.3).
type RenewDomain struct {
	Name string
	// Expires is the present expiry. A second renewal with the same one is
	// refused, which makes a repeated one harmless.
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

// RenewDomain extends a registration. See RenewOrFind for what to do when the
// answer is lost.
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

// DeleteDomain gives a domain up (RFC 5731, 3.2.2).
type DeleteDomain struct{ Name, ClTRID string }

// DeleteDomain gives a domain up.
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

// RestoreDomain asks for a deleted domain back (RFC 3915, 4.2.5).
type RestoreDomain struct {
	Name string
	// Report is what gTLD registries want within the days of pendingRestore; nil
	// sends the request. The two are two commands.
	Report *RestoreReport
	// AgreedFee is the restore fee that we agree to.
	AgreedFee *AgreedFee
	ClTRID    string
}

// RestoreReport is the registrar's declaration (RFC 3915, 4.2.5).
type RestoreReport struct {
	// Before and After describe the domain; the whois record is customary.
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
		w.Fail("rgp:statement", "must be there once or twice")
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
