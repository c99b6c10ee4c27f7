package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ provision.Store = (*DB)(nil)

func lineOf(row query.Line) provision.Line {
	return provision.Line{
		ID: row.ID, Customer: row.CustomerID, Name: row.Name, TLD: row.Tld, Kind: provision.Kind(row.Kind),
		Years: int(row.Years), Payment: row.Payment, State: provision.State(row.State), Failure: registrar.Code(row.Failure),
		RefundDue: row.RefundDue != 0, Account: row.Account, Domain: row.DomainID, Handle: row.Handle, SealedCode: row.CodeSealed,
		RenewFrom: fromMicros(row.RenewFrom), Registrant: holderOf(row.Registrant),
		AskedAt: fromMicros(row.AskedAt), DueAt: fromMicros(row.DueAt), Node: row.Node, Attempts: int(row.Attempts),
		CreatedAt: fromMicros(row.CreatedAt), UpdatedAt: fromMicros(row.UpdatedAt),
	}
}

func linesOf(rows []query.Line, err error) ([]provision.Line, error) {
	lines := make([]provision.Line, 0, len(rows))
	for _, row := range rows {
		lines = append(lines, lineOf(row))
	}
	return lines, err
}

// HolderOf is whom a customer's domains are registered for.
func (db *DB) HolderOf(ctx context.Context, customer string) (provision.Holder, bool, error) {
	row, err := db.read().HolderOf(ctx, customer)
	ok, err := found(err)
	return holderRow(row), ok, err
}

func holderRow(row query.HolderOfRow) registrar.Holder {
	return registrar.Holder{
		Name: row.Name, Organisation: row.Organisation, Street: row.Street, PostalCode: row.PostalCode, City: row.City,
		State: row.State, Country: row.Country, Phone: row.Phone, Email: row.Email,
	}
}

