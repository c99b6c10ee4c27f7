package epp

import (
	"context"
	"crypto/rand"
	"errors"
	"net/netip"
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/steward"
)

var _ steward.Registry = (*Desk)(nil)

// leastNameservers is how many a holder must name: one alone is out of reach when
// it fails, and most registries refuse it.
const leastNameservers = 2

// transferLock is the status by which we keep a domain from leaving.
const transferLock = "clientTransferProhibited"

// Powers is what holders can do with names of an extension.
func (d *Desk) Powers(tld string) steward.Powers {
	policy := d.policyOf(tld)
	powers := steward.Powers{
		MinNameservers: max(leastNameservers, policy.MinNameservers), MaxNameservers: policy.MaxNameservers,
		Lock: !policy.NoLock, Code: policy.Transfer != Push, CodeDays: policy.AuthInfo.Days,
		Contacts: policy.NeedsContacts(), AtExpiry: policy.AtExpiry.String(),
	}
	if policy.AuthInfo.Max > 0 {
		powers.CodeLength = min(policy.AuthInfo.Max, max(policy.AuthInfo.Min, codeLength))
	}
	return powers
}

// Look is what the registry knows of a domain of ours. Pages ask it, so it waits for
// whatever money depends on.
func (d *Desk) Look(ctx context.Context, name string) (steward.Record, error) {
	info, err := d.ours(ctx, name, Quotes)
	return recordOf(&info), err
}

// ours asks for a domain; one that is another registrar's is refused.
func (d *Desk) ours(ctx context.Context, name string, class Class) (DomainInfo, error) {
	info, err := d.client.InfoDomain(ctx, InfoDomain{Name: name, Class: class})
	switch {
	case ResultCode(err) == CodeMissing:
		err = &registrar.Error{Kind: registrar.KindNotFound, Code: steward.Gone, Err: err}
	case ResultCode(err) == CodeAuthorization, err == nil && !strings.EqualFold(info.Sponsor, d.client.ClientID()):
		err = &registrar.Error{Kind: registrar.KindForbidden, Code: steward.Elsewhere, Err: err}
	}
	return info, told(err)
}

func recordOf(info *DomainInfo) steward.Record {
	record := steward.Record{Created: info.Created, Updated: info.Updated, Expires: info.Expires, Handle: info.Registrant}
	for _, status := range info.Statuses {
		record.Statuses = append(record.Statuses, status.Value)
	}
	record.Statuses = append(record.Statuses, info.Grace...)
	for _, server := range info.Nameservers {
		record.Nameservers = append(record.Nameservers, steward.Nameserver(server))
	}
	for _, ds := range info.DNSSEC.DS {
		record.DS = append(record.DS, steward.DS(ds))
	}
	return record
}

// Carry makes what the task wants so. It asks what is so already and sends the
// rest, so a lost answer is no more than a reason to ask again.
func (d *Desk) Carry(ctx context.Context, task steward.Task) (steward.Result, error) {
	for try := 1; ; try++ {
		info, err := d.ours(ctx, task.Name, Orders)
		if err != nil {
			return steward.Result{}, err
		}
		update, lacks := d.lacking(&info, task)
		switch {
		case !lacks && !d.hasGlue(task):
			return d.settled(ctx, &info, task)
		case info.Has("pendingUpdate"):
			return steward.Result{Pending: true}, nil
		case task.Pending: // it was decided, and nothing has changed
			return steward.Result{}, d.dropNew(ctx, task, denied(d.client.Host(), nil))
		case task.Kind == steward.AuthCode && task.Code == "":
			return steward.Result{}, &registrar.Error{Kind: registrar.KindUnsupported, Code: steward.NoCode, Detail: d.client.Host()}
		}
		receipt, err := d.send(ctx, task, update, lacks)
		switch {
		case err == nil && receipt.Pending():
			return steward.Result{Pending: true}, nil
		case err == nil:
			if info, err = d.ours(ctx, task.Name, Orders); err != nil {
				return steward.Result{}, err
			}
			return d.settled(ctx, &info, task)
		case errors.Is(err, ErrOutcomeUnknown) && try < mostSends && ctx.Err() == nil:
			continue
		case undecided(err):
			return steward.Result{}, told(err)
		}
		return steward.Result{}, d.dropNew(ctx, task, err)
	}
}

// undecided says that the registry has not said no.
func undecided(err error) bool {
	kind := registrar.KindOf(err)
	return kind == registrar.KindUpstream || kind == registrar.KindRateLimited || kind == registrar.KindInternal
}

// hasGlue says that nameservers have addresses which the domain does not tell,
// because they are the host's.
func (d *Desk) hasGlue(task steward.Task) bool {
	policy := d.policyOf(task.TLD)
	return !task.Pending && !policy.HostAttributes &&
		slices.ContainsFunc(task.Nameservers, func(server steward.Nameserver) bool { return len(server.Addresses) > 0 })
}

