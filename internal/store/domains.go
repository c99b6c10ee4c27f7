package store

import (
	"cmp"
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

var _ portfolio.Store = (*DB)(nil)

// ListCustomerDomains returns the account's domains.
func (db *DB) ListCustomerDomains(ctx context.Context, customer string) ([]portfolio.Domain, error) {
	return rowsAs(portfolioDomainOf)(db.read().ListCustomerDomains(ctx, customer))
}

func portfolioDomainOf(row query.ListCustomerDomainsRow) portfolio.Domain {
	return portfolio.Domain{
		ID: row.ID, Customer: row.CustomerID, Name: row.Name, TLD: row.Tld,
		Status: registrar.DomainStatus(row.Status), PaidUntil: fromMicros(row.PaidUntil), AtTermEnd: registrar.TermEndChoice(row.AtTermEnd),
		Premium: row.Premium != 0, CreatedAt: fromMicros(row.CreatedAt), UpdatedAt: fromMicros(row.UpdatedAt),
	}
}

func domainWithTermOf(row query.SearchDomainsRow) portfolio.Domain {
	return portfolio.Domain{
		ID: row.ID, Customer: row.CustomerID, Name: row.Name, TLD: row.Tld,
		Status: registrar.DomainStatus(row.Status), PaidUntil: fromMicros(row.PaidUntil), AtTermEnd: registrar.TermEndChoice(row.AtTermEnd),
		Term: portfolio.Term{
			Renewal: row.RenewalState, Gross: registrar.Cents(row.RenewalGross), ChargeAt: fromMicros(row.RenewalChargeAt), Attempts: int(row.RenewalAttempts),
			Unpaid: row.EndState, WaitsForOperator: row.EndWaitsFor != "",
			StepAt: fromMicros(row.EndStepAt), HeldAt: fromMicros(row.EndHeldAt), DeletedAt: fromMicros(row.EndDeletedAt), Locked: row.RenewalLocked,
		},
		Restriction:    restrictionOf(row.Status, row.RegistryStatus, row.ContactHold, row.Disputed, row.Leaving),
		TransferBarred: row.TransferLocked || row.Disputed,
		RegistryStatus: strings.Fields(row.RegistryStatus), Folder: row.Folder, Note: row.Note,
		Premium: row.Premium != 0, CreatedAt: fromMicros(row.CreatedAt), UpdatedAt: fromMicros(row.UpdatedAt),
	}
}

// restrictionOf returns what restricts an active domain. A suspension counts only once the
// registry has confirmed it.
func restrictionOf(status, registryStatus, contactHold string, disputed, leaving bool) portfolio.State {
	held := strings.Contains(registryStatus, "Hold")
	switch {
	case registrar.DomainStatus(status) != registrar.DomainActive:
		return ""
	case leaving:
		return portfolio.Leaving
	case held && contactHold != "":
		return portfolio.Suspended
	case held:
		return portfolio.Held
	case disputed:
		return portfolio.Disputed
	default:
		return ""
	}
}

// ListRestrictedDomains returns a customer's restricted domains, by name.
func (db *DB) ListRestrictedDomains(ctx context.Context, customer string) ([]portfolio.Domain, error) {
	return listRestricted(ctx, db.read(), customer)
}

func listRestricted(ctx context.Context, q *query.Queries, customer string) ([]portfolio.Domain, error) {
	return rowsAs(func(row query.ListRestrictedDomainsRow) portfolio.Domain {
		return portfolio.Domain{
			ID: row.ID, Name: row.Name, TLD: row.Tld, Folder: row.Folder, Status: registrar.DomainActive,
			Restriction: restrictionOf(string(registrar.DomainActive), row.RegistryStatus, row.ContactHold, true, row.Leaving),
		}
	})(q.ListRestrictedDomains(ctx, customer, portfolio.MaxListed))
}

// GetDomain returns a customer's domain with the end of its term.
func (db *DB) GetDomain(ctx context.Context, customer, domain string) (portfolio.Domain, bool, error) {
	return rowAs(func(row query.GetDomainTermRow) portfolio.Domain {
		return domainWithTermOf(query.SearchDomainsRow(row))
	})(db.read().GetDomainTerm(ctx, domain, customer))
}

// ListDomainsUnderWay returns what is not finished about some of a customer's domains, by id.
func (db *DB) ListDomainsUnderWay(ctx context.Context, customer string, domains []string) (map[string]portfolio.UnderWay, error) {
	rows, err := db.read().ListDomainsUnderWay(ctx, customer, jsonText(domains))
	underWay := make(map[string]portfolio.UnderWay, len(rows))
	for _, row := range rows {
		underWay[row.ID] = portfolio.UnderWay{ConfirmBy: fromMicros(row.ConfirmBy), Change: row.ChangeKind, ChangeAt: fromMicros(row.ChangeAt)}
	}
	return underWay, err
}

// ListDomainNotices returns the notices about a customer's domain.
func (db *DB) ListDomainNotices(ctx context.Context, customer, domain string, limit int) ([]portfolio.Notice, error) {
	return rowsAs(func(row query.ListDomainNoticesRow) portfolio.Notice {
		return portfolio.Notice{
			Kind: registrar.MailKind(row.Kind), Recipient: row.Recipient, Subject: row.Subject, Body: row.Body,
			SentAt: fromMicros(row.SentAt), Accepted: row.Accepted != 0,
		}
	})(db.read().ListDomainNotices(ctx, query.ListDomainNoticesParams{DomainID: domain, CustomerID: customer, MaxRows: int32(limit)}))
}

// ListReceipts returns the receipts of a customer's withdrawal notices with some ids, the newest first.
func (db *DB) ListReceipts(ctx context.Context, customer string, ids []string, limit int) ([]portfolio.Notice, error) {
	return rowsAs(func(row query.SentNotice) portfolio.Notice {
		return portfolio.Notice{
			Kind: registrar.MailKind(row.Kind), Recipient: row.Recipient, Subject: row.Subject, Body: row.Body,
			SentAt: fromMicros(row.SentAt), Accepted: row.Accepted != 0,
		}
	})(db.read().ListReceipts(ctx, query.ListReceiptsParams{CustomerID: customer, NoticeIds: jsonText(ids), MaxRows: int32(limit)}))
}

// ListDomainsPage returns a page of the account's domains.
func (db *DB) ListDomainsPage(ctx context.Context, customer string, filter portfolio.Filter, limit int) ([]portfolio.Domain, error) {
	if sqldb.IsUnstorable(filter.AfterName) || sqldb.IsUnstorable(filter.AfterID) || sqldb.IsUnstorable(filter.TLD) || sqldb.IsUnstorable(filter.Folder) {
		return nil, nil
	}
	by := searchParams(customer, filter)
	switch filter.Sort {
	case portfolio.SortTerm:
		return rowsAs(func(row query.SearchDomainsByTermRow) portfolio.Domain {
			return domainWithTermOf(query.SearchDomainsRow(row))
		})(db.read().SearchDomainsByTerm(ctx, query.SearchDomainsByTermParams{
			CustomerID: customer, AfterEnd: micros(filter.AfterEnd), AfterID: filter.AfterID, Pattern: by.Pattern, Status: by.Status, PaidBefore: by.PaidBefore,
			Tld: by.Tld, Folder: by.Folder, Choice: by.Choice, OtherChoice: by.OtherChoice, Lacking: by.Lacking, HavingStatus: by.HavingStatus, UrgentBefore: by.UrgentBefore, MaxRows: int32(limit),
		}))
	case portfolio.SortAdded:
		return rowsAs(func(row query.SearchNewestDomainsRow) portfolio.Domain {
			return domainWithTermOf(query.SearchDomainsRow(row))
		})(db.read().SearchNewestDomains(ctx, query.SearchNewestDomainsParams{
			CustomerID: customer, BeforeID: cmp.Or(filter.AfterID, lastDomain), Pattern: by.Pattern, Status: by.Status, PaidBefore: by.PaidBefore,
			Tld: by.Tld, Folder: by.Folder, Choice: by.Choice, OtherChoice: by.OtherChoice, Lacking: by.Lacking, HavingStatus: by.HavingStatus, UrgentBefore: by.UrgentBefore, MaxRows: int32(limit),
		}))
	default:
		by.MaxRows = int32(limit)
		return rowsAs(domainWithTermOf)(db.read().SearchDomains(ctx, by))
	}
}

// lastDomain is above every id of a domain.
const lastDomain = "dom_zzzzzzzzzzzzzzzzzzzzzzzzzzz"

// searchParams are the parameters of a search by name. Those of the other orders are the same,
// but for the position.
func searchParams(customer string, filter portfolio.Filter) query.SearchDomainsParams {
	const neverMatches = "-"
	by := query.SearchDomainsParams{
		CustomerID: customer, AfterName: filter.AfterName, AfterID: filter.AfterID, Pattern: "%" + filter.Part + "%",
		Status: string(filter.Status), PaidBefore: micros(filter.PaidBefore), Tld: filter.TLD, Folder: filter.Folder,
		OtherChoice: neverMatches, Lacking: neverMatches, HavingStatus: "%" + filter.HasStatus + "%", UrgentBefore: micros(filter.UrgentBefore),
	}
	switch filter.AutoRenew {
	case portfolio.AutoRenewOn:
		by.Choice = string(registrar.TermEndRenew)
	case portfolio.AutoRenewOff:
		by.OtherChoice = string(registrar.TermEndRenew)
	}
	if filter.LacksStatus != "" {
		by.Lacking = "%" + filter.LacksStatus + "%"
	}
	return by
}

// ListHeldDomains returns the ids of the names that a customer holds, by name.
func (db *DB) ListHeldDomains(ctx context.Context, customer string, names []string) (map[string]string, error) {
	var n [portfolio.MaxHeldNames]string // no domain has an empty name
	copy(n[:], names)
	rows, err := db.read().ListHeldDomains(ctx, query.ListHeldDomainsParams{
		CustomerID: customer, Name1: n[0], Name2: n[1], Name3: n[2], Name4: n[3], Name5: n[4], Name6: n[5], Name7: n[6], Name8: n[7],
	})
	held := make(map[string]string, len(rows))
	for _, row := range rows {
		held[row.Name] = row.ID
	}
	return held, err
}

// FindDomains returns a page of the matching domains and the total number of matches.
func (db *DB) FindDomains(ctx context.Context, customer string, filter portfolio.Filter, limit, offset int) ([]portfolio.Domain, int, error) {
	total, err := db.read().CountSearchedDomains(ctx, query.CountSearchedDomainsParams{
		CustomerID: customer, Pattern: "%" + filter.Part + "%", Status: string(filter.Status), PaidBefore: micros(filter.PaidBefore),
	})
	if err != nil || total <= int64(offset) {
		return nil, int(total), err
	}
	by := searchParams(customer, filter)
	by.MaxRows, by.SkipRows = int32(limit), int32(offset)
	domains, err := rowsAs(domainWithTermOf)(db.read().SearchDomains(ctx, by))
	return domains, int(total), err
}

// CountDomainGroups counts an account's domains by status, extension and folder.
func (db *DB) CountDomainGroups(ctx context.Context, customer string) ([]portfolio.Group, error) {
	return rowsAs(func(row query.CountDomainGroupsRow) portfolio.Group {
		return portfolio.Group{State: portfolio.State(row.Status), TLD: row.Tld, Folder: row.Folder, Domains: int(row.Domains)}
	})(db.read().CountDomainGroups(ctx, customer))
}

// CountDomainFilters counts an account's domains by extension. One may have several counts.
func (db *DB) CountDomainFilters(ctx context.Context, customer string, soon time.Time, lacking string) ([]portfolio.FilterCount, error) {
	return rowsAs(func(row query.CountDomainFiltersRow) portfolio.FilterCount {
		return portfolio.FilterCount{TLD: row.Tld, Urgent: int(row.Urgent), Ending: int(row.Ending), Lacking: int(row.Lacking)}
	})(db.read().CountDomainFilters(ctx, query.CountDomainFiltersParams{CustomerID: customer, Soon: micros(soon), Lacking: "%" + lacking + "%"}))
}

// SetLabels stores the folder of a customer's domain and, unless nil, its note.
func (db *DB) SetLabels(ctx context.Context, customer, domain, folder string, note *string, maxFolders int, event registrar.AuditEvent) error {
	return db.write(ctx, func(q *query.Queries) error {
		if folder != "" {
			if err := checkFolderLimit(ctx, q, customer, folder, maxFolders); err != nil {
				return err
			}
		}
		var (
			stored sql.Result
			err    error
		)
		if note != nil {
			stored, err = q.SetDomainLabels(ctx, query.SetDomainLabelsParams{Folder: folder, Note: *note, ID: domain, CustomerID: customer})
		} else {
			stored, err = q.SetDomainFolder(ctx, query.SetDomainFolderParams{Folder: folder, ID: domain, CustomerID: customer})
		}
		if err := rowOr(&registrar.Error{Kind: registrar.KindNotFound, Code: registrar.NoSuchDomain})(stored, err); err != nil {
			return err
		}
		return insertAuditEvent(ctx, q, event)
	})
}

// checkFolderLimit returns TooManyFolders if a folder would be one too many. Counting reads all
// of the customer's domains, so it happens only for a new folder. The lock lets one of several
// new folders at a time be counted.
func checkFolderLimit(ctx context.Context, q *query.Queries, customer, folder string, maxFolders int) error {
	if err := q.LockCustomer(ctx, customer); err != nil {
		return err
	}
	if exists, err := q.HasFolder(ctx, customer, folder); err != nil || exists {
		return err
	}
	folders, err := q.CountFolders(ctx, customer)
	if err == nil && folders >= int64(maxFolders) {
		err = &registrar.Error{Kind: registrar.KindConflict, Code: portfolio.TooManyFolders}
	}
	return err
}

// AddDomain stores a domain with its audit event.
func (db *DB) AddDomain(ctx context.Context, domain portfolio.Domain, event registrar.AuditEvent) error {
	return db.write(ctx, func(q *query.Queries) error {
		if err := rowOr(noSuchCustomer())(q.LockConfirmedCustomer(ctx, domain.Customer)); err != nil {
			return err
		}
		if err := rowOr(nameHeld())(q.InsertDomain(ctx, query.InsertDomainParams{
			ID: domain.ID, CustomerID: domain.Customer, Name: domain.Name, Tld: domain.TLD,
			Status: string(domain.Status), PaidUntil: micros(domain.PaidUntil),
			CreatedAt: micros(domain.CreatedAt), UpdatedAt: micros(domain.UpdatedAt),
		})); err != nil {
			return err
		}
		return insertAuditEvent(ctx, q, event)
	})
}

func nameHeld() error {
	return &registrar.Error{Kind: registrar.KindConflict, Code: registrar.NameHeld}
}
