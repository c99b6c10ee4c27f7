package doctor

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// checkTokenTransport refuses to send a token over an unencrypted connection.
func checkTokenTransport(base string) error {
	address, err := url.Parse(base)
	if err != nil {
		return err
	}
	if address.Scheme != "https" && !registrar.IsLoopbackHost(address.Hostname()) {
		return cli.UsageError("a token is not sent over http:// to another machine; use https://")
	}
	return nil
}

// tokenInQuery uses an invalid token, because a real one must not appear in logs.
func tokenInQuery(v *prober) result {
	var j assertions
	v.assertChallenge(&j, "a token in the address", v.postMessage(mcpPath+"?access_token=doctor-is-nobody", rpcMessage("tools/list", nil), nil))
	return j.verdict("401, also for public methods")
}

// tokenChecks returns the checks that need a customer's token.
func tokenChecks(token string) []check {
	bearer := map[string]string{"Authorization": "Bearer " + token}
	return []check{
		{group: "token", name: "list_my_domains works", run: func(v *prober) result { return listMyDomains(v, bearer) }},
		{group: "token", name: "list_orders works", run: func(v *prober) result { return listOrders(v, bearer) }},
		{group: "token", name: "login address opens", run: func(v *prober) result {
			a := v.postMessage(mcpLoginPath, initializeMessage, bearer)
			if rpcResult(a) == nil {
				return fail("200 with a JSON-RPC result", a.String())
			}
			return pass("200 to initialize")
		}},
	}
}

// domainStatuses are the states of a customer's domain.
var domainStatuses = []string{"active", "pending", "expired", "redemption", "transit", "transferred_out"}

// callListTool calls a tool that lists something of the customer's. If the call fails, bad
// is the verdict and the other results are nil.
func callListTool(v *prober, bearer map[string]string, tool, field string) (page map[string]any, list []any, bad *result) {
	a := v.postMessage(mcpPath, toolCall(tool, map[string]any{}), bearer)
	got := rpcResult(a)
	verdict := fail("200 with a JSON-RPC result", a.String())
	if got == nil {
		return nil, nil, &verdict
	}
	page, _ = got["structuredContent"].(map[string]any)
	if got["isError"] == true {
		verdict = fail("the list", toJSON(page))
		if page["retryable"] == true {
			verdict = warn("the list", toJSON(page))
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

// assertPage compares total, limit and offset with the list.
func assertPage(j *assertions, page map[string]any, list []any) {
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
		toJSON([]any{page["total"], page["limit"], page["offset"], len(list)}))
}

// listMyDomains prints only the number of domains, because its output may end up in a
// monitoring system.
func listMyDomains(v *prober, bearer map[string]string) result {
	page, list, bad := callListTool(v, bearer, "list_my_domains", "domains")
	if bad != nil {
		return *bad
	}
	var j assertions
	assertPage(&j, page, list)
	for _, entry := range list {
		domain, _ := entry.(map[string]any)
		assertDomain(&j, domain)
	}
	return j.verdict(toJSON(page["total"]) + " domains")
}

// listOrders prints only the number of orders, like listMyDomains.
func listOrders(v *prober, bearer map[string]string) result {
	page, list, bad := callListTool(v, bearer, "list_orders", "orders")
	if bad != nil {
		return *bad
	}
	var j assertions
	assertPage(&j, page, list)
	for _, entry := range list {
		order, _ := entry.(map[string]any)
		id, _ := order["orderId"].(string)
		items, _ := order["items"].([]any)
		j.must(id != "" && len(items) > 0, "orders with orderId and items", "others")
	}
	return j.verdict(toJSON(page["total"]) + " orders")
}

func assertDomain(j *assertions, domain map[string]any) {
	name, _ := domain["domain"].(string)
	tld, _ := domain["tld"].(string)
	j.must(len(tld) > 1 && strings.HasPrefix(tld, ".") && strings.HasSuffix(name, tld), "domain and tld that fit", "others")
	status, _ := domain["status"].(string)
	j.must(slices.Contains(domainStatuses, status), "status "+strings.Join(domainStatuses, ", "), toJSON(domain["status"]))
	until, given := domain["expiresAt"]
	if text, isText := until.(string); isText {
		_, err := time.Parse(time.RFC3339, text)
		j.must(err == nil, "expiresAt as in RFC 3339", toJSON(until))
	} else {
		j.must(given && until == nil, "expiresAt or null", toJSON(until))
	}
	_, isBool := domain["autoRenew"].(bool)
	j.must(isBool, "autoRenew true or false", toJSON(domain["autoRenew"]))
	manage, _ := domain["manageUrl"].(string)
	j.must(manage != "", "manageUrl", "none")
}