// lacking is what has to be sent, and whether anything has to.
func (d *Desk) lacking(info *DomainInfo, task steward.Task) (update UpdateDomain, lacks bool) {
	policy := d.policyOf(task.TLD)
	update = UpdateDomain{Name: task.Name, HostAttributes: policy.HostAttributes, ClTRID: task.Transaction}
	switch task.Kind {
	case steward.Nameservers:
		update.Add.Nameservers, update.Remove.Nameservers = nameserverChange(info.Nameservers, task.Nameservers, policy.HostAttributes)
	case steward.AddDS:
		if !slices.Contains(info.DNSSEC.DS, DS(task.DS)) {
			update.DNSSEC.Add.DS = []DS{DS(task.DS)}
		}
	case steward.RemoveDS:
		if slices.Contains(info.DNSSEC.DS, DS(task.DS)) {
			update.DNSSEC.Remove.DS = []DS{DS(task.DS)}
		}
	case steward.Lock:
		if !info.Has(transferLock) {
			update.Add.Statuses = []string{transferLock}
		}
	case steward.Unlock:
		if info.Has(transferLock) {
			update.Remove.Statuses = []string{transferLock}
		}
	case steward.AuthCode:
		if task.Code == "" { // the registry's own is read, not set
			return update, info.AuthInfo == "" || masked(info.AuthInfo)
		}
		if info.AuthInfo != task.Code {
			update.AuthInfo = task.Code
		}
	case steward.Secure:
		if !policy.NoLock && !info.Has(transferLock) {
			update.Add.Statuses = []string{transferLock}
		}
		if task.Code != "" && info.AuthInfo != task.Code {
			update.AuthInfo = task.Code
		}
	case steward.TakeHolder:
		if !strings.EqualFold(info.Registrant, task.Handle) {
			update.Registrant = task.Handle
		}
		for _, role := range policy.Roles {
			if role == Registrant || slices.Contains(info.Contacts, Contact{Role: role, ID: task.Handle}) {
				continue
			}
			update.Add.Contacts = append(update.Add.Contacts, Contact{Role: role, ID: task.Handle})
			for _, contact := range info.Contacts {
				if contact.Role == role {
					update.Remove.Contacts = append(update.Remove.Contacts, contact)
				}
			}
		}
	}
	return update, !update.Add.empty() || !update.Remove.empty() || update.Registrant != "" || update.AuthInfo != "" || !update.DNSSEC.empty()
}

// nameserverChange is what has to be added and taken away. Addresses are the
// domain's own where nameservers are sent with it, and the host's elsewhere.
func nameserverChange(has []Nameserver, wants []steward.Nameserver, attributes bool) (add, remove []Nameserver) {
	same := func(a, b Nameserver) bool {
		return a.Name == b.Name && (!attributes || sameAddresses(a.Addresses, b.Addresses))
	}
	for _, server := range wants {
		wanted := Nameserver{Name: server.Name}
		if attributes {
			wanted.Addresses = server.Addresses
		}
		if !slices.ContainsFunc(has, func(other Nameserver) bool { return same(other, wanted) }) {
			add = append(add, wanted)
		}
	}
	for _, server := range has {
		if !slices.ContainsFunc(wants, func(other steward.Nameserver) bool { return same(server, Nameserver(other)) }) {
			remove = append(remove, Nameserver{Name: server.Name})
		}
	}
	return add, remove
}

func sameAddresses(a, b []netip.Addr) bool {
	return slices.Equal(slices.SortedFunc(slices.Values(a), netip.Addr.Compare), slices.SortedFunc(slices.Values(b), netip.Addr.Compare))
}

// send makes what the update refers to, and sends it if there is anything in it.
func (d *Desk) send(ctx context.Context, task steward.Task, update UpdateDomain, lacks bool) (Receipt, error) {
	if task.Kind == steward.TakeHolder {
		_, _, err := d.client.CreateContactOrFind(ctx, CreateContact{
			ID: task.Handle, Person: personOf(task.Holder), AuthInfo: rand.Text()[:codeLength], ClTRID: task.Transaction + "-c",
		}, Earlier{Sent: true, Since: task.Since})
		if err != nil {
			return Receipt{}, err
		}
	}
	if task.Kind == steward.Nameservers && !update.HostAttributes {
		for _, server := range task.Nameservers {
			if err := d.ensureGlue(ctx, server); err != nil {
				return Receipt{}, err
			}
		}
	}
	if !lacks {
		return Receipt{}, nil
	}
	return d.client.UpdateDomain(ctx, update)
}

// ensureGlue makes a nameserver object with its addresses, or gives it those.
func (d *Desk) ensureGlue(ctx context.Context, server steward.Nameserver) error {
	err := d.client.EnsureHost(ctx, CreateHost{Name: server.Name, Addresses: server.Addresses})
	if err != nil || len(server.Addresses) == 0 {
		return err
	}
	host, err := d.client.InfoHost(ctx, server.Name)
	if err != nil {
		return err
	}
	update := UpdateHost{
		Name: server.Name, AddAddresses: without(server.Addresses, host.Addresses), RemoveAddresses: without(host.Addresses, server.Addresses),
	}
	if len(update.AddAddresses)+len(update.RemoveAddresses) == 0 {
		return nil
	}
	_, err = d.client.UpdateHost(ctx, update)
	return err
}

func without(all, some []netip.Addr) []netip.Addr {
	return slices.DeleteFunc(slices.Clone(all), func(address netip.Addr) bool { return slices.Contains(some, address) })
}

// settled is the end of a task whose wish is so. The contact that went is deleted,
// unless another domain uses it.
func (d *Desk) settled(ctx context.Context, info *DomainInfo, task steward.Task) (steward.Result, error) {
	if task.Kind == steward.TakeHolder && task.OldHandle != "" && !strings.EqualFold(task.OldHandle, task.Handle) {
		err := d.DropContact(ctx, task.OldHandle, task.Transaction+"-o")
		if err != nil && undecided(err) {
			return steward.Result{}, err
		}
	}
	result := steward.Result{Record: recordOf(info)}
	if task.Kind == steward.AuthCode && task.Code == "" {
		result.Code = info.AuthInfo
	}
	return result, nil
}

// dropNew takes a new contact back after the registry's no, which it returns.
func (d *Desk) dropNew(ctx context.Context, task steward.Task, refusal error) error {
	if task.Kind != steward.TakeHolder {
		return refusal
	}
	if err := d.DropContact(ctx, task.Handle, task.Transaction+"-x"); err != nil && undecided(err) {
		return err
	}
	return refusal
}
