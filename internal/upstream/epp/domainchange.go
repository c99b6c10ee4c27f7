package epp

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"unicode"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
)

var _ domainchange.Registry = (*Provisioner)(nil)

// minNameservers is the minimum for a delegation: a single one is a point of
// failure, and most registries reject it.
const minNameservers = 2

const transferLock = "clientTransferProhibited"

// Capabilities reports which changes customers can make to names of a TLD.
func (p *Provisioner) Capabilities(tld string) domainchange.Capabilities {
	policy := p.policyOf(tld)
	return domainchange.Capabilities{
		MinNameservers: max(minNameservers, policy.MinNameservers), MaxNameservers: policy.MaxNameservers,
		Lock: !policy.NoTransferLock, Code: policy.Transfer != PushTransfer, NoHold: policy.NoHold,
		CodeLength: policy.AuthInfo.generatedLength(), CodeDays: policy.AuthInfo.ValidDays,
		Contacts: policy.NeedsContacts(), Tech: slices.Contains(policy.Roles, Tech), Billing: slices.Contains(policy.Roles, Billing), MaxYears: policy.MaxYears,
	}
}

// FetchRecord returns the registry's record of a domain that we sponsor. Portal
// pages call it, so it runs with quote priority.
func (p *Provisioner) FetchRecord(ctx context.Context, name string) (domainchange.Record, error) {
	info, err := p.infoSponsored(ctx, name, PriorityQuote)
	if err != nil {
		return domainchange.Record{}, err
	}
	return p.recordWithGlue(ctx, &info), nil
}

// recordWithGlue adds the addresses of the host objects below the domain, which its info does not
// contain. Those that can't be read are left out.
func (p *Provisioner) recordWithGlue(ctx context.Context, info *DomainInfo) domainchange.Record {
	record := changeRecordOf(info)
	record.Nameservers = slices.Clone(record.Nameservers)
	for i, server := range record.Nameservers {
		if len(server.Addresses) == 0 && strings.HasSuffix(server.Name, "."+strings.ToLower(info.Name)) {
			record.Nameservers[i].Addresses, _ = p.client.infoHost(ctx, server.Name)
		}
	}
	return record
}

// infoSponsored queries a domain and rejects one that another registrar sponsors.
func (p *Provisioner) infoSponsored(ctx context.Context, name string, priority Priority) (DomainInfo, error) {
	info, err := p.client.InfoDomain(ctx, InfoDomain{Name: name, Priority: priority})
	switch {
	case ResultCode(err) == CodeMissing:
		err = &registrar.Error{Kind: registrar.KindNotFound, Code: registrar.RegistryNotFound, Err: err}
	case ResultCode(err) == CodeAuthorization, err == nil && !strings.EqualFold(info.Sponsor, p.client.ClientID()):
		err = &registrar.Error{Kind: registrar.KindForbidden, Code: registrar.OtherRegistrar, Err: err}
	}
	return info, mapBillingError(err)
}

func changeRecordOf(info *DomainInfo) domainchange.Record {
	return domainchange.Record{
		Statuses: slices.Concat(info.Statuses, info.Grace), Nameservers: info.Nameservers, DS: info.DS,
		Created: info.Created, Updated: info.Updated, Expires: info.Expires, Handle: info.Registrant,
	}
}

// ApplyChange brings the domain into the state that the task describes. It compares
// with the registry's record and sends only the difference, so it can be repeated
// after a lost response.
func (p *Provisioner) ApplyChange(ctx context.Context, task domainchange.Task) (domainchange.Result, error) {
	for try := 1; ; try++ {
		info, err := p.infoSponsored(ctx, task.Name, PriorityOrder)
		if err != nil {
			return domainchange.Result{}, err
		}
		update, lacks := p.requiredUpdate(&info, task)
		switch {
		case !lacks && !p.needsGlue(task):
			return p.finishChange(ctx, &info, task)
		case lacks && task.Kind == domainchange.Nameservers && !task.Pending && !task.Immediate && len(info.DS) > 0:
			if err = p.createHosts(ctx, update); err == nil {
				return domainchange.Result{Signed: true, Record: changeRecordOf(&info)}, nil
			}
			return domainchange.Result{}, namingServers(task, mapBillingError(err))
		case info.Has("pendingUpdate"):
			return domainchange.Result{Pending: true}, nil
		case task.Pending: // the change was decided and the domain has not changed
			return domainchange.Result{}, p.dropNewContact(ctx, task, deniedError(p.client.Host(), nil))
		case task.Kind == domainchange.AuthCode && task.Code == "":
			return domainchange.Result{}, &registrar.Error{Kind: registrar.KindUnsupported, Code: domainchange.NoAuthCode, Detail: p.client.Host()}
		}
		pending, err := p.applyUpdate(ctx, task, update, lacks)
		switch {
		case err == nil && pending:
			return domainchange.Result{Pending: true}, nil
		case err == nil:
			if info, err = p.infoSponsored(ctx, task.Name, PriorityOrder); err != nil {
				return domainchange.Result{}, err
			}
			return p.finishChange(ctx, &info, task)
		case errors.Is(err, ErrOutcomeUnknown) && try < maxSends && ctx.Err() == nil:
			continue
		case isUndecided(err):
			return domainchange.Result{}, mapBillingError(err)
		}
		return domainchange.Result{}, p.dropNewContact(ctx, task, namingServers(task, err))
	}
}

