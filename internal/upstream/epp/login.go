package epp

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// greeting is the server's self-description (RFC 5730, 2.4).
type greeting struct {
	server        string
	at            time.Time
	languages     []string
	objectURIs    []string
	extensionURIs []string
}

func readGreeting(n *Node) greeting {
	menu := n.Child(nsEPP, "svcMenu")
	g := greeting{server: n.value(nsEPP, "svID"), at: n.timeValue(nsEPP, "svDate")}
	for _, item := range menu.All(nsEPP, "lang") {
		g.languages = append(g.languages, item.Text)
	}
	for _, item := range menu.All(nsEPP, "objURI") {
		g.objectURIs = append(g.objectURIs, item.Text)
	}
	for _, item := range menu.Child(nsEPP, "svcExtension").All(nsEPP, "extURI") {
		g.extensionURIs = append(g.extensionURIs, item.Text)
	}
	return g
}

// passwordInExtension replaces a password that is sent in the extension (RFC 8807,
// 3.2).
const passwordInExtension = "[LOGIN-SECURITY]"

// login holds the content of a login command (RFC 5730, 2.9.1.1).
type login struct {
	clientID, password, newPassword string
	language                        string
	objectURIs, extensionURIs       []string
	userAgent                       string
}

// prepareLogin selects the services that both sides support.
func prepareLogin(a *Account, g greeting, newPassword string) (login, error) {
	known := knownExtensions()
	if a.ProtocolExtension != nil {
		known = append(known, a.ProtocolExtension.URIs()...)
	}
	l := login{
		clientID: a.ClientID, password: a.Password, newPassword: newPassword,
		language:      a.Language,
		objectURIs:    intersectURIs(g.objectURIs, []string{nsDomain, nsContact, nsHost}),
		extensionURIs: intersectURIs(g.extensionURIs, known),
		userAgent:     a.UserAgent,
	}
	if !slices.Contains(l.objectURIs, nsDomain) {
		return login{}, registrar.Fault(registrar.FaultBroken, a.host(), errNoDomainObject)
	}
	if len(g.languages) > 0 && !slices.Contains(g.languages, l.language) {
		l.language = g.languages[0]
	}
	tooLong := len(l.password) > maxPlainPassword || len(newPassword) > maxPlainPassword
	if tooLong && !slices.Contains(l.extensionURIs, nsLoginSec) {
		return login{}, &registrar.Error{
			Kind: registrar.KindUpstream, Code: ResultLogin,
			Detail: a.host() + ": the password has more than 16 characters, and the server does not offer login security",
		}
	}
	return l, nil
}

var errNoDomainObject = errors.New("the server does not offer domain objects")

func (l *login) services() services {
	has := make(services)
	for _, uri := range slices.Concat(l.objectURIs, l.extensionURIs) {
		has[uri] = true
	}
	return has
}

func (l *login) call(trid string) *call {
	return &call{
		Command: Command{Verb: "login"}, safe: true, trid: trid,
		body: l.body, writeExtension: l.writeExtension,
	}
}

func (l *login) body(w *Writer) {
	w.handle("clID", l.clientID)
	w.sized("pw", plainPassword(l.password), minPassword, maxPlainPassword)
	if l.newPassword != "" {
		w.sized("newPW", plainPassword(l.newPassword), minPassword, maxPlainPassword)
	}
	w.Start("options")
	w.Leaf("version", "1.0")
	w.Leaf("lang", l.language)
	w.End("options")
	w.Start("svcs")
	for _, uri := range l.objectURIs {
		w.Leaf("objURI", uri)
	}
	if len(l.extensionURIs) > 0 {
		w.Start("svcExtension")
		for _, uri := range l.extensionURIs {
			w.Leaf("extURI", uri)
		}
		w.End("svcExtension")
	}
	w.End("svcs")
}

func plainPassword(password string) string {
	if len(password) > maxPlainPassword {
		return passwordInExtension
	}
	return password
}

func (l *login) writeExtension(w *Writer, has services) {
	if !has[nsLoginSec] {
		return
	}
	w.Start("loginSec:loginSec", Attr{"xmlns:loginSec", nsLoginSec})
	w.Start("loginSec:userAgent")
	w.Leaf("loginSec:app", l.userAgent)
	w.End("loginSec:userAgent")
	if len(l.password) > maxPlainPassword {
		w.Leaf("loginSec:pw", l.password)
	}
	if len(l.newPassword) > maxPlainPassword {
		w.Leaf("loginSec:newPW", l.newPassword)
	}
	w.End("loginSec:loginSec")
}

// connect opens a session and logs in. Any failure closes the connection.
func connect(ctx context.Context, a *Account, dial dialer, newPassword, trid string) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, a.ConnectTimeout)
	defer cancel()
	s, g, err := openSession(ctx, a, dial)
	if err != nil {
		return nil, err
	}
	l, err := prepareLogin(a, g, newPassword)
	if err != nil {
		s.close(err)
		return nil, err
	}
	s.services = l.services()
	response, sent, err := s.do(ctx, l.call(trid))
	if err != nil {
		s.close(err)
		if sent && newPassword != "" {
			return nil, outcomeUnknown(s.host, err)
		}
		return nil, a.toFault("login", err)
	}
	if err := response.asError(a, "login"); err != nil {
		s.close(err)
		return nil, err
	}
	a.logSecurityEvents(ctx, response.extension)
	return s, nil
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
// The account needs a spare connection if the server is running. ErrOutcomeUnknown
// means that either password may be valid now.
func ChangePassword(ctx context.Context, a Account, newPassword string) error {
	if err := a.validate(); err != nil {
		return err
	}
	if err := validatePassword(newPassword); err != nil {
		return err
	}
	a = a.withDefaults()
	return changePassword(ctx, &a, dialTLS(&a), newPassword)
}

func changePassword(ctx context.Context, a *Account, dial dialer, newPassword string) error {
	s, err := connect(ctx, a, dial, newPassword, newTRID(a.Now()))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, logoutTimeout)
	defer cancel()
	s.logout(ctx, newTRID(a.Now()))
	return nil
}

// logoutTimeout limits the wait for the response to a logout.
const logoutTimeout = 2 * time.Second

// newTRID generates a unique clTRID of 29 characters.
func newTRID(now time.Time) string { return registrar.NewID("dk-", now) }
