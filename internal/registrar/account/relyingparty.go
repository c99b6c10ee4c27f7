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

// relyingParties are the WebAuthn configurations by origin. A passkey belongs to a host
// name, and its response must come from exactly the origin of the page.
type relyingParties map[string]*webauthn.WebAuthn

// PasskeyOrigins returns the origins of a base URL. A passkey can't belong to an IP
// address, so a loopback address is replaced by localhost. Browsers don't support
// passkeys over other plain HTTP; the list is then empty.
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

func newRelyingParties(origins []string) (relyingParties, error) {
	parties := make(relyingParties, len(origins))
	for _, origin := range origins {
		address, err := url.Parse(origin)
		if err != nil || address.Hostname() == "" {
			return nil, errors.New("account: Config.Origins: an origin must look like https://example.com")
		}
		party, err := webauthn.New(&webauthn.Config{
			RPID: address.Hostname(), RPDisplayName: issuer, RPOrigins: []string{origin},
			// The authenticator's model does not matter.
			AttestationPreference: protocol.PreferNoAttestation,
			AuthenticatorSelection: protocol.AuthenticatorSelection{
				ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(),
				UserVerification: protocol.VerificationRequired,
			},
			// Some password managers return extension outputs that were not requested.
			ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
		})
		if err != nil {
			return nil, fmt.Errorf("account: passkeys for %s: %w", origin, err)
		}
		parties[origin] = party
	}
	return parties, nil
}

func (parties relyingParties) forOrigin(origin string) (*webauthn.WebAuthn, error) {
	party, ok := parties[strings.ToLower(origin)]
	if !ok {
		return nil, registrar.Invalid(OriginUnknown)
	}
	return party, nil
}
