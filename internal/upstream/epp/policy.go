package epp

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Policy is how one extension's registry, or the gateway in front of it, differs
// from the others beyond the protocol.
type Policy struct {
	// Roles are the contacts that a domain needs, the registrant among them.
	// Empty means that the registry keeps none ("thin").
	Roles []Role
	// HostAttributes: nameservers are sent with the domain. Otherwise they are
	// objects of their own, which must exist first.
	HostAttributes bool
	// MinNameservers and MaxNameservers bound a domain's nameservers. 0 as the
	// least means that a domain may do without.
	MinNameservers, MaxNameservers int
	// MinYears and MaxYears bound the term of a registration.
	MinYears, MaxYears int
	AuthInfo           AuthInfoRule
	AtExpiry           ExpiryAction
	Transfer           TransferStyle
	// TransferYears is what a completed transfer adds to the term.
	TransferYears int
	// Restorable: a deleted domain waits in redemption and can be had back.
	Restorable bool
	// NoLock: a registrar can't keep a domain from leaving; the code alone does.
	NoTransferLock bool
	Label          LabelRule
}

// AuthInfoRule is what a registry wants of the secret of a domain.
type AuthInfoRule struct {
	// Min and Max bound its length. Max 0 means that the registry sets its own,
	// and an empty one is sent.
	Min, Max int
	// OnDemand: it is set when the holder wants to leave, and not before; a
	// registration carries an empty one.
	OnDemand bool
	// ValidDays is how long it is good; 0 means for ever.
	ValidDays int
}

// ExpiryAction is what happens at the end of a term when nobody does anything.
type ExpiryAction uint8

const (
	// AutoRenew: the registry renews and charges; the registrar has 45 days to
	// delete and get the money back.
	AutoRenew ExpiryAction = iota
	// Deletes: the registry deletes the domain, so a renewal must come in time.
	AutoDelete
	// Transit: a domain that is given up goes to the registry itself, which
	// writes to the holder (DENIC).
	Transit
)

func (e ExpiryAction) String() string {
	switch e {
	case AutoRenew:
		return "auto_renew"
	case AutoDelete:
		return "delete"
	case Transit:
		return "transit"
	default:
		return "unknown"
	}
}

// TransferStyle is how a domain changes its registrar.
type TransferStyle uint8

const (
	// Waits: the losing registrar has days to object (RFC 5730; five at gTLDs).
	PendingTransfer TransferStyle = iota
	// AtOnce: the right secret moves the domain in the same moment.
	ImmediateTransfer
	// Push: the losing registrar sends it; the gaining one can't ask.
	PushTransfer
)

// LabelRule is which labels can be registered at all.
type LabelRule struct {
	// Min and Max bound the length in characters; 0 means 1 and 63.
	Min, Max int
	// NoIDN: only a-z, 0-9 and the hyphen.
	NoIDN bool
}

var (
	allRoles            = []Role{Registrant, Admin, Tech, Billing}
	rolesWithoutBilling = []Role{Registrant, Admin, Tech}
	registrantTechRoles = []Role{Registrant, Tech}
	registrantRole      = []Role{Registrant}
)

// defaultPolicy is the policy of an extension that the table does not name: what ICANN's
// agreement asks of most registries.
var defaultPolicy = Policy{
	Roles: allRoles, MaxNameservers: 13, MinYears: 1, MaxYears: 10,
	AuthInfo: AuthInfoRule{Min: 8, Max: 16}, TransferYears: 1, Restorable: true,
}

// thinPolicy is that of registries that keep no contacts.
var thinPolicy = Policy{
	MaxNameservers: 13, MinYears: 1, MaxYears: 10,
	AuthInfo: AuthInfoRule{Min: 8, Max: 16}, TransferYears: 1, Restorable: true,
}

