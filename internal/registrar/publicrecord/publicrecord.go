package publicrecord

import (
	"context"
	"errors"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
)

// Store reads domains; false means that there is no such domain.
type Store interface {
	// FindPublicDomain returns the domain that is held under a name in A-labels.
	FindPublicDomain(ctx context.Context, name string) (Domain, bool, error)
	GetPublicDomain(ctx context.Context, id string) (Domain, bool, error)
}

// Domain is a stored domain of any status.
type Domain struct {
	ID, Name, TLD   string
	Status          registrar.DomainStatus
	PaidUntil       time.Time
	RegistryStatus  []string // as last synced
	RegistryExpires time.Time
	ReadAt          time.Time            // when the registry was last read
	Record          *domainchange.Record // nil if none is stored
	State, Country  string               // the registrant's
}

// Record is what is public about a domain.
type Record struct {
	Name, TLD string
	Handle    string   // the registrant's, for this domain only
	Statuses  []string // of RFC 8056, at least one
	// These are zero if unknown.
	Registered, Changed, Expires time.Time
	PaidUntil                    time.Time // the end of the paid term
	ReadAt                       time.Time // when the registry was last read
	// Delegated means that nameservers and DS records are known; they may be none.
	Delegated   bool
	Nameservers []domainchange.Nameserver
	DS          []domainchange.DS
	// State and Country are the registrant's. Country is a code of ISO 3166-1; empty if unknown.
	State, Country string
}

// NotFound goes with KindNotFound: no such domain or handle is public.
const NotFound registrar.Code = "rdap_not_found"

// queryTimeout bounds the only query of a lookup.
const queryTimeout = 5 * time.Second

// Service answers public lookups.
type Service struct {
	store Store
	seal  *registrar.Seal
}

// New returns a Service. The seal makes the handles.
func New(store Store, seal *registrar.Seal) (*Service, error) {
	if store == nil || seal == nil {
		return nil, errors.New("publicrecord: a store and a seal are required")
	}
	return &Service{store: store, seal: seal}, nil
}

// Domain returns the record of a domain by its name in A-labels.
func (s *Service) Domain(ctx context.Context, name string) (Record, error) {
	return s.lookup(ctx, s.store.FindPublicDomain, name)
}

// Registrant returns the record of the domain whose registrant has a handle.
func (s *Service) Registrant(ctx context.Context, handle string) (Record, error) {
	id, err := s.seal.OpenFixed(registrar.RDAPHandlePurpose, handle)
	if err != nil {
		return Record{}, registrar.NotFound(NotFound)
	}
	return s.lookup(ctx, s.store.GetPublicDomain, id)
}

func (s *Service) lookup(ctx context.Context, find func(context.Context, string) (Domain, bool, error), key string) (Record, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	domain, found, err := find(ctx, key)
	if err != nil {
		return Record{}, registrar.DatabaseError(err)
	}
	if !found || !isPublic(domain.Status) {
		return Record{}, registrar.NotFound(NotFound)
	}
	return s.recordOf(domain), nil
}

// isPublic reports whether we sponsor a domain of this status.
func isPublic(status registrar.DomainStatus) bool {
	return status == registrar.DomainActive || status == registrar.DomainExpired || status == registrar.DomainRedemption
}

func (s *Service) recordOf(domain Domain) Record {
	record := Record{
		Name: domain.Name, TLD: domain.TLD, Handle: s.seal.SealFixed(registrar.RDAPHandlePurpose, domain.ID),
		Expires: domain.RegistryExpires, PaidUntil: domain.PaidUntil, ReadAt: domain.ReadAt, State: domain.State, Country: domain.Country,
	}
	statuses := domain.RegistryStatus
	if stored := domain.Record; stored != nil {
		statuses = stored.Statuses
		record.Delegated, record.Nameservers, record.DS = true, stored.Nameservers, stored.DS
		record.Registered = stored.Created
		if stored.Updated.After(stored.Created) {
			record.Changed = stored.Updated
		}
		if record.Expires.IsZero() { // a renewal stores the new date with the domain first
			record.Expires = stored.Expires
		}
	}
	record.Statuses = publicStatuses(statuses, domain.Status == registrar.DomainRedemption)
	return record
}
