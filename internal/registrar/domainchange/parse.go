package domainchange

import (
	"encoding/hex"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
)

// hostProfile converts host names to lower-case A-labels.
var hostProfile = idna.New(idna.MapForLookup(), idna.StrictDomainName(true), idna.VerifyDNSLength(true), idna.Transitional(false))

// CheckNameserverLines returns an error if a line can't be a nameserver of any domain, or if the text
// has no line.
// Its cause is an InputLine.
func CheckNameserverLines(text string) error {
	servers, err := parseNameserverLines(text, func(Nameserver) error { return nil })
	if err == nil && len(servers) == 0 {
		err = registrar.Invalid(TooFewNameservers)
	}
	return err
}

// parseNameservers parses user input: one nameserver per line, with its name and, if it is
// below the domain itself, its addresses. It does not check how many the registry allows.
func parseNameservers(domain, text string) ([]Nameserver, error) {
	return parseNameserverLines(text, func(server Nameserver) error { return server.checkGlue(domain) })
}

func parseNameserverLines(text string, check func(Nameserver) error) ([]Nameserver, error) {
	var servers []Nameserver
	number := 0
	for line := range strings.Lines(text) {
		number++
		fields := strings.FieldsFunc(line, func(r rune) bool { return r <= ' ' || r == ',' || r == ';' || r == '\u00a0' })
		if len(fields) == 0 {
			continue
		}
		server, err := parseNameserver(fields)
		if err == nil {
			err = check(server)
		}
		if err == nil && slices.ContainsFunc(servers, func(other Nameserver) bool { return other.Name == server.Name }) {
			err = registrar.Invalid(DuplicateNameserver)
		}
		if err != nil {
			return nil, &registrar.Error{Kind: registrar.KindInvalid, Code: registrar.CodeOf(err), Err: &InputLine{number, strings.TrimSpace(line)}}
		}
		servers = append(servers, server)
	}
	return servers, nil
}

// InputLine is the cause of an error about one line of input.
type InputLine struct {
	Number int
	Text   string
}

// Error does not quote the line: logs must not contain it.
func (l *InputLine) Error() string { return "invalid line " + strconv.Itoa(l.Number) }

// parseHost returns a host name in lower-case A-labels. IP addresses are refused.
func parseHost(text string) (string, bool) {
	name, err := hostProfile.ToASCII(strings.TrimSuffix(text, "."))
	if err != nil || !strings.Contains(name, ".") {
		return "", false
	}
	return name, strings.Trim(name[strings.LastIndexByte(name, '.')+1:], "0123456789") != ""
}

func parseNameserver(fields []string) (Nameserver, error) {
	name, ok := parseHost(fields[0])
	if !ok {
		return Nameserver{}, registrar.Invalid(BadNameserver)
	}
	server := Nameserver{Name: name}
	for _, field := range fields[1:] {
		address, err := netip.ParseAddr(field)
		_, isHost := parseHost(field)
		switch {
		case isHost:
			return Nameserver{}, registrar.Invalid(SeveralNameservers)
		case err != nil || address.Zone() != "" || !address.IsGlobalUnicast():
			return Nameserver{}, registrar.Invalid(BadNameserver)
		case !slices.Contains(server.Addresses, address.Unmap()):
			server.Addresses = append(server.Addresses, address.Unmap())
		}
	}
	return server, nil
}

// checkGlue returns an error unless a nameserver has addresses exactly if it is below the domain.
func (n Nameserver) checkGlue(domain string) error {
	inBailiwick := n.Name == domain || strings.HasSuffix(n.Name, "."+domain)
	switch {
	case inBailiwick && len(n.Addresses) == 0:
		return registrar.Invalid(GlueMissing)
	case !inBailiwick && len(n.Addresses) > 0:
		return registrar.Invalid(UnexpectedGlue)
	}
	return nil
}

