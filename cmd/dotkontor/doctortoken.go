package main

import (
	"encoding/json"
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
		{group: "token", name: "list_orders works", run: func(v *visit) result { return listOrders(v, bearer) }},
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

// listed calls a tool that lists something of the customer's. Of the two results one is
// a verdict about a call that did not work; the other is nil then.
func listed(v *visit, bearer map[string]string, tool, field string) (page map[string]any, list []any, bad *result) {
	a := v.postMessage(mcpPath, callOf(tool, map[string]any{}), bearer)
	got := resultOf(a)
	verdict := fail("200 with a JSON-RPC result", a.String())
	if got == nil {
		return nil, nil, &verdict
	}
	page, _ = got["structuredContent"].(map[string]any)
	if got["isError"] == true {
		verdict = fail("the list", show(page))
		if page["retryable"] == true {
			verdict = warn("the list", show(page))
		}
		return nil, nil, &verdict
	}
	list, ok := page[field].([]any)
	if !ok {
		verdict = fail("a list named "+field, "none")
		return nil, nil, &verdict
	}
	return page, list, nil
}

// judgePage compares the numbers beside a list with the list.
func judgePage(j *judge, page map[string]any, list []any) {
	whole := func(field string) int64 {
		number, _ := page[field].(json.Number)
		value, err := number.Int64()
		if err != nil {
			return -1
		}
		return value
	}
	total, limit := whole("total"), whole("limit")
	j.must(whole("offset") == 0 && limit >= 1 && int64(len(list)) == min(total, limit), "total, limit and offset that fit the list",
		show([]any{page["total"], page["limit"], page["offset"], len(list)}))
}

// listMyDomains says how many there are, and not which: what it prints may end
// up in a monitoring system.
func listMyDomains(v *visit, bearer map[string]string) result {
	page, list, bad := listed(v, bearer, "list_my_domains", "domains")
	if bad != nil {
		return *bad
	}
	var j judge
	judgePage(&j, page, list)
	for _, entry := range list {
		domain, _ := entry.(map[string]any)
		judgeDomain(&j, domain)
	}
	return j.verdict(show(page["total"]) + " domains")
}

// listOrders says how many there are, as listMyDomains does.
func listOrders(v *visit, bearer map[string]string) result {
	page, list, bad := listed(v, bearer, "list_orders", "orders")
	if bad != nil {
		return *bad
	}
	var j judge
	judgePage(&j, page, list)
	for _, entry := range list {
		order, _ := entry.(map[string]any)
		id, _ := order["orderId"].(string)
		items, _ := order["items"].([]any)
		j.must(id != "" && len(items) > 0, "orders with orderId and items", "others")
	}
	return j.verdict(show(page["total"]) + " orders")
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
	manage, _ := domain["manageUrl"].(string)
	j.must(manage != "", "manageUrl", "none")
}
