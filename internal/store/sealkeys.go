package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/keyring"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

var _ keyring.Store = (*DB)(nil)

const (
	// maxSealKeys bounds a list; there are a handful of keys.
	maxSealKeys = 1000
	// sealNodeRetention is the retention of a killed node's report. It is far longer than
	// the clock skew between nodes, so no running node loses its report.
	sealNodeRetention = 24 * time.Hour
)

// sealedColumn is a column with sealed values.
type sealedColumn struct {
	table, column string
	// key are the columns of the primary key; the purpose is made of purposeColumns.
	key, purposeColumns []string
	purpose             func(of []string) string
	where               string // selects the rows with sealed values; empty: all
}

func (c sealedColumn) name() string { return c.table + "." + c.column }

func purposeOf(purpose func(string) string) func([]string) string {
	return func(of []string) string { return purpose(of[0]) }
}

func purposeOfTwo(purpose func(a, b string) string) func([]string) string {
	return func(of []string) string { return purpose(of[0], of[1]) }
}

// sealedColumns are all columns with sealed values. A key rotation re-seals them, so a
// column that is missing here would be lost with the old key.
var sealedColumns = []sealedColumn{
	{table: "customers", column: "totp_sealed", key: []string{"id"}, purposeColumns: []string{"id"}, purpose: purposeOf(registrar.TOTPPurpose)},
	{
		table: "webauthn_challenges", column: "data", key: []string{"hash"}, purposeColumns: []string{"customer_id"}, purpose: purposeOf(registrar.TOTPPurpose),
		where: "kind = '" + string(account.ChallengeSecondFactor) + "'",
	},
	{table: "agents", column: "webhook_sealed", key: []string{"id"}, purposeColumns: []string{"id"}, purpose: purposeOf(registrar.AgentWebhookPurpose)},
	{table: "agent_secrets", column: "sealed", key: []string{"id"}, purposeColumns: []string{"agent_id", "id"}, purpose: purposeOfTwo(registrar.AgentSecretPurpose)},
	{table: "orders", column: "pay_sealed", key: []string{"id"}, purposeColumns: []string{"id"}, purpose: purposeOf(registrar.PayLinkPurpose)},
	{table: "orders", column: "verify_sealed", key: []string{"id"}, purposeColumns: []string{"id"}, purpose: purposeOf(registrar.VerifyLinkPurpose)},
	{table: "transfer_lists", column: "list_sealed", key: []string{"customer_id"}, purposeColumns: []string{"customer_id"}, purpose: purposeOf(registrar.TransferListPurpose)},
	{table: "order_items", column: "code_sealed", key: []string{"id"}, purposeColumns: []string{"name"}, purpose: purposeOf(registrar.AuthCodePurpose)},
	{table: "provision_items", column: "code_sealed", key: []string{"id"}, purposeColumns: []string{"name"}, purpose: purposeOf(registrar.AuthCodePurpose)},
	{table: "domains", column: "code_sealed", key: []string{"id"}, purposeColumns: []string{"name"}, purpose: purposeOf(registrar.AuthCodePurpose)},
	{table: "domain_changes", column: "code_sealed", key: []string{"id"}, purposeColumns: []string{"name"}, purpose: purposeOf(registrar.AuthCodePurpose)},
	{table: "idempotency_keys", column: "response_sealed", key: []string{"scope", "key"}, purposeColumns: []string{"scope", "key"}, purpose: purposeOfTwo(registrar.ResponsePurpose)},
	{table: "service_secrets", column: "sealed", key: []string{"name"}, purposeColumns: []string{"name"}, purpose: purposeOf(registrar.ServiceSecretPurpose)},
}

// UseSeal re-seals values that are written back after having been read, such as an item's
// auth code at each transition, with the current key. Call it before using the database.
func (db *DB) UseSeal(seal *registrar.Seal) { db.seal = seal }

// reseal returns a value that was read, sealed with the current key.
func (db *DB) reseal(purpose, sealed string) string {
	if db.seal == nil {
		return sealed
	}
	return db.seal.Reseal(purpose, sealed)
}

