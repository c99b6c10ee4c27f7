package store

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/publicrecord"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

var _ publicrecord.Store = (*DB)(nil)

// FindPublicDomain returns the domain that is held under a name.
func (db *DB) FindPublicDomain(ctx context.Context, name string) (publicrecord.Domain, bool, error) {
	return decodeRow(publicDomainOf)(db.read().FindPublicDomain(ctx, name))
}

// GetPublicDomain returns a domain by its id.
func (db *DB) GetPublicDomain(ctx context.Context, id string) (publicrecord.Domain, bool, error) {
	if sqldb.IsUnstorable(id) {
		return publicrecord.Domain{}, false, nil
	}
	return decodeRow(func(row query.GetPublicDomainRow) (publicrecord.Domain, error) {
		return publicDomainOf(query.FindPublicDomainRow(row))
	})(db.read().GetPublicDomain(ctx, id))
}

func publicDomainOf(row query.FindPublicDomainRow) (publicrecord.Domain, error) {
	domain := publicrecord.Domain{
		ID: row.ID, Name: row.Name, TLD: row.Tld, Status: registrar.DomainStatus(row.Status), PaidUntil: fromMicros(row.PaidUntil),
		RegistryStatus: strings.Fields(row.RegistryStatus), RegistryExpires: fromMicros(row.RegistryExpires),
		ReadAt: fromMicros(cmp.Or(row.ReadAt, row.SyncedAt, row.UpdatedAt)), State: row.State, Country: row.Country,
	}
	if own := fromJSON[registrar.Registrant](row.Registrant); row.Registrant != "" {
		domain.State, domain.Country = own.State, own.Country
	}
	if row.Data == "" {
		return domain, nil
	}
	domain.Record = &domainchange.Record{}
	err := json.Unmarshal([]byte(row.Data), domain.Record)
	return domain, err
}
