package epp

import (
	"context"
	"time"
)

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
	TransferPending         = "pending"
	TransferClientApproved  = "clientApproved"
	TransferServerApproved  = "serverApproved"
	TransferClientRejected  = "clientRejected"
	TransferClientCancelled = "clientCancelled"
	TransferServerCancelled = "serverCancelled"
)

// TransferDomain requests a transfer from another registrar or acts on one (RFC
// 5731, 3.2.4).
type TransferDomain struct {
	Op   TransferOp
	Name string
	// Years are added by a request; 0 means the registry's default.
	Years int
	// AuthInfo is the auth code. A request needs it, and so does a query by a third
	// party.
	AuthInfo  string
	AgreedFee *AgreedFee
	Priority  Priority
	ClTRID    string
}

// Transfer is the state of a transfer.
type Transfer struct {
	Receipt
	Name   string
	Status string
	// Requester (reID) requested it; Actor (acID) may act or has acted on it.
	Requester, Actor     string
	Requested, ActBefore time.Time
	Expires              time.Time
	ChargedFee           *ChargedFee
}

// TransferDomain performs an operation on a transfer. See TransferOrFind for lost
// responses to a request.
func (c *Client) TransferDomain(ctx context.Context, q TransferDomain) (Transfer, error) {
	cmd := &call{
		Command: Command{Verb: "transfer", Object: "domain", Request: q}, trid: q.ClTRID,
		attrs: []Attr{{"op", string(q.Op)}}, requiredExtensions: q.AgreedFee.requiredExtensions(), body: q.write,
		writeExtension: func(w *Writer, _ services) { q.AgreedFee.write(w, "transfer") },
	}
	if q.Op == TransferQuery {
		cmd.safe, cmd.priority = true, q.Priority
	}
	a, err := c.send(ctx, cmd)
	if err != nil {
		return Transfer{}, err
	}
	transfer := readTransfer(a.data.Child(nsDomain, "trnData"))
	transfer.Receipt = a.receipt()
	transfer.ChargedFee = readChargedFee(a.extension, "trnData")
	return transfer, nil
}

func (q *TransferDomain) write(w *Writer) {
	switch q.Op {
	case TransferRequest, TransferQuery, TransferApprove, TransferReject, TransferCancel:
	default:
		w.Fail("transfer", "is not a transfer operation")
	}
	w.Start("domain:transfer", Attr{"xmlns:domain", nsDomain})
	w.label("domain:name", q.Name)
	if q.Op == TransferRequest {
		w.years("domain:period", q.Years)
	}
	if q.AuthInfo != "" {
		writeAuthInfo(w, "domain", q.AuthInfo)
	}
	w.End("domain:transfer")
}

func readTransfer(data *Node) Transfer {
	return Transfer{
		Name:      data.value(nsDomain, "name"),
		Status:    data.value(nsDomain, "trStatus"),
		Requester: data.value(nsDomain, "reID"),
		Requested: data.timeValue(nsDomain, "reDate"),
		Actor:     data.value(nsDomain, "acID"),
		ActBefore: data.timeValue(nsDomain, "acDate"),
		Expires:   data.timeValue(nsDomain, "exDate"),
	}
}
