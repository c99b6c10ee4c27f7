package ui

import (
	"net/url"
	"slices"
	"strings"
)

// maxNextBytes is longer than any of our URLs, including an authorization request with
// its state.
const maxNextBytes = 4096

// localPrefixes are the prefixes of pages that a sign-in may return to.
var localPrefixes = [...]string{HomePath + "/", "/oauth/", CheckoutPath, OperatorPath + "/"}

// localPaths are such pages without a prefix.
var localPaths = [...]string{
	HomePath, OperatorPath, StartPath, PricesPath, EnglishPricesPath, AssistantPath, EnglishAssistantPath, BasketPath, EnglishBasketPath,
	ImprintPath, EnglishImprintPath, TermsPath, EnglishTermsPath, PrivacyPath, EnglishPrivacyPath,
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
