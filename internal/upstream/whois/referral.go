package whois

import "strings"

// referralKeys are the fields that name a more specific server, best first.
var referralKeys = []string{"registrar whois server", "refer", "referralserver", "whois", "whois server"}

// Referral returns the server that a response refers to, for callers that want the
// registrar's own record. Find does not use it, since a server missing from the
// catalog must not decide whether a name is free.
func Referral(raw []byte) (host string, ok bool) {
	text, ok := decodeText(raw, "")
	if !ok {
		return "", false
	}
	best := len(referralKeys)
	a := splitLines(text)
	for i := range a.lines {
		l := &a.lines[i]
		for rank, key := range referralKeys[:best] {
			if l.key != key {
				continue
			}
			if found, valid := referredHost(l.value); valid {
				host, best = found, rank
			}
			break
		}
	}
	return host, host != ""
}

// referredHost parses "whois.example.net", "whois://whois.example.net:43" and
// "whois.example.net:43". A web page is not a referral.
func referredHost(value string) (string, bool) {
	value, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(value)), " ")
	for _, scheme := range [...]string{"whois://", "rwhois://"} {
		value = strings.TrimPrefix(value, scheme)
	}
	if strings.Contains(value, "://") {
		return "", false
	}
	value, _, _ = strings.Cut(strings.TrimSuffix(value, "/"), ":")
	return hostOf(value)
}
