package main

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// maySendToken refuses to send a token where others can read it on its way.
func maySendToken(base string) error {
	address, err := url.Parse(base)
	if err != nil {
		return err
	}
	if address.Scheme != "https" && !isLoopback(address.Hostname()) {
		return usageError("a token is not sent over http:// to another machine: use the address with https://")
	}
	return nil
}

// tokenInAddress uses a token that is none: a real one must not get into logs.
func tokenInAddress(v *visit) result {
	var j judge
	v.judgeChallenge(&j, "a token in the address", v.postMessage(mcpPath+"?access_token=doctor-is-nobody", message("tools/list", nil), nil))
	return j.verdict("401, also for what everybody may ask")
}

// tokenChecks are what can only be looked at as a customer.
func tokenChecks(token string) []check {
	bearer := map[string]string{"Authorization": "Bearer " + token}
	return []check{
		{group: "token", name: "list_my_domains works", run: func(v *visit) result { return listMyDomains(v, bearer) }},
		{group: "token", name: "login address opens", run: func(v *visit) result {
			a := v.postMessage(mcpLoginPath, initializeMessage, bearer)
			if resultOf(a) == nil {
				return fail("200 with a JSON-RPC result", a.String())
			}
			return fine("200 to initialize")
		}},
	}
}

// domainStatuses are the states that a customer's domain can be in.
var domainStatuses = []string{"active", "pending", "expired", "redemption", "transit", "transferred_out"}

// listMyDomains says how many there are, and not which: what it prints may end
// up in a monitoring system.
func listMyDomains(v *visit, bearer map[string]string) result {
	a := v.postMessage(mcpPath, callOf("list_my_domains", map[string]any{}), bearer)
	got := resultOf(a)
	if got == nil {
		return fail("200 with a JSON-RPC result", a.String())
	}
	structured, _ := got["structuredContent"].(map[string]any)
	if got["isError"] == true {
		if structured["retryable"] == true {
			return warn("the list", show(structured))
		}
		return fail("the list", show(structured))
	}
	list, ok := structured["domains"].([]any)
	if !ok {
		return fail("a list named domains", "none")
	}
	var j judge
	for _, entry := range list {
		domain, _ := entry.(map[string]any)
		judgeDomain(&j, domain)
	}
	return j.verdict(fmt.Sprintf("%d domains", len(list)))
}

func judgeDomain(j *judge, domain map[string]any) {
	name, _ := domain["domain"].(string)
	tld, _ := domain["tld"].(string)
	j.must(len(tld) > 1 && strings.HasPrefix(tld, ".") && strings.HasSuffix(name, tld), "domain and tld that fit", "others")
	status, _ := domain["status"].(string)
	j.must(slices.Contains(domainStatuses, status), "status "+strings.Join(domainStatuses, ", "), show(domain["status"]))
	until, given := domain["expiresAt"]
	if text, isText := until.(string); isText {
		_, err := time.Parse(time.RFC3339, text)
		j.must(err == nil, "expiresAt as in RFC 3339", show(until))
	} else {
		j.must(given && until == nil, "expiresAt or null", show(until))
	}
	_, isBool := domain["autoRenew"].(bool)
	j.must(isBool, "autoRenew true or false", show(domain["autoRenew"]))
}