// AddLine stores a paid line with its deed, or finds the one that the same payment
// has paid for.
func (db *DB) AddLine(ctx context.Context, line provision.Line, deed registrar.Deed) (provision.Line, error) {
	stored := line
	err := db.write(ctx, func(q *query.Queries) error {
		holder, err := q.HoldHolder(ctx, line.Customer)
		if err != nil {
			return err
		}
		if holder == 0 {
			return &registrar.Error{Kind: registrar.KindNotFound, Code: provision.NoSuchCustomer}
		}
		held := &registrar.Error{Kind: registrar.KindConflict, Code: provision.NameHeld}
		row, err := q.LineByPayment(ctx, query.LineByPaymentParams{Payment: line.Payment, Name: line.Name})
		if err == nil {
			stored = lineOf(row)
			return nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		added, err := insertLine(ctx, q, line)
		if err != nil {
			return err
		}
		if added == 0 { // somebody holds the name, or another open line wants it
			return held
		}
		return recordDeed(ctx, q, deed)
	})
	return stored, err
}

// insertLine stores a new line: of a name that nobody holds, or for a renewal of
// one that its customer holds.
func insertLine(ctx context.Context, q *query.Queries, line provision.Line) (int64, error) {
	if line.Kind == provision.Renew {
		return q.InsertRenewalLine(ctx, query.InsertRenewalLineParams{
			ID: line.ID, Kind: string(line.Kind), Years: int64(line.Years), Payment: line.Payment, Account: line.Account,
			Now: micros(line.CreatedAt), DomainID: line.Domain, CustomerID: line.Customer,
		})
	}
	return q.InsertItemLine(ctx, query.InsertItemLineParams{
		ID: line.ID, CustomerID: line.Customer, Name: line.Name, Tld: line.TLD, Kind: string(line.Kind), Years: int64(line.Years),
		Payment: line.Payment, Account: line.Account, CodeSealed: line.SealedCode, Registrant: holderText(line.Registrant), Now: micros(line.CreatedAt),
	})
}

// LineByID finds a line.
func (db *DB) LineByID(ctx context.Context, id string) (provision.Line, bool, error) {
	row, err := db.read().LineByID(ctx, id)
	ok, err := found(err)
	return lineOf(row), ok, err
}

// LineByPayment finds the line that a payment has paid for; nil if there is none.
func (db *DB) LineByPayment(ctx context.Context, payment, name string) (*provision.Line, error) {
	row, err := db.read().LineByPayment(ctx, query.LineByPaymentParams{Payment: payment, Name: name})
	if ok, err := found(err); !ok {
		return nil, err
	}
	line := lineOf(row)
	return &line, nil
}

// LinesOfName are all lines that ever wanted a name, the oldest first.
func (db *DB) LinesOfName(ctx context.Context, name string) ([]provision.Line, error) {
	return linesOf(db.read().LinesOfName(ctx, name))
}

// LinesAfter is a page of everybody's lines, by id.
func (db *DB) LinesAfter(ctx context.Context, id string, limit int) ([]provision.Line, error) {
	return linesOf(db.read().LinesAfter(ctx, query.LinesAfterParams{ID: id, Limit: int32(limit)}))
}

// DueLines returns open lines whose time has come, the longest overdue first.
func (db *DB) DueLines(ctx context.Context, now time.Time, limit int) ([]provision.Line, error) {
	return linesOf(db.read().DueLines(ctx, query.DueLinesParams{DueAt: micros(now), Limit: int32(limit)}))
}

// errNotThere rolls a step back whose line is somewhere else.
var errNotThere = errors.New("the line is not where the step begins")

// MoveLine takes one step of a line, with what it means for the customer's domain.
func (db *DB) MoveLine(ctx context.Context, move provision.Move) (bool, error) {
	move.Line.SealedCode = db.resealed(registrar.CodePurpose(move.Line.Name), move.Line.SealedCode)
	err := db.write(ctx, func(q *query.Queries) error {
		line := move.Line
		moved, err := q.MoveLine(ctx, query.MoveLineParams{
			State: string(line.State), Failure: string(line.Failure), RefundDue: number(line.RefundDue), DomainID: line.Domain,
			Handle: line.Handle, CodeSealed: line.SealedCode, Registrant: holderText(line.Registrant), RenewFrom: micros(line.RenewFrom), AskedAt: micros(line.AskedAt), DueAt: micros(line.DueAt), Node: line.Node,
			Attempts: int64(line.Attempts), UpdatedAt: micros(line.UpdatedAt),
			ID: line.ID, WasState: string(move.Was.State), WasDue: micros(move.Was.DueAt),
		})
		if err != nil {
			return err
		}
		if moved == 0 {
			return errNotThere
		}
		if err := moveDomain(ctx, q, move); err != nil {
			return err
		}
		if err := endItem(ctx, q, line); err != nil {
			return err
		}
		if move.Deed == nil {
			return nil
		}
		return recordDeed(ctx, q, *move.Deed)
	})
	if errors.Is(err, errNotThere) {
		return false, nil
	}
	return err == nil, err
}

func moveDomain(ctx context.Context, q *query.Queries, move provision.Move) error {
	switch {
	case move.Add != nil:
		domain := move.Add
		added, err := q.InsertDomain(ctx, query.InsertDomainParams{
			ID: domain.ID, CustomerID: domain.Customer, Name: domain.Name, Tld: domain.TLD, Status: domain.Status,
			CreatedAt: micros(domain.UpdatedAt), UpdatedAt: micros(domain.UpdatedAt),
		})
		if err != nil {
			return err
		}
		if added == 0 {
			return &registrar.Error{Kind: registrar.KindConflict, Code: provision.NameHeld}
		}
		return q.NameDomainAccount(ctx, query.NameDomainAccountParams{ID: domain.ID, Account: domain.Account})
	case move.Activate != nil:
		domain := move.Activate
		changed, err := q.ActivateDomain(ctx, query.ActivateDomainParams{
			Status: domain.Status, PaidUntil: micros(domain.PaidUntil), Handle: domain.Handle, CodeSealed: move.Line.SealedCode,
			RegistryExpires: micros(domain.RegistryExpires), SyncDue: micros(domain.SyncDue), UpdatedAt: micros(domain.UpdatedAt), ID: domain.ID,
		})
		if err == nil && changed == 0 {
			err = fmt.Errorf("the domain %s of line %s is not pending", domain.ID, move.Line.ID)
		}
		return err
	case move.Renew != nil:
		renewal := move.Renew
		changed, err := q.RenewDomain(ctx, query.RenewDomainParams{
			PaidUntil: micros(renewal.Until), RegistryExpires: micros(renewal.RegistryExpires), SyncDue: micros(renewal.SyncDue),
			UpdatedAt: micros(renewal.At), ID: renewal.Domain, WasPaidUntil: micros(renewal.From),
		})
		if err == nil && changed == 0 {
			err = fmt.Errorf("the term of domain %s of line %s is not what it was", renewal.Domain, move.Line.ID)
		}
		return err
	case move.Drop:
		return q.DropDomain(ctx, move.Line.Domain)
	default:
		return nil
	}
}
