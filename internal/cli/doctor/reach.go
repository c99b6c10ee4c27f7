package doctor

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// certificateWarnBefore is well after the usual time of automatic renewal.
	certificateWarnBefore = 14 * 24 * time.Hour
	// Signed requests are valid for 300 s; a skew of more than maxSkew leaves too little of that.
	warnSkew = 10 * time.Second
	maxSkew  = 120 * time.Second
)

var reachChecks = []check{
	{group: "reach", name: "the service responds", vital: true, run: serviceAnswers},
	{group: "reach", name: "TLS", run: tlsCertificate},
	{group: "reach", name: "clock", run: clockSkew},
	{group: "reach", name: "readiness", run: readiness},
}

const openAPIPath = "/openapi.json"

func serviceAnswers(v *prober) result {
	a := v.document(openAPIPath)
	return expect(a.err == nil, "an HTTP response", a.String(), fmt.Sprintf("a response after %d ms", a.got.Sub(a.sent).Milliseconds()))
}

func tlsConfig(roots *x509.CertPool) *tls.Config {
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// tlsCertificate opens its own connection; the handshake verifies the certificate.
func tlsCertificate(v *prober) result {
	address, err := url.Parse(v.base)
	if err != nil {
		return fail("a URL", err.Error())
	}
	if address.Scheme == "http" {
		return expect(registrar.IsLoopbackHost(address.Hostname()), "https (http is for loopback only)", v.base, "http, on loopback only")
	}
	dialer := &tls.Dialer{NetDialer: &net.Dialer{Timeout: requestTimeout}, Config: tlsConfig(v.roots)}
	connection, err := dialer.DialContext(v.ctx, "tcp", net.JoinHostPort(address.Hostname(), cmp.Or(address.Port(), "443")))
	if err != nil {
		return fail("a valid certificate and TLS 1.2 or newer", err.Error())
	}
	defer connection.Close()
	secured, ok := connection.(*tls.Conn)
	if !ok {
		return fail("TLS", "something else")
	}
	state := secured.ConnectionState()
	return certificateResult(tls.VersionName(state.Version), time.Until(state.PeerCertificates[0].NotAfter))
}

func certificateResult(protocol string, left time.Duration) result {
	const day = 24 * time.Hour
	seen := fmt.Sprintf("%s, a valid certificate with %d days left", protocol, left/day)
	if left < certificateWarnBefore {
		return warn(fmt.Sprintf("a certificate good for %d days more", certificateWarnBefore/day), seen)
	}
	return pass(seen)
}

// readiness reads /readyz. A degraded part is a failure: lookups still work, but orders
// and accounts do not.
func readiness(v *prober) result {
	const want = "no degraded part"
	a := v.get("/readyz")
	switch {
	case a.err != nil:
		return fail(want, a.String())
	case a.status != http.StatusOK: // a proxy may block it, and a node may be draining
		return warn("200 from /readyz", a.String())
	}
	var degraded []string
	for line := range strings.Lines(string(a.body)) {
		if part, found := strings.CutPrefix(strings.TrimSpace(line), "degraded "); found {
			degraded = append(degraded, part)
		}
	}
	return expect(len(degraded) == 0, want, "degraded: "+strings.Join(degraded, ", "), want)
}

func clockSkew(v *prober) result {
	a := v.document(openAPIPath)
	serverTime, err := http.ParseTime(a.header.Get("Date"))
	if err != nil {
		return fail("a Date header", toJSON(a.header.Get("Date")))
	}
	// The header has whole seconds, rounded down, so half a second is added. Half of the
	// round trip is not skew.
	ours := a.sent.Add(a.got.Sub(a.sent) / 2)
	skew := serverTime.Add(500 * time.Millisecond).Sub(ours).Abs()
	seen := fmt.Sprintf("%s away from ours", skew.Round(time.Second))
	switch {
	case skew > maxSkew:
		return fail(fmt.Sprintf("a clock less than %s away from ours", maxSkew), seen)
	case skew > warnSkew:
		return warn(fmt.Sprintf("a clock less than %s away from ours", warnSkew), seen)
	default:
		return pass(seen)
	}
}