// SealKeys returns all keys, by id.
func (db *DB) SealKeys(ctx context.Context) ([]keyring.Key, error) {
	return rowsAs(func(row query.SealKey) keyring.Key {
		return keyring.Key{ID: row.ID, State: keyring.State(row.State), Canary: row.Canary, CreatedAt: fromMicros(row.CreatedAt)}
	})(db.read().ListSealKeys(ctx, maxSealKeys))
}

// AddSealKey stores a new key.
func (db *DB) AddSealKey(ctx context.Context, key keyring.Key) (bool, error) {
	return changed(db.single().InsertSealKey(ctx, query.InsertSealKeyParams{
		ID: key.ID, State: string(key.State), Canary: key.Canary, CreatedAt: micros(key.CreatedAt),
	}))
}

// ActivateSealKey replaces the active key.
func (db *DB) ActivateSealKey(ctx context.Context, key keyring.Key, active string, now time.Time) (bool, error) {
	return db.swap(ctx, func(q *query.Queries) error {
		// The active one first: a unique index allows one.
		if err := updateSealKey(ctx, q, active, keyring.Active, keyring.Previous, now); err != nil {
			return err
		}
		return updateSealKey(ctx, q, key.ID, key.State, keyring.Active, now)
	})
}

// RetireSealKey marks a key as retired.
func (db *DB) RetireSealKey(ctx context.Context, id string, was keyring.State, now time.Time) (bool, error) {
	return db.swap(ctx, func(q *query.Queries) error { return updateSealKey(ctx, q, id, was, keyring.Retired, now) })
}

func updateSealKey(ctx context.Context, q *query.Queries, id string, was, is keyring.State, now time.Time) error {
	return swapped(q.UpdateSealKeyState(ctx, query.UpdateSealKeyStateParams{State: string(is), Now: micros(now), ID: id, WasState: string(was)}))
}

// DeleteNextSealKey deletes a key that is not active yet.
func (db *DB) DeleteNextSealKey(ctx context.Context, id string) error {
	return db.single().DeleteNextSealKey(ctx, id)
}

// PutSealNode stores the report of a node and deletes stale reports of killed nodes. The
// deletion is a transaction of its own, so that two nodes can't deadlock.
func (db *DB) PutSealNode(ctx context.Context, node keyring.Node) error {
	err := db.single().PutSealNode(ctx, query.PutSealNodeParams{
		Name: node.Name, KeyIds: strings.Join(node.KeyIDs, " "), WriteID: node.WriteID, SeenAt: micros(node.SeenAt),
	})
	if err != nil {
		return err
	}
	reports, err := db.SealNodes(ctx)
	if err != nil {
		return err
	}
	oldest := node.SeenAt.Add(-sealNodeRetention)
	stale := slices.DeleteFunc(reports, func(report keyring.Node) bool { return !report.SeenAt.Before(oldest) })
	if len(stale) == 0 {
		return nil
	}
	return db.write(ctx, func(q *query.Queries) error {
		for _, report := range stale {
			if err := q.DeleteStaleSealNode(ctx, report.Name, micros(oldest)); err != nil {
				return err
			}
		}
		return nil
	})
}

// DeleteSealNode deletes the report of a stopped node.
func (db *DB) DeleteSealNode(ctx context.Context, name string) error {
	return db.single().DeleteSealNode(ctx, name)
}

