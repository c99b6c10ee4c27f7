package account

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// relyingParties are the checks of passkeys by origin. A passkey belongs to a
// host name, and its answer must come from exactly the origin of the page.
type relyingParties map[string]*webauthn.WebAuthn

// PasskeyOrigins are the origins for a base address. A passkey can't belong to
// an IP address, so a loopback address is also reached as localhost. Browsers
// have no passkeys on other plain HTTP, and the list is empty there.
func PasskeyOrigins(base string) []string {
	address, err := url.Parse(base)
	if err != nil || address.Host == "" {
		return nil
	}
	host := strings.ToLower(address.Hostname())
	ip, err := netip.ParseAddr(host)
	isIP := err == nil
	switch {
	case isIP && ip.IsLoopback():
		host = "localhost"
	case isIP, address.Scheme != "https" && host != "localhost":
		return nil
	}
	if port := address.Port(); port != "" && (address.Scheme != "https" || port != "443") && (address.Scheme != "http" || port != "80") {
		host = net.JoinHostPort(host, port)
	}
	return []string{address.Scheme + "://" + host}
}

func newRelyingParties(origins []string, name string) (relyingParties, error) {
	parties := make(relyingParties, len(origins))
	for _, origin := range origins {
		address, err := url.Parse(origin)
		if err != nil || address.Hostname() == "" {
			return nil, errors.New("customer: an origin is like https://example.com")
		}
		party, err := webauthn.New(&webauthn.Config{
			RPID: address.Hostname(), RPDisplayName: name, RPOrigins: []string{origin},
			// Which maker an authenticator has is none of our business.
			AttestationPreference: protocol.PreferNoAttestation,
			AuthenticatorSelection: protocol.AuthenticatorSelection{
				ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(),
				UserVerification: protocol.VerificationRequired,
			},
			// Some password managers answer what nobody has asked.
			ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
		})
		if err != nil {
			return nil, fmt.Errorf("customer: passkeys for %s: %w", origin, err)
		}
		parties[origin] = party
	}
	return parties, nil
}

func (parties relyingParties) forOrigin(origin string) (*webauthn.WebAuthn, error) {
	party, ok := parties[strings.ToLower(origin)]
	if !ok {
		return nil, fail(registrar.KindInvalid, OriginUnknown)
	}
	return party, nil
}
