// Package store keeps what must survive a restart: everything about customers, and
// the price lists that operators imported.
//
// The database is SQLite in the data folder, or PostgreSQL where there is more
// than one node. Both run the same SQL text: queries/ is written in PostgreSQL's
// dialect within what SQLite understands too, and sqlc turns it into the one
// package query. What that rules out: now(), ILIKE, ANY, casts, operators on
// JSON. Instead times are microseconds that Go hands in, and a row that is
// already there is met by ON CONFLICT, because PostgreSQL ends a transaction
// with its first error and SQLite does not.
//
// SQLite has one connection that writes, whose transactions begin as writers,
// and a pool that can only read: two deferred transactions that both read and
// then write would fail each other. PostgreSQL has one pool. A transaction
// never takes a second connection, on either.
//
// A change is a compare-and-swap: UPDATE … WHERE id = … AND state = …, then a
// look at the row count. One file per noun; rules about nouns are not here but
// in the domain packages, whose ports these files implement.
package store