// policies holds what differs. A gateway may present an extension otherwise: then
// the operator's own table goes first (see PolicyOf).
var policies = map[string]Policy{
	".com": thinPolicy, ".net": thinPolicy, ".cc": thinPolicy, ".tv": thinPolicy,
	// Google's registry dropped contacts for all its extensions.
	".dev": thinPolicy, ".app": thinPolicy, ".page": thinPolicy, ".day": withYears(thinPolicy, 1, 1), ".new": thinPolicy, ".how": thinPolicy, ".foo": thinPolicy,

	// DENIC speaks RRI, so this is a gateway's view: no term to choose, no
	// pending phase, an AuthInfo that is set when the holder leaves and dies
	// after 30 days, TRANSIT for what is given up.
	".de": {
		Roles: registrantRole, HostAttributes: true, MinNameservers: 2, MaxNameservers: 13, MinYears: 1, MaxYears: 1,
		AuthInfo: AuthInfoRule{Min: 8, Max: 16, OnDemand: true, ValidDays: 30},
		AtExpiry: Transit, Transfer: ImmediateTransfer, Restorable: true, NoTransferLock: true,
	},
	// EURid makes the code itself; it is good for 40 days.
	".eu": {
		Roles: registrantTechRoles, HostAttributes: true, MaxNameservers: 9, MinYears: 1, MaxYears: 10,
		AuthInfo: AuthInfoRule{ValidDays: 40, OnDemand: true}, AtExpiry: AutoDelete, Transfer: ImmediateTransfer, TransferYears: 1,
		Restorable: true, Label: LabelRule{Min: 2},
	},
	".at": austria, ".co.at": austria, ".or.at": austria,
	".ch": switzerland, ".li": switzerland,
	".be": {
		Roles: registrantTechRoles, HostAttributes: true, MaxNameservers: 9, MinYears: 1, MaxYears: 1,
		AuthInfo: AuthInfoRule{OnDemand: true, ValidDays: 7}, Transfer: ImmediateTransfer, TransferYears: 1, Restorable: true,
		Label: LabelRule{Min: 2},
	},
	".nl": {
		Roles: rolesWithoutBilling, MaxNameservers: 13, MinYears: 1, MaxYears: 1,
		AuthInfo: AuthInfoRule{}, Transfer: ImmediateTransfer, Restorable: true, Label: LabelRule{Min: 2, NoIDN: true},
	},
	".fr": {
		Roles: rolesWithoutBilling, HostAttributes: true, MaxNameservers: 8, MinYears: 1, MaxYears: 10,
		AuthInfo: AuthInfoRule{Min: 8, Max: 20}, Transfer: PendingTransfer, TransferYears: 1, Restorable: true,
	},
	".it": {
		Roles: rolesWithoutBilling, HostAttributes: true, MinNameservers: 2, MaxNameservers: 6, MinYears: 1, MaxYears: 1,
		AuthInfo: AuthInfoRule{Min: 8, Max: 32}, Transfer: PendingTransfer, TransferYears: 1, Restorable: true, Label: LabelRule{Min: 3},
	},
	".se": sweden, ".nu": sweden,
	// At .uk nobody can ask for a domain: the losing registrar changes the tag.
	".uk": nominet, ".co.uk": nominet, ".org.uk": nominet, ".me.uk": nominet,
	".ai": withYears(defaultPolicy, 2, 10),
}

var (
	austria = Policy{
		Roles: registrantTechRoles, HostAttributes: true, MaxNameservers: 8, MinYears: 1, MaxYears: 1,
		AuthInfo: AuthInfoRule{OnDemand: true}, Transfer: ImmediateTransfer,
	}
	switzerland = Policy{
		Roles: registrantTechRoles, MaxNameservers: 13, MinYears: 1, MaxYears: 1,
		AuthInfo: AuthInfoRule{Min: 8, Max: 32, OnDemand: true}, Transfer: ImmediateTransfer, Restorable: true, Label: LabelRule{Min: 3},
	}
	sweden = Policy{
		Roles: registrantRole, MaxNameservers: 13, MinYears: 1, MaxYears: 10,
		AuthInfo: AuthInfoRule{Min: 8, Max: 16}, AtExpiry: AutoDelete, Transfer: ImmediateTransfer, Restorable: true,
	}
	nominet = Policy{
		Roles: registrantRole, MaxNameservers: 10, MinYears: 1, MaxYears: 10,
		AtExpiry: AutoDelete, Transfer: PushTransfer, Restorable: true, NoTransferLock: true,
	}
)

