package ledger

import (
	"slices"
	"time"
)

// TRID is the pair of numbers by which both sides know a command.
type TRID struct {
	Client string `json:"client,omitempty"`
	Server string `json:"server,omitempty"`
}

// Request is who asks, and by which command.
type Request struct {
	Account string
	TRID    TRID
}

// Phase is a time of a domain's life in which it is not simply there.
type Phase string

// The phases, as doc.go describes them.
const (
	Active         Phase = ""
	PendingCreate  Phase = "pendingCreate"
	Redemption     Phase = "redemptionPeriod"
	PendingRestore Phase = "pendingRestore"
	PendingDelete  Phase = "pendingDelete"
	Transit        Phase = "transit"
)

// Role is a contact of a domain.
type Role struct {
	Type string `json:"type"` // admin, tech, billing
	ID   string `json:"id"`
}

// Nameserver is what a domain is delegated to: a host object, or an attribute of
// the domain with addresses of its own.
type Nameserver struct {
	Host      string   `json:"host"`
	Attribute bool     `json:"attribute,omitempty"`
	Addresses []string `json:"addresses,omitempty"`
}

// DS is one delegation signer record (RFC 5910).
type DS struct {
	KeyTag     uint16 `json:"keyTag"`
	Algorithm  uint8  `json:"algorithm"`
	DigestType uint8  `json:"digestType"`
	Digest     string `json:"digest"` // upper case hex
}

// Transfer is the last transfer of a domain, pending or over.
type Transfer struct {
	Name      string    `json:"name"`
	Status    string    `json:"status"`
	Requester string    `json:"requester"`
	Requested time.Time `json:"requested"`
	Actor     string    `json:"actor"` // who decided, or should
	Decided   time.Time `json:"decided"`
	// Expires is the domain's expiry afterwards; zero if it did not move.
	Expires time.Time `json:"expires"`
}

const (
	transferPending  = "pending"
	clientApproved   = "clientApproved"
	clientRejected   = "clientRejected"
	clientCancelled  = "clientCancelled"
	serverApproved   = "serverApproved"
	registrySponsor  = "registry"
	maxYearsAhead    = 10
	maxNameservers   = 13
	addPeriod        = 5 * day
	renewPeriod      = 5 * day
	transferPeriod   = 5 * day
	autoRenewPeriod  = 45 * day
	redemptionPeriod = 30 * day
	restorePeriod    = 7 * day
	deletePeriod     = 5 * day
	transferTime     = 5 * day
	transitPeriod    = 30 * day
	day              = 24 * time.Hour
)

// TransitSponsor and TransitName are who looks after .de names that were given
// up.
const (
	TransitSponsor = "denic-transit"
	TransitName    = "DENIC TRANSIT (Sandbox)"
)

// StatusPending is the status of a transfer that is not decided yet.
const StatusPending = transferPending

// Domain is a registered name. A domain that was handed out never changes; a
// command puts another one in its place.
type Domain struct {
	Name        string       `json:"name"`
	ROID        string       `json:"roid"`
	Sponsor     string       `json:"sponsor"`
	Agent       string       `json:"agent,omitempty"` // the name of a sponsor that has no account
	Creator     string       `json:"creator,omitempty"`
	Updater     string       `json:"updater,omitempty"`
	Created     time.Time    `json:"created"`
	Updated     time.Time    `json:"updated"`
	Expires     time.Time    `json:"expires"`
	Transferred time.Time    `json:"transferred"`
	Locks       []string     `json:"locks,omitempty"` // client… and server… statuses
	Registrant  string       `json:"registrant,omitempty"`
	Contacts    []Role       `json:"contacts,omitempty"`
	Nameservers []Nameserver `json:"nameservers,omitempty"`
	Auth        string       `json:"auth,omitempty"`
	Keys        []DS         `json:"keys,omitempty"`

	Phase      Phase     `json:"phase,omitempty"`
	PhaseUntil time.Time `json:"phaseUntil"`
	// Asked is the command that a pending phase answers in the end.
	Asked TRID `json:"asked"`
	// Deleted is when the domain was deleted, while it can be restored.
	Deleted time.Time `json:"deleted"`

	// What can still come back, and since when.
	Renewed     time.Time `json:"renewed"`
	RenewYears  int       `json:"renewYears,omitempty"`
	AddYears    int       `json:"addYears,omitempty"`
	AutoRenewed time.Time `json:"autoRenewed"`
	MovedIn     time.Time `json:"movedIn"`

	Transfer *Transfer `json:"transfer,omitempty"`
}

func (d *Domain) clone() *Domain {
	c := *d
	c.Locks = slices.Clone(d.Locks)
	c.Contacts = slices.Clone(d.Contacts)
	c.Nameservers = slices.Clone(d.Nameservers)
	c.Keys = slices.Clone(d.Keys)
	return &c
}

func (d *Domain) transferring() bool {
	return d.Transfer != nil && d.Transfer.Status == transferPending
}

func (d *Domain) locked(statuses ...string) string {
	for _, status := range statuses {
		if slices.Contains(d.Locks, status) {
			return status
		}
	}
	return ""
}

