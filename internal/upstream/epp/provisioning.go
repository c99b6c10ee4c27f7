package epp

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// Desk carries out paid lines at one account, by the policies of its extensions.
type Desk struct {
	client   *Client
	policyOf func(tld string) Policy
}

var _ provision.Account = (*Desk)(nil)

// NewDesk makes a Desk. policyOf is how the account presents an extension; nil
// means as the table of this package says.
func NewDesk(client *Client, policyOf func(tld string) Policy) *Desk {
	if policyOf == nil {
		policyOf = func(tld string) Policy { return PolicyOf(tld, nil) }
	}
	return &Desk{client: client, policyOf: policyOf}
}

// codeLength is how long the auth codes are that we choose, where we may.
const codeLength = 16

// Rules is what the extension wants of a registration.
func (d *Desk) Rules(tld string) provision.Rules {
	policy := d.policyOf(tld)
	rules := provision.Rules{
		Contacts: policy.NeedsContacts(), HostObjects: !policy.HostAttributes, TransferYears: policy.TransferYears,
	}
	if !policy.AuthInfo.OnDemand && policy.AuthInfo.Max > 0 {
		rules.CodeLength = min(policy.AuthInfo.Max, max(policy.AuthInfo.Min, codeLength))
	}
	return rules
}

// EnsureContact makes the contact of a line, or finds it.
func (d *Desk) EnsureContact(ctx context.Context, contact provision.Contact) (string, error) {
	created, _, err := d.client.CreateContactOrFind(ctx, CreateContact{
		ID: contact.Handle, Person: personOf(contact.Holder), AuthInfo: rand.Text()[:codeLength], ClTRID: contact.Transaction,
	}, Earlier{Sent: contact.Asked, Since: contact.Since})
	return created.ID, told(err)
}

// DropContact deletes a contact that nobody uses. One that is gone is no error.
func (d *Desk) DropContact(ctx context.Context, handle, transaction string) error {
	_, err := d.client.DeleteContact(ctx, handle, transaction)
	if ResultCode(err) == CodeMissing {
		return nil
	}
	return told(err)
}

// EnsureHosts makes the nameserver objects that do not exist yet.
func (d *Desk) EnsureHosts(ctx context.Context, names []string) error {
	for _, name := range names {
		if err := d.client.EnsureHost(ctx, CreateHost{Name: name}); err != nil {
			return told(err)
		}
	}
	return nil
}

// creation is the command of a registration.
func (d *Desk) creation(request provision.Request) CreateDomain {
	policy := d.policyOf(request.TLD)
	q := CreateDomain{
		Name: request.Name, Years: request.Years, HostAttributes: policy.HostAttributes, AuthInfo: request.Code, ClTRID: request.Transaction,
	}
	for _, server := range request.Nameservers {
		q.Nameservers = append(q.Nameservers, Nameserver{Name: server})
	}
	for _, role := range policy.Roles {
		if role == Registrant {
			q.Registrant = request.Handle
			continue
		}
		q.Contacts = append(q.Contacts, Contact{Role: role, ID: request.Handle})
	}
	return q
}

// Request registers, transfers or renews. If an earlier call has done it, it finds
// that.
func (d *Desk) Request(ctx context.Context, request provision.Request) (provision.Outcome, error) {
	earlier := Earlier{Sent: request.Asked, Since: request.Since}
	switch request.Kind {
	case provision.Renew:
		return d.renew(ctx, request, earlier)
	case provision.Transfer:
		return d.requestTransfer(ctx, request, earlier)
	default:
		return d.register(ctx, request, earlier)
	}
}

func (d *Desk) register(ctx context.Context, request provision.Request, earlier Earlier) (provision.Outcome, error) {
	q := d.creation(request)
	policy := d.policyOf(request.TLD)
	if err := policy.Check(&q); err != nil {
		return provision.Outcome{}, err
	}
	created, _, err := d.client.CreateOrFind(ctx, q, earlier)
	if err != nil {
		return provision.Outcome{}, told(err)
	}
	return provision.Outcome{Pending: created.Pending(), Expires: created.Expires}, nil
}

func (d *Desk) requestTransfer(ctx context.Context, request provision.Request, earlier Earlier) (provision.Outcome, error) {
	moved, _, err := d.client.TransferOrFind(ctx, d.transfer(request), earlier)
	if err != nil {
		return provision.Outcome{}, told(err)
	}
	if moved.Pending() || moved.Status == TransferPending {
		return provision.Outcome{Pending: true}, nil
	}
	return d.transferred(ctx, request)
}

func (d *Desk) transfer(request provision.Request) TransferDomain {
	policy := d.policyOf(request.TLD)
	return TransferDomain{
		Op: TransferRequest, Name: request.Name, Years: policy.TransferYears, AuthInfo: request.Code, ClTRID: request.Transaction,
	}
}

