package epp

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Policy describes how the registry of a TLD, or the gateway in front of it,
// differs beyond the protocol. lifecycle.PolicyOf has what happens at the end of a term.
type Policy struct {
	// Roles are the contacts that a domain requires, including the registrant.
	// Empty means a registry without contacts ("thin"). Roles and Contact come from
	// contactpolicy.csv.
	Roles   []Role
	Contact ContactRule
	// RegistrarContact is the handle of a contact of ours for all roles but the registrant that the
	// registrant names no contact for. Empty means that the registrant's contact has these roles.
	RegistrarContact string
	// HostAttributes means that nameservers are sent with the domain. Otherwise
	// they are host objects, which must exist first.
	HostAttributes bool
	// MinNameservers and MaxNameservers limit a domain's nameservers. A minimum of
	// 0 allows a domain without any.
	MinNameservers, MaxNameservers int
	// MinYears and MaxYears limit the registration term.
	MinYears, MaxYears int
	AuthInfo           AuthInfoRule
	// NoRenew means that the registry has no renew command: it adds each year itself,
	// until the domain is deleted.
	NoRenew  bool
	Transfer TransferStyle
	// TransferYears is what a completed transfer adds to the term.
	TransferYears int
	// ObjectionDays is how long the losing registrar may object to a PendingTransfer; 0 means
	// the five days of gTLDs.
	ObjectionDays int
	// NoAnswer means that the losing registrar can't approve or reject a PendingTransfer. It
	// never can without a pending phase.
	NoAnswer bool
	// NoTransferLock means that a registrar can't set clientTransferProhibited; only the auth
	// code protects a domain. Elsewhere new domains are locked.
	NoTransferLock bool
	// NoHold means that a registrar can't set clientHold, which takes a domain out of the DNS.
	NoHold bool
	Label  LabelRule
}

// AuthInfoRule describes a registry's rules for auth codes.
type AuthInfoRule struct {
	// Min and Max limit the length. Max 0 means that the registry sets the code,
	// and an empty one is sent.
	Min, Max int
	// OnDemand means that the code is set when the registrant wants to transfer
	// away; a registration sends an empty one.
	OnDemand bool
	// ValidDays is the code's lifetime; 0 means unlimited.
	ValidDays int
}

// TransferStyle is how a domain changes its registrar.
type TransferStyle uint8

const (
	// PendingTransfer: the losing registrar can object (RFC 5730; five days at
	// gTLDs).
	PendingTransfer TransferStyle = iota
	// ImmediateTransfer: the correct auth code moves the domain at once.
	ImmediateTransfer
	// PushTransfer: the losing registrar pushes the domain; the gaining one can't
	// request it.
	PushTransfer
)

// objectionDays is how long the losing registrar of a gTLD may object.
const objectionDays = 5

// LabelRule describes which labels can be registered.
type LabelRule struct {
	// Min is the minimum length in characters; 0 means 1. The maximum is 63.
	Min int
	// NoIDN allows only a-z, 0-9 and the hyphen.
	NoIDN bool
}

var allRoles = []Role{Registrant, Admin, Tech, Billing}

// defaultPolicy applies to TLDs missing from the table. It follows ICANN's registry
// agreement.
var defaultPolicy = Policy{
	MaxNameservers: 13, MinYears: 1, MaxYears: 10,
	AuthInfo: AuthInfoRule{Min: 8, Max: 16}, TransferYears: 1,
}

// policies holds the differences, except those of contacts (contactpolicy.csv). The
// operator's configuration overrides them where a gateway presents a TLD differently.
var policies = map[string]Policy{
	".day": withYears(defaultPolicy, 1, 1),
	// DENIC uses RRI, so this is a gateway's view: no choice of term, no pending
	// phase, an auth code that is set on demand and expires after 30 days, TRANSIT
	// for abandoned domains.
	".de": {
		HostAttributes: true, MinNameservers: 2, MaxNameservers: 13, MinYears: 1, MaxYears: 1,
		AuthInfo: AuthInfoRule{Min: 8, Max: 16, OnDemand: true, ValidDays: 30},
		Transfer: ImmediateTransfer, NoTransferLock: true,
	},
	// EURid generates the auth code; it is valid for 40 days. It accepts no client statuses.
	".eu": {
		HostAttributes: true, MaxNameservers: 9, MinYears: 1, MaxYears: 10,
		AuthInfo: AuthInfoRule{ValidDays: 40, OnDemand: true}, Transfer: ImmediateTransfer, TransferYears: 1,
		NoTransferLock: true, NoHold: true, Label: LabelRule{Min: 2},
	},
	".at": austria, ".co.at": austria, ".or.at": austria,
	".ch": switzerland, ".li": switzerland,
	".be": {
		HostAttributes: true, MaxNameservers: 9, MinYears: 1, MaxYears: 1,
		AuthInfo: AuthInfoRule{OnDemand: true, ValidDays: 7}, NoRenew: true, Transfer: ImmediateTransfer, TransferYears: 1,
		Label: LabelRule{Min: 2},
	},
	// SIDN accepts no client statuses.
	".nl": {
		MaxNameservers: 13, MinYears: 1, MaxYears: 1,
		AuthInfo: AuthInfoRule{}, NoRenew: true, Transfer: ImmediateTransfer, NoTransferLock: true, NoHold: true, Label: LabelRule{Min: 2, NoIDN: true},
	},
	".fr": {
		HostAttributes: true, MaxNameservers: 8, MinYears: 1, MaxYears: 10,
		AuthInfo: AuthInfoRule{Min: 8, Max: 20}, Transfer: PendingTransfer, TransferYears: 1, ObjectionDays: 9,
	},
	".it": {
		HostAttributes: true, MinNameservers: 2, MaxNameservers: 6, MinYears: 1, MaxYears: 1,
		AuthInfo: AuthInfoRule{Min: 8, Max: 32}, NoRenew: true, Transfer: PendingTransfer, TransferYears: 1, ObjectionDays: 1, Label: LabelRule{Min: 3},
	},
	".se": sweden, ".nu": sweden,
	// At .uk the gaining registrar can't request a transfer: the losing one changes
	// the tag.
	".uk": nominet, ".co.uk": nominet, ".org.uk": nominet, ".me.uk": nominet,
	".ai": withYears(defaultPolicy, 2, 10),
	// Punktum dk and NASK accept no client statuses. At .pl the registrant confirms a transfer to
	// the registry (dns.pl, registrar transfer), and it adds no time.
	".dk": withoutStatuses(defaultPolicy), ".pl": poland,
	// CZ.NIC and Traficom: the auth code moves a domain at once, and its term stays.
	".cz": transferredAtOnce(defaultPolicy), ".fi": transferredAtOnce(defaultPolicy),
}