// Algorithms and digests considered secure today (RFC 8624 and successors); SHA-1 is not.
var (
	trustedAlgorithms = map[uint8]bool{8: true, 10: true, 13: true, 14: true, 15: true, 16: true}
	digestLengths     = map[uint8]int{2: 64, 4: 96} // hexadecimal digits
	weakAlgorithms    = map[uint8]bool{1: true, 3: true, 5: true, 6: true, 7: true, 12: true}
	weakDigests       = map[uint8]bool{1: true, 3: true}
)

// parseDS parses a DS record as tools print it: a whole zone line or its four values. It
// refuses insecure algorithms and digests, and unknown ones, which are probably mistyped.
func parseDS(text string) (DS, error) {
	ds, err := parseDSFields(text)
	if err != nil {
		return DS{}, err
	}
	length, known := digestLengths[ds.DigestType]
	switch {
	case weakAlgorithms[ds.Algorithm] || weakDigests[ds.DigestType]:
		return DS{}, registrar.Invalid(WeakDS)
	case !known || !trustedAlgorithms[ds.Algorithm] || len(ds.Digest) != length:
		return DS{}, registrar.Invalid(BadDS)
	}
	return ds, nil
}

func parseDSFields(text string) (DS, error) {
	fields := strings.Fields(strings.NewReplacer("(", " ", ")", " ").Replace(text))
	for i, field := range fields {
		if strings.EqualFold(field, "DS") {
			fields = fields[i+1:]
			break
		}
	}
	if len(fields) < 4 {
		return DS{}, registrar.Invalid(BadDS)
	}
	tag, err1 := strconv.ParseUint(fields[0], 10, 16)
	algorithm, err2 := strconv.ParseUint(fields[1], 10, 8)
	digestType, err3 := strconv.ParseUint(fields[2], 10, 8)
	digest := strings.ToUpper(strings.Join(fields[3:], ""))
	if _, err := hex.DecodeString(digest); err1 != nil || err2 != nil || err3 != nil || err != nil {
		return DS{}, registrar.Invalid(BadDS)
	}
	return DS{KeyTag: uint16(tag), Algorithm: uint8(algorithm), DigestType: uint8(digestType), Digest: digest}, nil
}

// ChangeRequest is a change as a customer requests it.
type ChangeRequest struct {
	Kind ChangeKind
	// Nameservers and DS are unparsed input; only the one of the kind is read.
	Nameservers, DS string
	// Immediate changes the nameservers although the domain has DS records. The customer was
	// warned that this takes the domain offline.
	Immediate bool
	// Holder is the id of the holder that the domain gets; empty means the customer. An empty
	// Reason is derived from whether the domain has another holder now.
	Holder string
	Reason holder.Reason
}

// desiredState parses the request and refuses what the registry does not support.
func (w ChangeRequest) desiredState(domain Domain, capabilities Capabilities) (DesiredState, error) {
	switch w.Kind {
	case Nameservers:
		servers, err := parseNameservers(domain.Name, w.Nameservers)
		switch {
		case err != nil:
			return DesiredState{}, err
		case len(servers) < capabilities.MinNameservers:
			return DesiredState{}, registrar.Invalid(TooFewNameservers)
		case len(servers) > capabilities.MaxNameservers:
			return DesiredState{}, registrar.Invalid(TooManyNameservers)
		}
		return DesiredState{Nameservers: servers, Immediate: w.Immediate}, nil
	case AddDS:
		ds, err := parseDS(w.DS)
		return DesiredState{DS: &ds}, err
	case RemoveDS: // existing records may use algorithms that parseDS refuses
		ds, err := parseDSFields(w.DS)
		return DesiredState{DS: &ds}, err
	case UpdateRegistrant:
		return w.desiredHolder(domain)
	case Lock, Unlock, AuthCode, Secure, Hold, Release:
		if code := capabilities.lacks(w.Kind); code != "" {
			return DesiredState{}, registrar.Unsupported(code)
		}
		return DesiredState{}, nil
	default:
		return DesiredState{}, registrar.Invalid(NoSuchChange)
	}
}