// Outcome asks what became of a pending request.
func (d *Desk) Outcome(ctx context.Context, request provision.Request) (provision.Outcome, error) {
	switch request.Kind {
	case provision.Renew:
		return d.renewalOutcome(ctx, request)
	case provision.Transfer:
		return d.transferOutcome(ctx, request)
	default:
		return d.registrationOutcome(ctx, request)
	}
}

func (d *Desk) registrationOutcome(ctx context.Context, request provision.Request) (provision.Outcome, error) {
	info, err := d.client.InfoDomain(ctx, InfoDomain{Name: request.Name})
	q := d.creation(request)
	switch {
	case ResultCode(err) == CodeMissing || ResultCode(err) == CodeAuthorization:
		return provision.Outcome{}, denied(d.client.Host(), err)
	case err != nil:
		return provision.Outcome{}, told(err)
	case !madeBy(&info, &q, d.client.ClientID(), request.Since):
		return provision.Outcome{}, denied(d.client.Host(), nil)
	}
	return provision.Outcome{Pending: info.Has("pendingCreate"), Expires: info.Expires}, nil
}

func (d *Desk) transferOutcome(ctx context.Context, request provision.Request) (provision.Outcome, error) {
	state, err := d.client.TransferDomain(ctx, TransferDomain{Op: TransferQuery, Name: request.Name, AuthInfo: request.Code})
	switch code := ResultCode(err); {
	case err != nil && (code == 0 || registrar.KindOf(err) == registrar.KindUpstream):
		return provision.Outcome{}, told(err)
	case err == nil && state.Status == TransferPending && strings.EqualFold(state.Requester, d.client.ClientID()):
		return provision.Outcome{Pending: true}, nil
	}
	// Ended one way or the other; whose it is says which.
	return d.transferred(ctx, request)
}

// transferred is the end of a transfer: the domain is ours, or it is not.
func (d *Desk) transferred(ctx context.Context, request provision.Request) (provision.Outcome, error) {
	moved, ours, err := d.client.findTransferred(ctx, d.transfer(request))
	switch {
	case err != nil:
		return provision.Outcome{}, told(err)
	case !ours:
		return provision.Outcome{}, denied(d.client.Host(), nil)
	}
	return provision.Outcome{Expires: moved.Expires}, nil
}

// Record is what the registry knows of a domain.
func (d *Desk) Record(ctx context.Context, name string) (provision.Record, error) {
	info, err := d.client.InfoDomain(ctx, InfoDomain{Name: name})
	switch {
	case ResultCode(err) == CodeMissing:
		return provision.Record{}, &registrar.Error{Kind: registrar.KindNotFound, Code: provision.Gone, Err: err}
	case ResultCode(err) == CodeAuthorization:
		return provision.Record{}, &registrar.Error{Kind: registrar.KindForbidden, Code: provision.Elsewhere, Err: err}
	case err != nil:
		return provision.Record{}, told(err)
	}
	record := provision.Record{
		Name: info.Name, Sponsor: info.Sponsor, Created: info.Created, Expires: info.Expires, Handle: info.Registrant,
		Redemption: info.deleted(),
	}
	for _, status := range info.Statuses {
		record.Statuses = append(record.Statuses, status.Value)
	}
	record.Statuses = append(record.Statuses, info.Grace...)
	for _, server := range info.Nameservers {
		record.Nameservers = append(record.Nameservers, server.Name)
	}
	if !strings.EqualFold(info.Sponsor, d.client.ClientID()) {
		return record, &registrar.Error{Kind: registrar.KindForbidden, Code: provision.Elsewhere}
	}
	return record, nil
}

// NextMessage is the oldest message that waits; nil if none does.
func (d *Desk) NextMessage(ctx context.Context) (*provision.Message, error) {
	m, err := d.client.Poll(ctx)
	if err != nil || m == nil {
		return nil, told(err)
	}
	message := &provision.Message{ID: m.ID, Text: m.Text, Queued: m.Queued, Waiting: m.Count}
	switch {
	case m.Decision != nil && m.Decision.Object == "domain":
		message.Name = strings.ToLower(m.Decision.Key)
	case m.Transfer != nil:
		message.Name = strings.ToLower(m.Transfer.Name)
	case m.Domain != nil:
		message.Name = strings.ToLower(m.Domain.Name)
	}
	return message, nil
}

// Acknowledge takes a message out of the queue.
func (d *Desk) Acknowledge(ctx context.Context, id string) error {
	_, err := d.client.Acknowledge(ctx, id)
	return told(err)
}

// told turns what only a person can mend into the code that raises the alarm.
func told(err error) error {
	if errors.Is(err, &registrar.Error{Code: ResultBilling}) {
		return &registrar.Error{Kind: registrar.KindUpstream, Code: provision.Billing, Detail: "the account at the registry has no money left", Err: err}
	}
	return err
}

func denied(host string, cause error) error {
	return &registrar.Error{Kind: registrar.KindConflict, Code: provision.Denied, Detail: host, Err: cause}
}
