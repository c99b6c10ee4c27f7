package store

import "database/sql"

// Pools are the connections themselves, for the programs below test/ that
// measure or inspect the database. The product goes through the methods of DB:
// they keep rows and the audit together.
func (db *DB) Pools() (writer, reader *sql.DB) { return db.writer, db.reader }

// RewriteSQL is a statement of the product as this engine gets it, for the same programs.
func (db *DB) RewriteSQL(text string, values []any) (spelled string, rest []any) {
	if db.limitInliner == nil {
		return text, values
	}
	return db.limitInliner.inline(text, values)
}
