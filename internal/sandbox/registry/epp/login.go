package epp

import (
	"slices"
	"strconv"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

// Services that the greeting offers.
var (
	objectServices    = []string{domainSpace, contactSpace, hostSpace, balanceSpace, lowBalanceSpace, maintenanceSpace}
	extensionServices = []string{feeSpace, secDNSSpace, rgpSpace, loginSecSpace, changeSpace, eurSpace, nicATSpace}
)

const (
	serverName = "dotkontor sandbox registry"
	// passwordInExtension replaces a password that is sent in the extension (RFC
	// 8807, 3.1).
	passwordInExtension = "[LOGIN-SECURITY]"
	maxLoginAttempts    = 3
)

// greet writes the greeting (RFC 5730, 2.4).
func (s *session) greet() error {
	w := &s.frame
	w.text, w.open = w.text[:0], w.open[:0]
	w.raw(frameBegin)
	w.begin("greeting")
	w.element("svID", serverName)
	w.element("svDate", dateTime(s.ledger.Now()))
	w.begin("svcMenu")
	w.element("version", "1.0")
	w.element("lang", "en")
	for _, uri := range objectServices {
		w.element("objURI", uri)
	}
	w.begin("svcExtension")
	for _, uri := range extensionServices {
		w.element("extURI", uri)
	}
	w.end()
	w.end()
	w.raw(`<dcp><access><all/></access><statement><purpose><admin/><prov/></purpose>` +
		`<recipient><ours/><public/></recipient><retention><stated/></retention></statement></dcp>`)
	w.end()
	w.raw("</epp>")
	return s.send(w.text)
}

// credentials is the content of a login.
type credentials struct {
	account, password, newPassword string
	version, lang                  string
	objects, extensions            []string
}

func (s *session) readLogin(c *command) (credentials, *ledger.Refusal) {
	q := children(c.object)
	in := credentials{account: q.id(q.required("clID")), password: q.token(q.required("pw"), 6, 16)}
	in.newPassword = q.token(q.optional("newPW"), 6, 16)
	options := children(q.required("options"))
	in.version = options.token(options.required("version"), 1, 16)
	in.lang = options.token(options.required("lang"), 1, 32)
	q.merge(options)
	services := children(q.required("svcs"))
	in.objects = services.uris("objURI")
	if ext := services.optional("svcExtension"); ext != nil {
		part := children(ext)
		in.extensions = part.uris("extURI")
		services.merge(part)
	}
	q.merge(services)
	if refusal := q.result(); refusal != nil {
		return in, refusal
	}
	ext, refusal := s.protocolExtensions(c, "loginSec:loginSec")
	if refusal != nil {
		return in, refusal
	}
	refusal = in.applyLoginSecurity(ext["loginSec:loginSec"])
	return in, refusal
}

func (s *sequence) uris(element string) []string {
	nodes := s.repeated(element, 64)
	if len(nodes) == 0 {
		s.required(element)
	}
	var uris []string
	for _, of := range nodes {
		uris = append(uris, s.token(of, 0, 255))
	}
	return uris
}

// applyLoginSecurity reads the long passwords of RFC 8807.
func (c *credentials) applyLoginSecurity(of *node) *ledger.Refusal {
	var long, longNew string
	if of != nil {
		q := children(of)
		if agent := q.optional("userAgent"); agent != nil {
			part := children(agent)
			some := false
			for _, name := range []string{"app", "tech", "os"} {
				if text := part.optional(name); text != nil {
					part.token(text, 0, 255)
					some = true
				}
			}
			if !some {
				part.required("app")
			}
			q.merge(part)
		}
		if pw := q.optional("pw"); pw != nil {
			long = q.token(pw, 6, 255)
		}
		if pw := q.optional("newPW"); pw != nil {
			longNew = q.token(pw, 6, 255)
		}
		if refusal := q.result(); refusal != nil {
			return refusal
		}
	}
	for _, pair := range []struct {
		short *string
		long  string
	}{{&c.password, long}, {&c.newPassword, longNew}} {
		switch {
		case *pair.short == passwordInExtension && pair.long == "":
			return &ledger.Refusal{Code: ledger.Missing, Element: "loginSec:pw", Reason: "The password is missing."}
		case *pair.short != passwordInExtension && pair.long != "":
			return &ledger.Refusal{Code: ledger.UseError, Element: "loginSec:pw", Reason: "The login has another password."}
		case pair.long != "":
			*pair.short = pair.long
		}
	}
	return nil
}

// login begins the session (RFC 5730, 2.9.1.1).
func (s *session) login(c *command, a *response) error {
	if s.account != "" {
		return &ledger.Refusal{Code: ledger.UseError, Reason: "The session has begun already."}
	}
	in, refusal := s.readLogin(c)
	if refusal != nil {
		return refusal
	}
	switch {
	case in.version != "1.0":
		return &ledger.Refusal{Code: ledger.NoSuchVersion, Reason: "The version is 1.0."}
	case in.lang != "en":
		return &ledger.Refusal{Code: ledger.NoSuchOption, Reason: "The language is English."}
	}
	for _, uri := range in.objects {
		if !slices.Contains(objectServices, uri) {
			return &ledger.Refusal{Code: ledger.NoSuchService, Reason: "The service " + printable(uri) + " does not exist."}
		}
	}
	for _, uri := range in.extensions {
		if !slices.Contains(extensionServices, uri) {
			return &ledger.Refusal{Code: ledger.NoSuchExtension, Reason: "The extension " + printable(uri) + " does not exist."}
		}
	}
	if !s.ledger.Authenticate(in.account, in.password) {
		s.recordFailedLogin(in.account)
		if s.loginAttempts++; s.loginAttempts >= maxLoginAttempts {
			a.closing = true
			return &ledger.Refusal{Code: ledger.NotAuthClosing, Reason: "That was the last attempt."}
		}
		return &ledger.Refusal{Code: ledger.NotAuthenticated, Reason: "The account does not exist, or has another password."}
	}
	if !s.acquireSession(in.account) {
		a.closing = true
		return &ledger.Refusal{Code: ledger.LimitClosing, Reason: "The account has too many sessions."}
	}
	s.account, s.services = in.account, map[string]bool{}
	for _, uri := range slices.Concat(in.objects, in.extensions) {
		s.services[uri] = true
	}
	if in.newPassword != "" {
		if err := s.ledger.SetPassword(in.account, in.newPassword); err != nil {
			return err
		}
	}
	if failures := s.countFailedLogins(in.account); failures > 0 && s.services[loginSecSpace] {
		a.ext.begin("loginSec:loginSecData")
		a.ext.element("loginSec:event", "Logins with a wrong password", "type", "stat", "name", "failedLogins",
			"level", "warning", "value", strconv.Itoa(failures))
		a.ext.end()
	}
	return nil
}
