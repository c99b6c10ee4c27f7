package epp

import (
	"errors"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// OperatorAction is what an operator can do about a failing connection; empty if
// nothing but wait.
func OperatorAction(class string) string {
	if strings.HasPrefix(class, "tls_alert") {
		return "the server refuses our TLS: check cert and key of the account"
	}
	return operatorActions[class]
}

var operatorActions = map[string]string{
	"tls_unknown_authority":   "the server's certificate is from an authority that is not in the account's ca: check ca",
	"tls_wrong_host_name":     "the server's certificate is for another name: check server and server_name of the account",
	"tls_certificate_expired": "the server's certificate has expired, or this machine's clock is wrong",
	"tls_certificate_invalid": "the server's certificate can't be used: check ca and server_name of the account",
	"tls_not_spoken":          "the server does not use TLS on this port: check server of the account",
	"connection_refused":      "the server does not accept connections: check host and port in server of the account, and whether the registry allows this machine's address",
	"connection_reset":        "the server closes the connection: check whether the registry allows this machine's address",
	"connection_closed":       "the server closes the connection: check whether the registry allows this machine's address",
	"network_unreachable":     "there is no route to the server: check the network of this machine",
	"name_resolution_failed":  "the host has no address: check server of the account and the resolver of this machine",
	"timeout":                 "the server does not respond: check the network and whether the registry has announced an outage",
	"login_refused":           "the server refuses the login: check user and password of the account; attempts are rare, because registries lock accounts",
	"sessions_exceeded":       "the account has too many connections: lower connections of the account on all nodes",
	"protocol_error":          "the server does not speak EPP on this port: check server of the account",
}

// logUnreachable logs why no connection could be opened. The caller ensures one
// record per reason.
func (a *Account) logUnreachable(fault *registrar.Error) {
	class, code, reference := string(fault.Code), "", ""
	var cause *registrar.Cause
	if errors.As(fault, &cause) {
		class, code, reference = cause.Class, cause.Code, cause.Reference
	}
	a.Logger.Error("registry account unreachable", "account", a.label(), "address", a.Address, "class", class,
		"result", code, "svtrid", reference, "detail", fault.Detail, "action", OperatorAction(class))
}