var (
	// A losing registrar can't refuse a transfer at nic.at; Switch accepts no client statuses.
	austria = Policy{
		HostAttributes: true, MinNameservers: 2, MaxNameservers: 8, MinYears: 1, MaxYears: 1,
		AuthInfo: AuthInfoRule{OnDemand: true}, NoRenew: true, Transfer: ImmediateTransfer, NoTransferLock: true,
	}
	switzerland = Policy{
		MaxNameservers: 13, MinYears: 1, MaxYears: 1,
		AuthInfo: AuthInfoRule{Min: 8, Max: 32, OnDemand: true}, NoRenew: true, Transfer: ImmediateTransfer, NoTransferLock: true, NoHold: true, Label: LabelRule{Min: 3},
	}
	sweden = Policy{
		MaxNameservers: 13, MinYears: 1, MaxYears: 10,
		AuthInfo: AuthInfoRule{Min: 8, Max: 16}, Transfer: ImmediateTransfer,
	}
	poland = Policy{
		MaxNameservers: 13, MinYears: 1, MaxYears: 10,
		AuthInfo: AuthInfoRule{Min: 8, Max: 16}, NoTransferLock: true, NoHold: true, NoAnswer: true,
	}
	nominet = Policy{
		MaxNameservers: 10, MinYears: 1, MaxYears: 10,
		Transfer: PushTransfer, NoTransferLock: true,
	}
)

func withYears(p Policy, minYears, maxYears int) Policy {
	p.MinYears, p.MaxYears = minYears, maxYears
	return p
}

// withoutStatuses returns a policy of a registry that accepts no client statuses.
func withoutStatuses(p Policy) Policy {
	p.NoTransferLock, p.NoHold = true, true
	return p
}

// transferredAtOnce returns a policy without a pending phase, in which a transfer adds no time.
func transferredAtOnce(p Policy) Policy {
	p.Transfer, p.TransferYears = ImmediateTransfer, 0
	return p
}

// PolicyOf returns the policy of a TLD (".co.uk").
func PolicyOf(tld string) Policy {
	p, found := policies[tld]
	if !found {
		p = defaultPolicy
	}
	contacts := contactPolicyOf(tld)
	p.Roles, p.Contact = contacts.roles, contacts.rule
	return p
}

// NeedsContacts reports whether a domain has contacts at all.
func (p *Policy) NeedsContacts() bool { return len(p.Roles) > 0 }

// PolicyViolation is the code of a registration that the registry would refuse.
const PolicyViolation registrar.Code = "epp_breaks_policy"

// Check reports the first rule that a registration violates. The error never
// contains the domain name.
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
		return fmt.Sprintf("term must be %d to %d years", p.MinYears, p.MaxYears)
	case servers < p.MinNameservers || p.MaxNameservers > 0 && servers > p.MaxNameservers:
		return fmt.Sprintf("%d to %d nameservers required", p.MinNameservers, p.MaxNameservers)
	case servers > 0 && q.HostAttributes != p.HostAttributes:
		return "nameservers are in the wrong form (host objects or attributes)"
	}
	for _, role := range allRoles {
		has := role == Registrant && q.Registrant != "" ||
			slices.ContainsFunc(q.Contacts, func(c Contact) bool { return c.Role == role })
		if wants := slices.Contains(p.Roles, role); wants != has {
			return fmt.Sprintf("contact %s: required %t, present %t", role, wants, has)
		}
	}
	return p.AuthInfo.violation(q.AuthInfo)
}

// generatedLength is the length of the codes that we generate; 0 where the registry
// sets them.
func (r *AuthInfoRule) generatedLength() int { return min(r.Max, max(r.Min, authCodeLength)) }

func (r *AuthInfoRule) violation(secret string) string {
	length := utf8.RuneCountInString(secret)
	switch {
	case r.Max == 0 || r.OnDemand:
		if length > 0 {
			return "auth code must be empty"
		}
	case length < r.Min || length > r.Max:
		return fmt.Sprintf("auth code must have %d to %d characters", r.Min, r.Max)
	}
	return ""
}

func (r *LabelRule) violation(label string) string {
	shown := label
	if strings.HasPrefix(label, "xn--") {
		if r.NoIDN {
			return "label must consist of a-z, 0-9 and hyphens"
		}
		decoded, err := idna.Punycode.ToUnicode(label)
		if err != nil {
			return "label is not a valid IDN"
		}
		shown = decoded
	}
	length := utf8.RuneCountInString(shown)
	if length < max(1, r.Min) || len(label) > 63 {
		return "label length is not sold by the registry"
	}
	return ""
}