// namingServers returns a refusal with those of the task's nameservers that the registry's explanation
// names, if it names some.
func namingServers(task domainchange.Task, err error) error {
	refused, ok := errors.AsType[*ResultError](err)
	if !ok || isUndecided(err) {
		return err
	}
	var named []string
	for _, server := range task.Nameservers {
		if slices.ContainsFunc(refused.Reasons, func(reason string) bool { return namesHost(reason, server.Name) }) {
			named = append(named, server.Name)
		}
	}
	if len(named) == 0 {
		return err
	}
	return &domainchange.ServersRefused{Names: named, Err: err}
}

// namesHost reports whether a text has a host name as a word.
func namesHost(text, host string) bool {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return r != '.' && r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return slices.ContainsFunc(words, func(word string) bool { return strings.EqualFold(strings.Trim(word, "."), host) })
}

// isUndecided reports whether the registry has not refused the change.
func isUndecided(err error) bool {
	kind := registrar.KindOf(err)
	return kind == registrar.KindUpstream || kind == registrar.KindRateLimited || kind == registrar.KindInternal
}

// needsGlue reports whether nameserver addresses belong to host objects rather than
// to the domain.
func (p *Provisioner) needsGlue(task domainchange.Task) bool {
	policy := p.policyOf(task.TLD)
	return !task.Pending && !policy.HostAttributes &&
		slices.ContainsFunc(task.Nameservers, func(server domainchange.Nameserver) bool { return len(server.Addresses) > 0 })
}

// requiredUpdate computes the update to send and reports whether it changes
// anything.
func (p *Provisioner) requiredUpdate(info *DomainInfo, task domainchange.Task) (update UpdateDomain, lacks bool) {
	policy := p.policyOf(task.TLD)
	update = UpdateDomain{Name: task.Name, HostAttributes: policy.HostAttributes, ClTRID: task.Transaction}
	switch task.Kind {
	case domainchange.Nameservers:
		update.Add.Nameservers, update.Remove.Nameservers = nameserverChange(info.Nameservers, task.Nameservers, policy.HostAttributes)
	case domainchange.AddDS:
		if !slices.Contains(info.DS, task.DS) {
			update.Add.DS = []domainchange.DS{task.DS}
		}
	case domainchange.RemoveDS:
		if slices.Contains(info.DS, task.DS) {
			update.Remove.DS = []domainchange.DS{task.DS}
		}
	case domainchange.RemoveAllDS:
		update.Remove.DS = info.DS
	case domainchange.Lock:
		if !info.Has(transferLock) {
			update.Add.Statuses = []string{transferLock}
		}
	case domainchange.Unlock:
		if info.Has(transferLock) {
			update.Remove.Statuses = []string{transferLock}
		}
	case domainchange.AuthCode:
		if task.Code == "" { // the registry's own code is read, not set
			return update, info.AuthInfo == "" || isMasked(info.AuthInfo)
		}
		if info.AuthInfo != task.Code {
			update.AuthInfo = task.Code
		}
	case domainchange.Secure:
		if !policy.NoTransferLock && !info.Has(transferLock) {
			update.Add.Statuses = []string{transferLock}
		}
		if task.Code != "" && info.AuthInfo != task.Code {
			update.AuthInfo = task.Code
		}
	case domainchange.Hold:
		if !info.Has(clientHold) {
			update.Add.Statuses = []string{clientHold}
		}
	case domainchange.Release:
		if info.Has(clientHold) {
			update.Remove.Statuses = []string{clientHold}
		}
	case domainchange.UpdateRegistrant:
		if !strings.EqualFold(info.Registrant, task.Handle) {
			update.Registrant = task.Handle
		}
		for _, wanted := range policy.roleHandles(task.Handle, task.Registrant) {
			if slices.Contains(info.Contacts, wanted) {
				continue
			}
			update.Add.Contacts = append(update.Add.Contacts, wanted)
			for _, contact := range info.Contacts {
				if contact.Role == wanted.Role {
					update.Remove.Contacts = append(update.Remove.Contacts, contact)
				}
			}
		}
	}
	return update, !update.isEmpty()
}

