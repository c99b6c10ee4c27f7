package ui

import (
	"net/url"
	"slices"
	"strings"
)

// maxNextBytes is longer than any of our URLs, including an authorization request with
// its state.
const maxNextBytes = 4096

// WithNext returns the path of a sign-in that returns to another page.
func WithNext(path, next string) string { return WithQuery(path, map[string]string{"next": next}) }

// WithQuery returns a path with the values that are not empty as its query.
func WithQuery(path string, values map[string]string) string {
	query := make(url.Values)
	for name, value := range values {
		if value != "" {
			query.Set(name, value)
		}
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// localPrefixes are the prefixes of pages that a sign-in may return to.
var localPrefixes = [...]string{HomePath + "/", "/oauth/", CheckoutPath, OperatorPath + "/"}

// localPaths are such pages without a prefix.
var localPaths = [...]string{
	HomePath, OperatorPath, StartPath, PricesPath, EnglishPricesPath, AssistantPath, EnglishAssistantPath, BasketPath, EnglishBasketPath,
	ImprintPath, EnglishImprintPath, TermsPath, EnglishTermsPath, PrivacyPath, EnglishPrivacyPath,
	TransferPath, EnglishTransferPath, HelpPath, EnglishHelpPath, ContactPath, EnglishContactPath,
	WithdrawalPath, EnglishWithdrawalPath, CancellationPath, EnglishCancellationPath,
}

// LocalPath returns next if it is the path of one of our pages, otherwise fallback.
// Everything that a browser could read as another host is rejected: two slashes, a
// backslash, control characters, a scheme.
func LocalPath(next, fallback string) string {
	if next == "" || len(next) > maxNextBytes || next[0] != '/' {
		return fallback
	}
	if strings.ContainsFunc(next, func(c rune) bool { return c <= ' ' || c == '\\' || c == 0x7f || c == 0xfffd }) {
		return fallback
	}
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" || u.Fragment != "" {
		return fallback
	}
	if strings.Contains(u.Path, "//") || strings.Contains(u.Path, "\\") || strings.Contains(u.Path+"/", "/../") ||
		strings.Contains(u.Path+"/", "/./") {
		return fallback
	}
	if !slices.Contains(localPaths[:], u.Path) && !slices.ContainsFunc(localPrefixes[:], func(prefix string) bool { return strings.HasPrefix(u.Path, prefix) }) {
		return fallback
	}
	return next
}