// SealNodes returns the reports of all nodes, by name.
func (db *DB) SealNodes(ctx context.Context) ([]keyring.Node, error) {
	var nodes []keyring.Node
	for node, err := range pages(ctx, func(ctx context.Context, after string, limit int) ([]keyring.Node, error) {
		return rowsAs(sealNodeOf)(db.read().ListSealNodes(ctx, after, int32(limit)))
	}, func(node keyring.Node) string { return node.Name }) {
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

func sealNodeOf(row query.SealNode) keyring.Node {
	return keyring.Node{Name: row.Name, KeyIDs: strings.Fields(row.KeyIds), WriteID: row.WriteID, SeenAt: fromMicros(row.SeenAt)}
}

// SealedColumns returns the names of all columns with sealed values.
func (db *DB) SealedColumns() []string {
	names := make([]string, 0, len(sealedColumns))
	for _, column := range sealedColumns {
		names = append(names, column.name())
	}
	return names
}

func sealedColumnOf(name string) (sealedColumn, error) {
	at := slices.IndexFunc(sealedColumns, func(c sealedColumn) bool { return c.name() == name })
	if at < 0 {
		return sealedColumn{}, fmt.Errorf("store: %s is not a sealed column", name)
	}
	return sealedColumns[at], nil
}

// SealedValues returns a page of a column, in the order of the primary key.
func (db *DB) SealedValues(ctx context.Context, column string, after []string, limit int) ([]keyring.Value, error) {
	c, err := sealedColumnOf(column)
	if err != nil {
		return nil, err
	}
	conditions, values := []string{c.column + " <> ''"}, make([]any, 0, len(after))
	if c.where != "" {
		conditions = append(conditions, c.where)
	}
	if after != nil {
		conditions = append(conditions, "("+strings.Join(c.key, ", ")+") > ("+placeholders(1, len(c.key))+")")
		for _, value := range after {
			values = append(values, value)
		}
	}
	text := "SELECT " + strings.Join(slices.Concat(c.key, c.purposeColumns, []string{c.column}), ", ") + " FROM " + c.table +
		" WHERE " + strings.Join(conditions, " AND ") + " ORDER BY " + strings.Join(c.key, ", ") + " LIMIT " + strconv.Itoa(limit)
	var page []keyring.Value
	for row, err := range sqldb.Rows(ctx, db.sql.Reader(), text, values...) {
		if err != nil {
			return nil, err
		}
		texts := make([]string, len(row))
		for i, value := range row {
			texts[i], _ = value.(string)
		}
		key, rest := texts[:len(c.key):len(c.key)], texts[len(c.key):]
		page = append(page, keyring.Value{Key: key, Purpose: c.purpose(rest), Sealed: rest[len(rest)-1]})
	}
	return page, nil
}

func placeholders(first, count int) string {
	var all []string
	for i := range count {
		all = append(all, "$"+strconv.Itoa(first+i))
	}
	return strings.Join(all, ", ")
}

// ReplaceSealed replaces values that have not changed. On PostgreSQL each is a transaction
// of its own, so that no row stays locked while another is waited for; on SQLite a page is
// one transaction.
func (db *DB) ReplaceSealed(ctx context.Context, column string, replacements []keyring.Replacement) (int, error) {
	c, err := sealedColumnOf(column)
	if err != nil {
		return 0, err
	}
	conditions := []string{c.column + " = $2"}
	for i, key := range c.key {
		conditions = append(conditions, key+" = $"+strconv.Itoa(i+3))
	}
	text := "UPDATE " + c.table + " SET " + c.column + " = $1 WHERE " + strings.Join(conditions, " AND ")
	replaced := 0
	batch := max(len(replacements), 1)
	if db.sql.Engine() == sqldb.Postgres {
		batch = 1
	}
	for group := range slices.Chunk(replacements, batch) {
		err := db.sql.Write(ctx, func(tx sqldb.DBTX) error {
			for _, r := range group {
				values := []any{r.Sealed, r.Value.Sealed}
				for _, key := range r.Key {
					values = append(values, key)
				}
				result, err := tx.ExecContext(ctx, text, values...)
				if err != nil {
					return err
				}
				rows, err := result.RowsAffected()
				if err != nil {
					return err
				}
				replaced += int(rows)
			}
			return nil
		})
		if err != nil {
			return replaced, err
		}
	}
	return replaced, nil
}

// OpenExisting opens a database without changing its schema. It returns nil if there is no
// database, or one without a schema.
func OpenExisting(ctx context.Context, opts Options) (*DB, error) {
	if !sqldb.Exists(opts) {
		return nil, nil //nolint:nilnil // a missing database is no error
	}
	db, err := open(opts)
	if err != nil {
		return nil, err
	}
	tx, err := db.sql.Reader().BeginTx(ctx, nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("store: open the database: %w", err), db.Close())
	}
	defer func() { _ = tx.Rollback() }() // read only
	version, err := db.schemaVersion(ctx, tx)
	if err != nil || version == 0 {
		return nil, errors.Join(err, tx.Rollback(), db.Close())
	}
	return db, nil
}
