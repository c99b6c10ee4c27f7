package epp

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
)

var _ lifecycle.Registry = (*Provisioner)(nil)

const clientHold = "clientHold"

// RegistryState returns what the registry shows of a domain.
func (p *Provisioner) RegistryState(ctx context.Context, name string) (lifecycle.RegistryState, error) {
	_, state, err := p.infoState(ctx, name)
	return state, err
}

// infoState queries a domain. A domain that is gone or sponsored elsewhere is no error.
func (p *Provisioner) infoState(ctx context.Context, name string) (DomainInfo, lifecycle.RegistryState, error) {
	info, err := p.infoSponsored(ctx, name, PriorityOrder)
	switch code := registrar.CodeOf(err); {
	case code == registrar.RegistryNotFound:
		return info, lifecycle.Gone, nil
	case code == registrar.OtherRegistrar:
		return info, lifecycle.Elsewhere, nil
	case err != nil:
		return info, "", err
	case info.isDeleted():
		return info, lifecycle.Deleted, nil
	}
	return info, lifecycle.Registered, nil
}

// Hold sets clientHold on a registered domain, unless it is set.
func (p *Provisioner) Hold(ctx context.Context, name, transaction string) (lifecycle.RegistryState, error) {
	info, state, err := p.infoState(ctx, name)
	if err != nil || state != lifecycle.Registered || info.Has(clientHold) {
		return state, err
	}
	_, err = p.client.UpdateDomain(ctx, UpdateDomain{Name: name, Add: DomainElements{Statuses: []string{clientHold}}, ClTRID: transaction})
	return state, mapBillingError(err)
}

// Delete deletes a registered domain and returns its state afterwards, and what the registry
// charges for the deletion.
func (p *Provisioner) Delete(ctx context.Context, name, transaction string) (lifecycle.RegistryState, registrar.Money, error) {
	state, err := p.RegistryState(ctx, name)
	if err != nil || state != lifecycle.Registered {
		return state, registrar.Money{}, err
	}
	_, fee, err := p.client.DeleteDomain(ctx, name, transaction)
	if err != nil && ResultCode(err) != CodeMissing {
		return state, fee, mapBillingError(err)
	}
	state, err = p.RegistryState(ctx, name)
	return state, fee, err
}
