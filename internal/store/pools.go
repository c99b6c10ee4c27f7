package store

import "database/sql"

// Pools are the connections themselves, for the programs below test/ that
// measure or inspect the database. The product goes through the methods of DB:
// they keep rows and the audit together.
func (db *DB) Pools() (writer, reader *sql.DB) { return db.writer, db.reader }
