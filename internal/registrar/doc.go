// Package registrar defines the types shared by all other packages: Name, Extension,
// Cents, Registrant, DomainStatus, Actor, AuditEvent, Mail and Error.
//
// A Name is always well-formed: ParseName and NewName are the only ways to create one.
// A price is a whole number of cents, never a float. An Error separates what a caller
// may see (Code, which a transport turns into a message) from what an operator may see
// (Detail), and neither contains a searched name.
//
// The package does no I/O, and knows no wire format except the JSON number of an amount
// and no human language.
package registrar
