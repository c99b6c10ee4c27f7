// Package store keeps what must survive a restart. So far that is one thing: the
// price list that an operator imported.
package store
