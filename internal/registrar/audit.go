package registrar

import "time"

// Action names the operation that an AuditEvent records. Operators and customers
// read it in their own language.
type Action string

// AuditEvent is one entry of the audit log: who did what to which object, when and
// from where. It is written in the same transaction as the change it records.
type AuditEvent struct {
	Actor    Actor
	Action   Action
	Customer string // the account that the event concerns and that may read it
	Object   string // the id or the public name of the object; never a secret
	Refund   string // the id of the refund of an order that the event is about; empty if it is about none, or older than migration 27
	At       time.Time
}
