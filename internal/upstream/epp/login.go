package epp

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// connect opens a session and logs in. Any failure closes the connection.
func connect(ctx context.Context, a *Account, dial dialer) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, a.ConnectTimeout)
	defer cancel()
	s, greeting, err := openSession(ctx, a, dial)
	if err != nil {
		return nil, err
	}
	if err := s.login(ctx, greeting); err != nil {
		s.close(err)
		return nil, err
	}
	return s, nil
}

func (s *session) login(ctx context.Context, greeting *Node) error {
	cmd, has, err := loginCall(s.account, greeting)
	if err != nil {
		return err
	}
	s.services = has
	response, _, err := s.do(ctx, cmd)
	if err != nil {
		return s.account.toFault("login", err)
	}
	if err := response.asError(s.account, "login"); err != nil {
		return err
	}
	s.account.logSecurityEvents(ctx, response.extension)
	return nil
}

// passwordInExtension replaces a password that is sent in the extension (RFC 8807,
// 3.2).
const passwordInExtension = "[LOGIN-SECURITY]"

var errNoDomainObject = errors.New("the server does not offer domain objects")

// loginCall builds the login command (RFC 5730, 2.9.1.1) with the services that both
// sides support.
func loginCall(a *Account, greeting *Node) (*call, services, error) {
	menu := greeting.Child(nsEPP, "svcMenu")
	known := knownExtensions
	if a.ProtocolExtension != nil {
		known = slices.Concat(known, a.ProtocolExtension.URIs())
	}
	objects := intersectURIs(menu.texts(nsEPP, "objURI"), []string{nsDomain, nsContact, nsHost})
	extensions := intersectURIs(menu.Child(nsEPP, "svcExtension").texts(nsEPP, "extURI"), known)
	if !slices.Contains(objects, nsDomain) {
		return nil, nil, registrar.Fault(registrar.FaultBroken, a.host(), errNoDomainObject)
	}
	language := "en"
	if offered := menu.texts(nsEPP, "lang"); len(offered) > 0 && !slices.Contains(offered, language) {
		language = offered[0]
	}
	password, isLong := a.Password, len(a.Password) > maxPlainPassword
	if isLong {
		if !slices.Contains(extensions, nsLoginSec) {
			return nil, nil, &registrar.Error{
				Kind: registrar.KindUpstream, Code: ResultLogin,
				Detail: a.host() + ": the password has more than 16 characters, and the server does not offer login security",
			}
		}
		password = passwordInExtension
	}
	has := make(services)
	for _, uri := range slices.Concat(objects, extensions) {
		has[uri] = true
	}
	cmd := &call{Command: Command{Verb: "login"}, safe: true, trid: newTRID()}
	cmd.body = func(w *Writer) {
		w.handle("clID", a.ClientID)
		w.sized("pw", password, minPassword, maxPlainPassword)
		w.Start("options")
		w.Leaf("version", "1.0")
		w.Leaf("lang", language)
		w.End("options")
		w.Start("svcs")
		for _, uri := range objects {
			w.Leaf("objURI", uri)
		}
		if len(extensions) > 0 {
			w.Start("svcExtension")
			for _, uri := range extensions {
				w.Leaf("extURI", uri)
			}
			w.End("svcExtension")
		}
		w.End("svcs")
	}
	cmd.writeExtension = func(w *Writer, has services) {
		if !has[nsLoginSec] {
			return
		}
		w.Start("loginSec:loginSec", Attr{"xmlns:loginSec", nsLoginSec})
		w.Start("loginSec:userAgent")
		w.Leaf("loginSec:app", a.UserAgent)
		w.End("loginSec:userAgent")
		if isLong {
			w.Leaf("loginSec:pw", a.Password)
		}
		w.End("loginSec:loginSec")
	}
	return cmd, has, nil
}

// logSecurityEvents logs the login security events (RFC 8807, section 4.1) of a
// login response: an expired password or certificate locks the account out.
// "severity" is the event's level; "level" is the log record's own key.
func (a *Account) logSecurityEvents(ctx context.Context, extension *Node) {
	for _, event := range extension.Child(nsLoginSec, "loginSecData").All(nsLoginSec, "event") {
		a.Logger.WarnContext(ctx, "registry login security event", "account", a.label(), "host", a.host(),
			"type", event.Attr("type"), "name", event.Attr("name"), "severity", event.Attr("level"), "value", event.Attr("value"),
			"duration", event.Attr("duration"), "until", event.Attr("exDate"))
	}
}

// logoutTimeout limits the wait for the response to a logout.
const logoutTimeout = 2 * time.Second