func withYears(p Policy, minYears, maxYears int) Policy {
	p.MinYears, p.MaxYears = minYears, maxYears
	return p
}

// PolicyOf is the policy of an extension (".co.uk"). own is the operator's table
// and goes first; nil means none. It is a copy, so nobody changes the table.
func PolicyOf(tld string, own map[string]Policy) Policy {
	p, found := own[tld]
	if !found {
		if p, found = policies[tld]; !found {
			p = defaultPolicy
		}
	}
	p.Roles = slices.Clone(p.Roles)
	return p
}

// NeedsContacts says whether a domain has contacts at all.
func (p *Policy) NeedsContacts() bool { return len(p.Roles) > 0 }

// PolicyViolation is the code of a registration that the registry would refuse.
const PolicyViolation registrar.Code = "epp_breaks_policy"

// Check reports the first thing that the registry would refuse in a registration.
// The error names the rule and never the name.
func (p *Policy) Check(q *CreateDomain) error {
	if problem := p.violation(q); problem != "" {
		return &registrar.Error{Kind: registrar.KindInvalid, Code: PolicyViolation, Detail: problem}
	}
	return nil
}

func (p *Policy) violation(q *CreateDomain) string {
	label, _, _ := strings.Cut(q.Name, ".")
	if problem := p.Label.violation(label); problem != "" {
		return problem
	}
	servers := len(q.Nameservers)
	switch {
	case q.Years < p.MinYears || q.Years > p.MaxYears:
		return fmt.Sprintf("the term must be %d to %d years", p.MinYears, p.MaxYears)
	case servers < p.MinNameservers || p.MaxNameservers > 0 && servers > p.MaxNameservers:
		return fmt.Sprintf("there must be %d to %d nameservers", p.MinNameservers, p.MaxNameservers)
	case servers > 0 && q.HostAttributes != p.HostAttributes:
		return "the nameservers are sent in the wrong form (host objects or attributes)"
	}
	for _, role := range allRoles {
		has := role == Registrant && q.Registrant != "" ||
			slices.ContainsFunc(q.Contacts, func(c Contact) bool { return c.Role == role })
		if wants := slices.Contains(p.Roles, role); wants != has {
			return fmt.Sprintf("contact %s: wanted %t, given %t", role, wants, has)
		}
	}
	return p.AuthInfo.violation(q.AuthInfo)
}

func (r *AuthInfoRule) violation(secret string) string {
	length := utf8.RuneCountInString(secret)
	switch {
	case r.Max == 0 || r.OnDemand:
		if length > 0 {
			return "a registration carries no auth code here"
		}
	case length < r.Min || length > r.Max:
		return fmt.Sprintf("the auth code must have %d to %d characters", r.Min, r.Max)
	}
	return ""
}

func (r *LabelRule) violation(label string) string {
	shown := label
	if strings.HasPrefix(label, "xn--") {
		if r.NoIDN {
			return "the registry has only a-z, 0-9 and the hyphen"
		}
		decoded, err := idna.Punycode.ToUnicode(label)
		if err != nil {
			return "the name is no valid IDN"
		}
		shown = decoded
	}
	length := utf8.RuneCountInString(shown)
	if length < max(1, r.Min) || r.Max > 0 && length > r.Max || len(label) > 63 {
		return "the name has a length that the registry does not sell"
	}
	return ""
}