// nameserverChange computes the nameservers to add and remove. With host attributes
// their addresses are part of the domain, otherwise of the host object.
func nameserverChange(has, wants []domainchange.Nameserver, attributes bool) (add, remove []domainchange.Nameserver) {
	contains := func(all []domainchange.Nameserver, one domainchange.Nameserver) bool {
		return slices.ContainsFunc(all, func(other domainchange.Nameserver) bool {
			return one.Name == other.Name && (!attributes || sameAddresses(one.Addresses, other.Addresses))
		})
	}
	for _, server := range wants {
		if !contains(has, server) {
			add = append(add, server)
		}
	}
	for _, server := range has {
		if !contains(wants, server) {
			remove = append(remove, domainchange.Nameserver{Name: server.Name})
		}
	}
	return add, remove
}

func sameAddresses(a, b []netip.Addr) bool {
	return slices.Equal(slices.SortedFunc(slices.Values(a), netip.Addr.Compare), slices.SortedFunc(slices.Values(b), netip.Addr.Compare))
}

// applyUpdate creates the objects that the update refers to and sends it unless it
// is empty.
func (p *Provisioner) applyUpdate(ctx context.Context, task domainchange.Task, update UpdateDomain, lacks bool) (pending bool, err error) {
	if task.Kind == domainchange.UpdateRegistrant {
		if _, err := p.ensureContacts(ctx, task.TLD, task.Handle, task.Registrant, task.Transaction+"-c", true); err != nil {
			return false, err
		}
	}
	if task.Kind == domainchange.Nameservers && !update.HostAttributes {
		for _, server := range task.Nameservers {
			if err := p.ensureGlue(ctx, server); err != nil {
				return false, err
			}
		}
	}
	if !lacks {
		return false, nil
	}
	return p.client.UpdateDomain(ctx, update)
}

// createHosts creates the host objects of the nameservers that are to be added, so that a registry that
// refuses one does so before the domain loses its DS records. Those that exist keep their addresses
// until the nameservers change.
func (p *Provisioner) createHosts(ctx context.Context, update UpdateDomain) error {
	if update.HostAttributes {
		return nil
	}
	for _, server := range update.Add.Nameservers {
		if err := p.client.EnsureHost(ctx, CreateHost{Name: server.Name, Addresses: server.Addresses}); err != nil {
			return err
		}
	}
	return nil
}

// ensureGlue creates a host object with its addresses, or updates the addresses.
func (p *Provisioner) ensureGlue(ctx context.Context, server domainchange.Nameserver) error {
	err := p.client.EnsureHost(ctx, CreateHost{Name: server.Name, Addresses: server.Addresses})
	if err != nil || len(server.Addresses) == 0 {
		return err
	}
	addresses, err := p.client.infoHost(ctx, server.Name)
	if err != nil {
		return err
	}
	update := UpdateHost{Name: server.Name, Add: difference(server.Addresses, addresses), Remove: difference(addresses, server.Addresses)}
	if len(update.Add)+len(update.Remove) == 0 {
		return nil
	}
	return p.client.updateHost(ctx, update)
}

func difference(all, some []netip.Addr) []netip.Addr {
	return slices.DeleteFunc(slices.Clone(all), func(address netip.Addr) bool { return slices.Contains(some, address) })
}

// finishChange completes a task whose desired state is reached. It deletes the
// replaced contact unless another domain uses it.
func (p *Provisioner) finishChange(ctx context.Context, info *DomainInfo, task domainchange.Task) (domainchange.Result, error) {
	if task.Kind == domainchange.UpdateRegistrant && task.OldHandle != "" && !strings.EqualFold(task.OldHandle, task.Handle) {
		err := p.DeleteContact(ctx, task.OldHandle, task.Transaction+"-o")
		if err != nil && isUndecided(err) {
			return domainchange.Result{}, err
		}
	}
	result := domainchange.Result{Record: p.recordWithGlue(ctx, info)}
	if task.Kind == domainchange.AuthCode && task.Code == "" {
		result.Code = info.AuthInfo
	}
	return result, nil
}

// dropNewContact deletes the new contact after the registry's refusal, which it
// returns.
func (p *Provisioner) dropNewContact(ctx context.Context, task domainchange.Task, refusal error) error {
	if task.Kind != domainchange.UpdateRegistrant {
		return refusal
	}
	if err := p.DeleteContact(ctx, task.Handle, task.Transaction+"-x"); err != nil && isUndecided(err) {
		return err
	}
	return refusal
}
