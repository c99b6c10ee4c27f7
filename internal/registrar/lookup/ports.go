package lookup

import (
	"context"
	"errors"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// State is what one source says about one name.
type State uint8

const (
	// Undecided: the source answered, but the answer decides nothing.
	Undecided State = iota
	// Registered: the source holds a record of the name.
	Registered
	// NotFound: the source has no record. That alone never makes a name free.
	NotFound
	// Free: the source says in so many words that the name can be registered.
	Free
	// Reserved: nobody holds the name, and nobody may register it.
	Reserved
)

// Finding is the answer of one source. It has no field through which a contact
// could pass.
type Finding struct {
	State State
	// Premium says that the registry sells this name at a price of its own.
	Premium bool
	// Record is what a Registered name's record says; nil means that the source
	// did not tell.
	Record *Record
}

// Record is the part of a registry's record that is about the name and not
// about a person. There is deliberately no field for free text but the name of
// the registrar, which is a company that the registry accredits.
type Record struct {
	// Status holds EPP's status words as RFC 5731 writes them ("clientHold"),
	// or a registry's own short word in lower case ("connect").
	Status []string
	// Created, Updated and Expires are zero where the registry does not say.
	Created, Updated, Expires time.Time
	// Nameservers are host names in lower case, without a trailing dot.
	Nameservers []string
	Registrar   string
}

// ErrNoSource is returned by a port that knows no server for the extension.
// That is not a failure: the next source is asked.
var ErrNoSource = errors.New("no server known for this extension")

// RecordSource is a source that keeps one record for each registered name: RDAP,
// WHOIS, and EPP where an account exists. Find returns ErrNoSource, a Finding,
// or a *registrar.Error made by registrar.Fault. It honours ctx promptly.
type RecordSource interface {
	Find(ctx context.Context, ext registrar.Extension, name registrar.Name) (Finding, error)
}

// DelegationSource says whether a name has nameservers in the DNS.
type DelegationSource interface {
	IsDelegated(ctx context.Context, name registrar.Name) (bool, error)
}
