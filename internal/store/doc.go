// Package store is the SQL database: everything about customers, and the price lists that
// operators imported.
//
// The database is SQLite in the data folder, or PostgreSQL for more than one node; package
// sqldb has what differs between the two. Both run the same SQL: queries/ is written in
// PostgreSQL's dialect within what SQLite understands, and sqlc generates the one package
// query from it. That rules out now(), ILIKE, ANY, casts and JSON operators. Times are
// microseconds passed as parameters, and an existing row is handled by ON CONFLICT,
// because on PostgreSQL the first error aborts a transaction, and a later statement or the
// commit may report it (sqldb/pipeline.go).
//
// A state change is a compare-and-swap: UPDATE … WHERE id = … AND state = …, which must affect a
// row. Such a query is an :execresult whose result goes to rowOr or swapped; on PostgreSQL they
// don't wait for it, and the transaction fails later. So the code after them runs even if no row
// was affected: what it reports counts only once the transaction has been committed, and a change
// that goes on without the row uses changed instead. There is one file per table. Business
// rules live in the domain packages, whose store interfaces these files implement.
//
// # Migrations
//
// Nodes are upgraded one by one, so a program must run on the schema of the next release.
// Within a release, migrations only expand: new tables, new columns that are nullable or
// have a default, new indexes that are not unique. What the new program no longer needs is
// removed by a migration of a later release.
//
// Each migration inserts a row into schema_compatibility, and its Down deletes it:
//
//	INSERT INTO schema_compatibility (version, compatible_from) VALUES (5, 3);
//
// This says that programs whose last migration is 3 or later may run on schema 5. A program
// starts on a newer schema if every migration that it does not know has a row that includes
// it; otherwise it refuses. A migration that older programs can't run on sets
// compatible_from to its own version; all nodes must be stopped before it runs. A test
// rejects any other migration that does more than expand.
package store
