package lookup

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// State is one source's statement about a name.
type State uint8

// The states of a name.
const (
	Undecided  State = iota // the source responded inconclusively
	Registered              // the source has a record of the name
	// NotFound: the source has no record. That alone never makes a name free.
	NotFound
	Free     // the source explicitly reports the name as available
	Reserved // the name is not registered and can't be
)

// Finding is the response of one source. It has no field that could carry a contact.
type Finding struct {
	State   State
	Premium bool    // the registry has its own price for this name, or does not say that it has none
	Fees    *Fees   // what it charges for a premium name; nil if the source does not know
	Record  *Record // the record of a Registered name; nil if the source did not provide it
}

// Fees is what a registry charges for a premium name: for a registration of Years, a renewal of
// one year, a transfer and a restore.
type Fees struct {
	Years                              int
	Register, Renew, Transfer, Restore registrar.Money
}

// Record is the part of a registry's record that is not about a person. Deliberately the
// only free text is the name of the registrar, a company accredited by the registry.
type Record struct {
	// Status holds EPP statuses as in RFC 5731 ("clientHold"), or a registry's own short
	// status in lower case ("connect").
	Status []string
	// Created, Updated and Expires are zero if the registry does not publish them.
	Created, Updated, Expires time.Time
	Nameservers               []string // host names in lower case, without a trailing dot
	Registrar                 string
}

// Limits of a record. Real ones stay far below.
const (
	MaxNameservers    = 20
	MaxStatuses       = 20
	MaxRegistrarRunes = 100
)

// AddStatus adds a result of ParseStatus, once and up to the limit.
func (r *Record) AddStatus(word string) {
	if len(r.Status) < MaxStatuses && !slices.Contains(r.Status, word) {
		r.Status = append(r.Status, word)
	}
}

// AddNameserver does the same for a host name.
func (r *Record) AddNameserver(host string) {
	if len(r.Nameservers) < MaxNameservers && !slices.Contains(r.Nameservers, host) {
		r.Nameservers = append(r.Nameservers, host)
	}
}

// ErrNoSource is returned by a source that has no server for the extension. That is not a
// failure: the next source is queried.
var ErrNoSource = errors.New("no server known for this extension")

// RecordSource is a source with one record per registered name: RDAP, WHOIS, and EPP where
// an account exists. Find returns ErrNoSource, a Finding, or a *registrar.Error from
// registrar.Fault. It honours ctx promptly.
type RecordSource interface {
	Find(ctx context.Context, ext registrar.Extension, name registrar.Name) (Finding, error)
}

// DelegationSource reports whether a name has nameservers in the DNS.
type DelegationSource interface {
	IsDelegated(ctx context.Context, name registrar.Name) (bool, error)
}