// due is when the clock will next do something to the domain.
func (d *Domain) due() time.Time {
	if d.Phase != Active {
		return d.PhaseUntil
	}
	if d.transferring() && d.Transfer.Decided.Before(d.Expires) {
		return d.Transfer.Decided
	}
	return d.Expires
}

// Statuses are the EPP statuses of the domain (RFC 5731, 2.3).
func (d *Domain) Statuses() []string {
	statuses := slices.Clone(d.Locks)
	switch d.Phase {
	case PendingCreate:
		statuses = append(statuses, "pendingCreate")
	case Redemption, PendingRestore, PendingDelete:
		statuses = append(statuses, "pendingDelete")
	case Active, Transit:
		if d.transferring() {
			statuses = append(statuses, "pendingTransfer")
		}
		if len(d.Nameservers) == 0 {
			statuses = append(statuses, "inactive")
		}
	}
	if len(statuses) == 0 {
		return []string{"ok"}
	}
	return statuses
}

// Grace is the domain's status of RFC 3915, empty if it has none.
func (d *Domain) Grace(now time.Time) string {
	switch d.Phase {
	case Redemption, PendingRestore, PendingDelete:
		return string(d.Phase)
	case PendingCreate, Transit:
		return ""
	}
	switch {
	case within(d.Created, addPeriod, now) && d.AddYears > 0:
		return "addPeriod"
	case within(d.MovedIn, transferPeriod, now):
		return "transferPeriod"
	case within(d.Renewed, renewPeriod, now):
		return "renewPeriod"
	case within(d.AutoRenewed, autoRenewPeriod, now):
		return "autoRenewPeriod"
	}
	return ""
}

// Delegated says whether the DNS knows the domain.
func (d *Domain) Delegated() bool {
	return len(d.Nameservers) > 0 && (d.Phase == Active || d.Phase == Transit) && d.locked("clientHold", "serverHold") == ""
}

func within(start time.Time, length time.Duration, now time.Time) bool {
	return !start.IsZero() && now.Before(start.Add(length))
}

// Postal is one form of a contact's address (RFC 5733, 2.5).
type Postal struct {
	Type    string   `json:"type"` // int, loc
	Name    string   `json:"name"`
	Org     string   `json:"org,omitempty"`
	Street  []string `json:"street,omitempty"`
	City    string   `json:"city"`
	State   string   `json:"state,omitempty"`
	Code    string   `json:"code,omitempty"`
	Country string   `json:"country"`
}

// Phone is a number with an extension.
type Phone struct {
	Number string `json:"number,omitempty"`
	Ext    string `json:"ext,omitempty"`
}

// Disclosure is what a contact wants shown or hidden (RFC 5733, 2.9).
type Disclosure struct {
	Show   bool     `json:"show"`
	Fields []string `json:"fields"` // such as "name int" or "voice"
}

// Contact is a person or a company.
type Contact struct {
	ID         string      `json:"id"`
	ROID       string      `json:"roid"`
	Postal     []Postal    `json:"postal"`
	Voice, Fax Phone       `json:",omitzero"`
	Email      string      `json:"email"`
	Auth       string      `json:"auth,omitempty"`
	Disclosure *Disclosure `json:"disclosure,omitempty"`
	Locks      []string    `json:"locks,omitempty"`
	Sponsor    string      `json:"sponsor"`
	Creator    string      `json:"creator"`
	Updater    string      `json:"updater,omitempty"`
	Created    time.Time   `json:"created"`
	Updated    time.Time   `json:"updated"`
}

// Host is a name server.
type Host struct {
	Name      string    `json:"name"`
	ROID      string    `json:"roid"`
	Addresses []string  `json:"addresses,omitempty"`
	Locks     []string  `json:"locks,omitempty"`
	Sponsor   string    `json:"sponsor"`
	Creator   string    `json:"creator"`
	Updater   string    `json:"updater,omitempty"`
	Created   time.Time `json:"created"`
	Updated   time.Time `json:"updated"`
	Moved     time.Time `json:"moved"`
	// Above is the domain of this registry below which the host lies; empty for
	// hosts of other registries.
	Above string `json:"above,omitempty"`
}

// Pending is the outcome of a command that was answered with 1001.
type Pending struct {
	Name    string    `json:"name"`
	Granted bool      `json:"granted"`
	Asked   TRID      `json:"asked"`
	At      time.Time `json:"at"`
}

// Renewal tells a sponsor of a domain that the registry renewed by itself.
type Renewal struct {
	Name    string    `json:"name"`
	Expires time.Time `json:"expires"`
}

// Message waits for an account until it is acknowledged. At most one of its
// three parts is there.
type Message struct {
	ID       uint64    `json:"id"`
	Account  string    `json:"account"`
	At       time.Time `json:"at"`
	Text     string    `json:"text"`
	Transfer *Transfer `json:"transfer,omitempty"`
	Pending  *Pending  `json:"pending,omitempty"`
	Renewal  *Renewal  `json:"renewal,omitempty"`
}
