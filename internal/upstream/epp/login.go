package epp

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// connect opens a session and logs in; a newPassword replaces the account's. Any
// failure closes the connection.
func connect(ctx context.Context, a *Account, dial dialer, newPassword string) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, a.ConnectTimeout)
	defer cancel()
	s, greeting, err := openSession(ctx, a, dial)
	if err != nil {
		return nil, err
	}
	if err := s.login(ctx, greeting, newPassword); err != nil {
		s.close(err)
		return nil, err
	}
	return s, nil
}

func (s *session) login(ctx context.Context, greeting *Node, newPassword string) error {
	cmd, has, err := loginCall(s.account, greeting, newPassword)
	if err != nil {
		return err
	}
	s.services = has
	if s.account.offered != nil {
		s.account.offered.Store(&has)
	}
	response, sent, err := s.do(ctx, cmd)
	switch {
	case err != nil && sent && newPassword != "":
		return outcomeUnknown(s.host, err)
	case err != nil:
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
func loginCall(a *Account, greeting *Node, newPassword string) (*call, services, error) {
	menu := greeting.Child(nsEPP, "svcMenu")
	known := knownExtensions
	if a.ProtocolExtension != nil {
		known = slices.Concat(known, a.ProtocolExtension.URIs())
	}
	objects := intersectURIs(menu.texts(nsEPP, "objURI"), slices.Concat([]string{nsDomain, nsContact, nsHost, nsBalance}, messageObjects))
	extensions := intersectURIs(menu.Child(nsEPP, "svcExtension").texts(nsEPP, "extURI"), known)
	if !slices.Contains(objects, nsDomain) {
		return nil, nil, registrar.Fault(registrar.FaultBroken, a.host(), errNoDomainObject)
	}
	language := "en"
	if offered := menu.texts(nsEPP, "lang"); len(offered) > 0 && !slices.Contains(offered, language) {
		language = offered[0]
	}
	if max(len(a.Password), len(newPassword)) > maxPlainPassword && !slices.Contains(extensions, nsLoginSec) {
		return nil, nil, &registrar.Error{
			Kind: registrar.KindUpstream, Code: ResultLogin,
			Detail: a.host() + ": the password has more than 16 characters, and the server does not offer login security",
		}
	}
	has := make(services)
	for _, uri := range slices.Concat(objects, extensions) {
		has[uri] = true
	}
	cmd := &call{Command: Command{Verb: "login"}, safe: true, trid: newTRID()}
	cmd.body = func(w *Writer) {
		w.handle("clID", a.ClientID)
		writePassword(w, "pw", a.Password)
		if newPassword != "" {
			writePassword(w, "newPW", newPassword)
		}
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
		if len(a.Password) > maxPlainPassword {
			w.Leaf("loginSec:pw", a.Password)
		}
		if len(newPassword) > maxPlainPassword {
			w.Leaf("loginSec:newPW", newPassword)
		}
		w.End("loginSec:loginSec")
	}
	return cmd, has, nil
}

// writePassword writes a password, or its replacement if it is too long.
func writePassword(w *Writer, tag, password string) {
	if len(password) > maxPlainPassword {
		password = passwordInExtension
	}
	w.sized(tag, password, minPassword, maxPlainPassword)
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

// ChangePassword logs in once over a connection of its own and sets a new password.
// If the service is running, the account needs a spare connection.
// ErrOutcomeUnknown means that either password may be valid now.
func ChangePassword(ctx context.Context, a Account, newPassword string) error {
	changed := a
	changed.Password = newPassword
	if err := cmp.Or(a.validate(), changed.validate()); err != nil {
		return err
	}
	a = a.withDefaults()
	return changePassword(ctx, &a, dialTLS(&a), newPassword)
}

func changePassword(ctx context.Context, a *Account, dial dialer, newPassword string) error {
	s, err := connect(ctx, a, dial, newPassword)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, logoutTimeout)
	defer cancel()
	s.logout(ctx)
	return nil
}

// logoutTimeout limits the wait for the response to a logout.
const logoutTimeout = 2 * time.Second
