package ledger

import (
	"slices"
	"time"
)

// TRID is the pair of client and server transaction ids.
type TRID struct {
	Client string `json:"client,omitempty"`
	Server string `json:"server,omitempty"`
}

// Request identifies the account and command.
type Request struct {
	Account string
	TRID    TRID
}

// Phase is a special phase of a domain's life cycle.
type Phase string

// Phases, see doc.go.
const (
	Active         Phase = ""
	PendingCreate  Phase = "pendingCreate"
	Redemption     Phase = "redemptionPeriod"
	PendingRestore Phase = "pendingRestore"
	PendingDelete  Phase = "pendingDelete"
	Transit        Phase = "transit"
	Expired        Phase = "expired"
)

// Role is a contact of a domain.
type Role struct {
	Type string `json:"type"` // admin, tech, billing
	ID   string `json:"id"`
}

// Nameserver is a host object, or a host attribute with its own addresses.
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

// Transfer is the last transfer of a domain, pending or finished.
type Transfer struct {
	Name      string    `json:"name"`
	Status    string    `json:"status"`
	Requester string    `json:"requester"`
	Requested time.Time `json:"requested"`
	Actor     string    `json:"actor"` // who decided, or has to
	Decided   time.Time `json:"decided"`
	// Expires is the expiry afterwards; zero if unchanged.
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

// TransitSponsor and TransitName are the sponsor of deleted .de names.
const (
	TransitSponsor = "denic-transit"
	TransitName    = "DENIC TRANSIT (Sandbox)"
)

// StatusPending is the status of an undecided transfer.
const StatusPending = transferPending

// Domain is a registered name. A Domain is immutable; commands replace it.
type Domain struct {
	Name        string       `json:"name"`
	ROID        string       `json:"roid"`
	Sponsor     string       `json:"sponsor"`
	Agent       string       `json:"agent,omitempty"` // name of a sponsor without an account
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
	// Asked is the command whose outcome a pending phase reports.
	Asked TRID `json:"asked"`
	// Deleted is when the domain was deleted, while it can be restored.
	Deleted time.Time `json:"deleted"`

	// Refundable operations and their times.
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

// due is the time of the domain's next transition.
func (d *Domain) due() time.Time {
	if d.Phase != Active {
		return d.PhaseUntil
	}
	if d.transferring() && d.Transfer.Decided.Before(d.Expires) {
		return d.Transfer.Decided
	}
	return d.Expires
}

// Statuses returns the EPP statuses of the domain (RFC 5731, 2.3).
func (d *Domain) Statuses() []string {
	statuses := slices.Clone(d.Locks)
	switch d.Phase {
	case PendingCreate:
		statuses = append(statuses, "pendingCreate")
	case Redemption, PendingRestore, PendingDelete:
		statuses = append(statuses, "pendingDelete")
	case Expired:
		statuses = append(statuses, "serverHold")
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

// Grace returns the RGP status of RFC 3915, or "".
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

// Delegated reports whether the domain is in the DNS.
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

// Disclosure is a contact's disclosure preference (RFC 5733, 2.9).
type Disclosure struct {
	Show   bool     `json:"show"`
	Fields []string `json:"fields"` // such as "name int" or "voice"
}

// Contact is a contact object.
type Contact struct {
	ID         string      `json:"id"`
	ROID       string      `json:"roid"`
	Postal     []Postal    `json:"postal"`
	Voice, Fax Phone       `json:",omitzero"`
	Email      string      `json:"email"`
	Auth       string      `json:"auth,omitempty"`
	Disclosure *Disclosure `json:"disclosure,omitempty"`
	// Typed is set if the contact was created with a registry's own extension.
	Typed   *ContactType `json:"typed,omitempty"`
	Locks   []string     `json:"locks,omitempty"`
	Sponsor string       `json:"sponsor"`
	Creator string       `json:"creator"`
	Updater string       `json:"updater,omitempty"`
	Created time.Time    `json:"created"`
	Updated time.Time    `json:"updated"`
}

// Host is a host object.
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
	// Above is the domain of this registry that the host is below; empty for
	// external hosts.
	Above string `json:"above,omitempty"`
}

// Pending is the outcome of a command that returned 1001.
type Pending struct {
	Name    string    `json:"name"`
	Granted bool      `json:"granted"`
	Asked   TRID      `json:"asked"`
	At      time.Time `json:"at"`
}

// Renewal informs a sponsor of an auto-renewal.
type Renewal struct {
	Name    string    `json:"name"`
	Expires time.Time `json:"expires"`
}

// Message is queued for an account until it is acknowledged. At most one of its
// parts is set.
type Message struct {
	ID       uint64    `json:"id"`
	Account  string    `json:"account"`
	At       time.Time `json:"at"`
	Text     string    `json:"text"`
	Transfer *Transfer `json:"transfer,omitempty"`
	Pending  *Pending  `json:"pending,omitempty"`
	Renewal  *Renewal  `json:"renewal,omitempty"`

	Balance     *BalanceNotice     `json:"balance,omitempty"`
	Change      *ChangeNotice      `json:"change,omitempty"`
	Maintenance *MaintenanceNotice `json:"maintenance,omitempty"`
	Unknown     bool               `json:"unknown,omitempty"` // with data that no client understands
}
