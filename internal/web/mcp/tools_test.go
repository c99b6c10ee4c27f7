package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// schemas returns the published output schemas.
func schemas(t *testing.T, s *Server) map[string]*jsonschema.Resolved {
	t.Helper()
	found := make(map[string]*jsonschema.Resolved)
	for _, tool := range read(t, post(s.Serve, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)).Result.Tools {
		var name string
		var schema jsonschema.Schema
		if err := errors.Join(json.Unmarshal(tool["name"], &name), json.Unmarshal(tool["outputSchema"], &schema)); err != nil {
			t.Fatal(err)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if resolved.Validate(map[string]any{"domain": 1}) == nil {
			t.Errorf("%s: the schema accepts anything", name)
		}
		found[name] = resolved
	}
	return found
}

// openOrder is an open order as each tool returns it.
const openOrder = `{"orderId":"open","status":"awaiting_payment","createdAt":"2026-11-15T00:00:00Z","amountEur":8.21,"items":[],"payment_url":"https://domains.example/pay/open","expiresAt":"2027-01-01T00:00:00Z","requirements":[{"code":"registrant_data","message":"The account's registrant data is incomplete. The user enters it at url.","url":"https://domains.example/portal/profile/registrant"}]}`

func TestTools_ResultsMatchOutputSchema(t *testing.T) {
	s, _ := newServer(t, nil)
	published := schemas(t, s)
	for _, test := range []struct {
		rule, tool, arguments, want string
		failed                      bool
	}{
		{"a free name", "domain_check", `{"domain":"a.de"}`, `{"domain":"a.de","tld":".de","available":true,"registerEur":6.90,"renewEur":9.90,"transferEur":0.00,"orderable":true}`, false},
		{"unknown arguments are ignored", "domain_check", `{"domain":"a.de","sessionId":"x"}`, `{"domain":"a.de","tld":".de","available":true,"registerEur":6.90,"renewEur":9.90,"transferEur":0.00,"orderable":true}`, false},
		{"an unlisted extension", "domain_check", `{"domain":"Not.Carried"}`, `{"domain":"Not.Carried","tld":".carried","supported":false}`, false},
		{"a bad name", "domain_check", `{"domain":"bad_name.de"}`, `{"code":"invalid_input","message":"Underscores are not allowed in domain names. Use a hyphen.","retryable":false}`, true},
		{"a registry that fails", "domain_check", `{"domain":"failing.de"}`, `{"code":"upstream_failed","message":"The registry is rate-limiting us at the moment. Try again in a few minutes.","retryable":true}`, true},
		{"a foreign error", "domain_check", `{"domain":"foreign.de"}`, `{"code":"internal","message":"Something went wrong on our side. Try again later.","retryable":true}`, true},
		{"a panic", "domain_check", `{"domain":"panic.de"}`, `{"code":"internal","message":"Something went wrong on our side. Try again later.","retryable":true}`, true},
		{"no argument", "domain_check", `{}`, `{"code":"invalid_input","message":"The argument domain is missing.","retryable":false}`, true},
		{"null is not an argument", "domain_check", `{"domain":null}`, `{"code":"invalid_input","message":"The argument domain is missing.","retryable":false}`, true},
		{"another case is another argument", "domain_check", `{"Domain":"a.de"}`, `{"code":"invalid_input","message":"The argument domain is missing.","retryable":false}`, true},
		{"a wrong type", "domain_check", `{"domain":["a.de"]}`, `{"code":"invalid_input","message":"The argument domain must be a string.","retryable":false}`, true},
		{"arguments that are not an object", "domain_check", `["a.de"]`, `{"code":"invalid_input","message":"arguments must be a JSON object.","retryable":false}`, true},
		{"a search", "domain_search", `{"query":"shop"}`, `{"sld":"shop","results":[{"domain":"shop.de","tld":".de","available":false,"priceEur":6.90,"minYears":2,"requires":"eu_presence","orderable":false,"orderableReason":"no_registry_account"},{"domain":"shop.com","tld":".com","available":null,"priceEur":null,"error":true}]}`, false},
		{"a bad search", "domain_search", `{"query":"bad name"}`, `{"code":"invalid_input","message":"The name contains a space. Leave it out or use a hyphen.","retryable":false}`, true},
		{"a record", "whois_lookup", `{"domain":"a.de"}`, `{"domain":"a.de","tld":".de","registered":true,"status":["active"],"createdAt":"2001-02-03T04:05:06Z","updatedAt":null,"expiresAt":null,"nameservers":["ns1.example"],"registrar":"Registrar GmbH"}`, false},
		{"a free name has no record", "whois_lookup", `{"domain":"free.de"}`, `{"domain":"free.de","tld":".de","registered":false,"status":[],"createdAt":null,"updatedAt":null,"expiresAt":null,"nameservers":[],"registrar":null}`, false},
		{"no source decides", "whois_lookup", `{"domain":"unclear.de"}`, `{"code":"upstream_failed","message":"No source says whether this name is registered.","retryable":true}`, true},
		{"a record under an unlisted extension", "whois_lookup", `{"domain":"not.carried"}`, `{"code":"unsupported_extension","message":"This extension is not in the price list. list_tlds shows those that are.","retryable":false}`, true},
		{"the popular ones", "list_tlds", `{"category":"popular"}`, `{"tlds":[{"tld":".com","registerEur":11.00,"renewEur":11.50,"transferEur":11.00,"restoreEur":49.90,"minYears":2,"orderable":true},{"tld":".de","registerEur":6.90,"renewEur":9.90,"transferEur":0.00,"requires":"it_tax_id","orderable":false,"orderableReason":"not_eligible"}],"total":2,"limit":50,"offset":0}`, false},
		{"a page", "list_tlds", `{"search":".CO","limit":1,"offset":1.0}`, `{"tlds":[{"tld":".com","registerEur":11.00,"renewEur":11.50,"transferEur":11.00,"restoreEur":49.90,"minYears":2,"orderable":true}],"total":2,"limit":1,"offset":1}`, false},
		{"beyond the end", "list_tlds", `{"offset":99}`, `{"tlds":[],"total":5,"limit":50,"offset":99}`, false},
		{"another category", "list_tlds", `{"category":"cheap"}`, `{"code":"invalid_input","message":"The argument category can only be popular; leave it out for all extensions.","retryable":false}`, true},
		{"limit 0", "list_tlds", `{"limit":0}`, `{"code":"invalid_input","message":"The argument limit must be between 1 and 500.","retryable":false}`, true},
		{"limit 501", "list_tlds", `{"limit":501}`, `{"code":"invalid_input","message":"The argument limit must be between 1 and 500.","retryable":false}`, true},
		{"a fractional limit", "list_tlds", `{"limit":1.5}`, `{"code":"invalid_input","message":"The argument limit must be a whole number.","retryable":false}`, true},
		{"a limit as text", "list_tlds", `{"limit":"10"}`, `{"code":"invalid_input","message":"The argument limit must be a whole number.","retryable":false}`, true},
		{"offset -1", "list_tlds", `{"offset":-1}`, `{"code":"invalid_input","message":"The argument offset must be between 0 and 2147483647.","retryable":false}`, true},
		{"a price", "tld_price", `{"tld":".de"}`, `{"tld":".de","registerEur":6.90,"renewEur":9.90,"transferEur":0.00,"requires":"it_tax_id","orderable":false,"orderableReason":"not_eligible"}`, false},
		{"a price without the dot", "tld_price", `{"tld":" DE "}`, `{"tld":".de","registerEur":6.90,"renewEur":9.90,"transferEur":0.00,"requires":"it_tax_id","orderable":false,"orderableReason":"not_eligible"}`, false},
		{"a price by Unicode name", "tld_price", `{"tld":".рус"}`, `{"tld":".xn--p1acf","registerEur":20.00,"renewEur":20.00,"transferEur":20.00}`, false},
		{"a price without an extension", "tld_price", `{"tld":""}`, `{"code":"invalid_input","message":"The argument tld is empty. Give an extension with its dot, for example .de.","retryable":false}`, true},
		{"a price of an unlisted extension", "tld_price", `{"tld":".nope"}`, `{"code":"unsupported_extension","message":"This extension is not in the price list. list_tlds shows those that are.","retryable":false}`, true},
		{"own domains", "list_my_domains", `{}`, `{"domains":[{"domain":"of-c1.de","tld":".de","status":"active","expiresAt":"2027-01-01T00:00:00Z","autoRenew":false,"renewEur":9.90,"manageUrl":"https://domains.example/portal/domains/d1"}],"total":1,"limit":100,"offset":0}`, false},
		{"own domains that end soon", "list_my_domains", `{"search":"of","expiresBefore":"2027-01-31","limit":500,"offset":2}`, `{"domains":[{"domain":"of-c1.de","tld":".de","status":"active","expiresAt":"2027-01-01T00:00:00Z","autoRenew":false,"renewEur":9.90,"manageUrl":"https://domains.example/portal/domains/d1"}],"total":1,"limit":500,"offset":2}`, false},
		{"limit 501", "list_my_domains", `{"limit":501}`, `{"code":"invalid_input","message":"The argument limit must be between 1 and 500.","retryable":false}`, true},
		{"limit 0", "list_my_domains", `{"limit":0}`, `{"code":"invalid_input","message":"The argument limit must be between 1 and 500.","retryable":false}`, true},
		{"offset -1", "list_my_domains", `{"offset":-1}`, `{"code":"invalid_input","message":"The argument offset must be between 0 and 2147483647.","retryable":false}`, true},
		{"an invalid date", "list_my_domains", `{"expiresBefore":"31.01.2027"}`, `{"code":"invalid_input","message":"The argument expiresBefore must be a date like 2027-01-31 or a time in RFC 3339.","retryable":false}`, true},
		{"a date too far away", "list_my_domains", `{"expiresBefore":"0001-01-01"}`, `{"code":"invalid_input","message":"The argument expiresBefore must be a date like 2027-01-31 or a time in RFC 3339.","retryable":false}`, true},
		{"a search that is not text", "list_my_domains", `{"search":7}`, `{"code":"invalid_input","message":"The argument search must be a string.","retryable":false}`, true},
		{"an order", "start_order", `{"items":[{"domain":"a.de","type":"register"}]}`, `{"orderId":"o1","status":"awaiting_payment","items":[{"domain":"a.de","type":"register","years":1,"netEur":6.90}],"totals":{"netEur":6.90,"vatEur":1.31,"grossEur":8.21,"vatRate":19},"payment_url":"https://domains.example/pay/o1","expiresAt":"2027-01-01T00:00:00Z"}`, false},
		{"an order of a taken name", "start_order", `{"items":[{"domain":"taken.de","type":"register"}]}`, `{"code":"not_payable","message":"No order was created, because some items can't be ordered. Change or omit the items listed.","retryable":false,"reason":"items_rejected","items":[{"domain":"taken.de","code":"name_taken","message":"The name is taken or reserved, so it can't be registered. Choose another one with domain_search, or, if the user holds it at another registrar, use the type transfer.","retryable":false,"alternative":{"tool":"domain_search","arguments":{"query":"taken"}}}]}`, true},
		{"an order of a name that the registry rejects", "start_order", `{"items":[{"domain":"odd.de","type":"register"}]}`, `{"code":"not_payable","message":"No order was created, because some items can't be ordered. Change or omit the items listed.","retryable":false,"reason":"items_rejected","items":[{"domain":"odd.de","code":"registry_refused","message":"The registry does not accept this name. Leave it out, or choose another one with domain_search.","retryable":false,"alternative":{"tool":"domain_search","arguments":{"query":"odd"}}}]}`, true},
		{"unavailable registries", "start_order", `{"items":[{"domain":"slow-registry.de","type":"register"}]}`, `{"code":"upstream_failed","message":"No order was created: the registries did not respond for the items listed. Call again after retryAfter seconds, or omit them.","retryable":true,"retryAfter":90,"reason":"items_rejected","items":[{"domain":"a.de","code":"upstream_failed","message":"The registry did not respond in time. Try again in a minute.","retryable":true,"retryAfter":60},{"domain":"b.de","code":"upstream_failed","message":"The registry is rate-limiting us at the moment. Try again in a few minutes.","retryable":true,"retryAfter":90}]}`, true},
		{"an order with data missing", "start_order", `{"items":[{"domain":"incomplete.de","type":"transfer"}]}`, `{"orderId":"o9","status":"awaiting_verification","items":[{"domain":"incomplete.de","type":"transfer","years":1,"netEur":6.90}],"totals":{"netEur":6.90,"vatEur":1.31,"grossEur":8.21,"vatRate":19},"payment_url":"https://domains.example/pay/o9","verification_url":"https://domains.example/verify/o9","expiresAt":"2027-01-01T00:00:00Z","requirements":[{"code":"registrant_data","message":"The account's registrant data is incomplete. The user enters it at url.","url":"https://domains.example/portal/profile/registrant"},{"code":"identity","message":"The user must verify their identity at url before the order can be paid.","url":"https://domains.example/verify/o9"},{"code":"auth_code","domain":"incomplete.de","message":"A transfer needs its auth code. The user enters it at url; never ask for it in the conversation.","url":"https://domains.example/pay/o9"},{"code":"extension_rule","domain":"incomplete.de","rule":"eu_presence","message":"The extension has a rule that the registrant does not meet yet. The user sees it at url.","url":"https://domains.example/pay/o9"},{"code":"extension_rule","domain":"incomplete.de","rule":"registrant_city_script","message":"The registry of this extension accepts Latin script only. Please write the city in Latin letters. The user changes it at url.","url":"https://domains.example/portal/profile/registrant"}]}`, false},
		{"an order for the term that is sold", "start_order", `{"items":[{"domain":"a.de","type":"register","years":1}]}`, `{"orderId":"o1","status":"awaiting_payment","items":[{"domain":"a.de","type":"register","years":1,"netEur":6.90}],"totals":{"netEur":6.90,"vatEur":1.31,"grossEur":8.21,"vatRate":19},"payment_url":"https://domains.example/pay/o1","expiresAt":"2027-01-01T00:00:00Z"}`, false},
		{"an order for years that are not sold", "start_order", `{"items":[{"domain":"a.de","type":"register","years":3}]}`, `{"code":"invalid_input","message":"No order was created: the items listed are not sold for the requested number of years.","retryable":false,"reason":"items_rejected","items":[{"domain":"a.de","code":"years_not_sold","message":"This name is not sold for that many years: omit years for the shortest term, or send fewer. The registry decides what a transfer adds.","retryable":false,"alternative":{"tool":"tld_price","arguments":{"tld":".de"}}}]}`, true},
		{"an order for years that are not a number", "start_order", `{"items":[{"domain":"a.de","type":"register","years":"3"}]}`, `{"code":"invalid_input","message":"The argument years must be a whole number.","retryable":false}`, true},
		{"an order for no years", "start_order", `{"items":[{"domain":"a.de","type":"register","years":0}]}`, `{"code":"invalid_input","message":"The argument years must be between 1 and 10.","retryable":false}`, true},
		{"an item with a property that is not read", "start_order", `{"items":[{"domain":"a.de","type":"register","period":3}]}`, `{"code":"invalid_input","message":"\"period\" is not a property of an item. An item has domain, type, years, holderId; other properties are not supported.","retryable":false}`, true},
		{"a renewal for another holder", "start_order", `{"items":[{"domain":"a.de","type":"renew","holderId":"h1"}]}`, `{"code":"invalid_input","message":"holderId is an id from list_holders, and only of an item with the type register or transfer.","retryable":false}`, true},
		{"years beside the items", "start_order", `{"items":[{"domain":"a.de","type":"register"}],"years":3}`, `{"code":"invalid_input","message":"\"years\" is not an argument of start_order. It takes items and dryRun; other arguments are not supported.","retryable":false}`, true},
		{"a misspelt dry run", "start_order", `{"items":[{"domain":"a.de","type":"register"}],"dry_run":true}`, `{"code":"invalid_input","message":"\"dry_run\" is not an argument of start_order. It takes items and dryRun; other arguments are not supported.","retryable":false}`, true},
		{"a client's own argument beside the items", "start_order", `{"items":[{"domain":"a.de","type":"register"}],"sessionId":"x"}`, `{"orderId":"o1","status":"awaiting_payment","items":[{"domain":"a.de","type":"register","years":1,"netEur":6.90}],"totals":{"netEur":6.90,"vatEur":1.31,"grossEur":8.21,"vatRate":19},"payment_url":"https://domains.example/pay/o1","expiresAt":"2027-01-01T00:00:00Z"}`, false},
		{"an order of one name too many", "start_order", `{"items":[{"domain":"busy.de","type":"register"}]}`, `{"code":"rate_limited","message":"The limit for registry queries by this account is reached. Wait 60 seconds before the next order.","retryable":true,"retryAfter":60}`, true},
		{"one open order too many", "start_order", `{"items":[{"domain":"many.de","type":"register"}]}`, `{"code":"not_payable","message":"This customer has too many open orders. Ask the user to pay one at url, or cancel one with cancel_order (list_orders shows them); then call start_order again.","retryable":false,"reason":"too_many_open_orders","url":"https://domains.example/portal/orders"}`, true},
		{"a dry run", "start_order", `{"items":[{"domain":"frei.de","type":"register"}],"dryRun":true}`, `{"status":"dry_run","items":[{"domain":"frei.de","type":"register","years":1,"netEur":6.90}],"totals":{"netEur":6.90,"vatEur":1.31,"grossEur":8.21,"vatRate":19}}`, false},
		{"a dry run with data missing", "start_order", `{"items":[{"domain":"incomplete.de","type":"transfer"}],"dryRun":true}`, `{"status":"dry_run","items":[{"domain":"incomplete.de","type":"transfer","years":1,"netEur":6.90}],"totals":{"netEur":6.90,"vatEur":1.31,"grossEur":8.21,"vatRate":19},"requirements":[{"code":"registrant_data","message":"The account's registrant data is incomplete. The user enters it at url.","url":"https://domains.example/portal/profile/registrant"},{"code":"identity","message":"The user must verify their identity before the order can be paid, at verification_url once the order exists."},{"code":"auth_code","domain":"incomplete.de","message":"A transfer needs its auth code. The user enters it at payment_url once the order exists; never ask for it in the conversation."},{"code":"extension_rule","domain":"incomplete.de","rule":"eu_presence","message":"The extension has a rule that the registrant does not meet yet. The user sees it at url.","url":"https://domains.example/portal/profile/registrant"},{"code":"extension_rule","domain":"incomplete.de","rule":"registrant_city_script","message":"The registry of this extension accepts Latin script only. Please write the city in Latin letters. The user changes it at url.","url":"https://domains.example/portal/profile/registrant"}]}`, false},
		{"an order with a rejected and an unchecked name", "start_order", `{"items":[{"domain":"half-silent.de","type":"register"}]}`, `{"code":"not_payable","message":"No order was created, because some items can't be ordered. Change or omit the items listed.","retryable":false,"reason":"items_rejected","items":[{"domain":"nic.de","code":"name_reserved","message":"The registry has reserved this name. Choose another one with domain_search.","retryable":false,"alternative":{"tool":"domain_search","arguments":{"query":"nic"}}},{"domain":"b.de","code":"upstream_failed","message":"The registry did not respond in time. Try again in a minute.","retryable":true,"retryAfter":60}]}`, true},
		{"a dry run as text", "start_order", `{"items":[{"domain":"frei.de","type":"register"}],"dryRun":"yes"}`, `{"code":"invalid_input","message":"The argument dryRun must be true or false.","retryable":false}`, true},
		{"an order of nothing", "start_order", `{"items":[]}`, `{"code":"invalid_input","message":"The argument items must have between 1 and 20 entries.","retryable":false}`, true},
		{"an order of another type", "start_order", `{"items":[{"domain":"a.de","type":"steal"}]}`, `{"code":"invalid_input","message":"The type of an item must be register, transfer or renew.","retryable":false}`, true},
		{"an order without items", "start_order", `{}`, `{"code":"invalid_input","message":"The argument items is missing.","retryable":false}`, true},
		{"an order of names", "start_order", `{"items":["a.de"]}`, `{"code":"invalid_input","message":"The argument items must be a list of objects with domain and type.","retryable":false}`, true},
		{"a status", "get_order_status", `{"orderId":"o1"}`, `{"orderId":"o1","status":"completed","createdAt":"2026-11-15T00:00:00Z","amountEur":8.21,"items":[]}`, false},
		{"another's order", "get_order_status", `{"orderId":"o2"}`, `{"code":"not_found","message":"This customer has no such order. Use an orderId that start_order or list_orders returned.","retryable":false}`, true},
		{"an open order", "get_order_status", `{"orderId":"open"}`, openOrder, false},
		{"a failed order", "get_order_status", `{"orderId":"failed"}`, `{"orderId":"failed","status":"failed","createdAt":"2026-11-15T00:00:00Z","amountEur":8.21,"items":[{"domain":"a.de","type":"register","years":1,"netEur":6.90,"status":"refunded","failure":{"code":"name_taken","message":"The name is taken or reserved, so it can't be registered. Choose another one with domain_search, or, if the user holds it at another registrar, use the type transfer."},"refund":{"status":"refunded","amountEur":8.21}},{"domain":"b.de","type":"register","years":1,"netEur":6.90,"status":"failed","failure":{"code":"registry_refused","message":"The registry does not accept this name. Leave it out, or choose another one with domain_search."},"refund":{"status":"pending","amountEur":8.21}}]}`, false},
		{"orders", "list_orders", `{}`, `{"orders":[` + openOrder + `],"total":1,"limit":20,"offset":0}`, false},
		{"no orders", "list_orders", `{"status":"failed","limit":100,"offset":7}`, `{"orders":[],"total":0,"limit":100,"offset":7}`, false},
		{"another status", "list_orders", `{"status":"open"}`, `{"code":"invalid_input","message":"The argument status must be one of those in the input schema; leave it out for all orders.","retryable":false}`, true},
		{"limit 101", "list_orders", `{"limit":101}`, `{"code":"invalid_input","message":"The argument limit must be between 1 and 100.","retryable":false}`, true},
		{"automatic renewal off", "set_auto_renew", `{"domain":"ON.de","enabled":false}`, `{"domain":"on.de","autoRenew":false,"expiresAt":"2027-01-01T00:00:00Z","manageUrl":"https://domains.example/portal/domains/d-on"}`, false},
		{"automatic renewal that is off", "set_auto_renew", `{"domain":"off.de","enabled":false}`, `{"domain":"off.de","autoRenew":false,"expiresAt":"2027-01-01T00:00:00Z","manageUrl":"https://domains.example/portal/domains/d-off"}`, false},
		{"automatic renewal on is a link", "set_auto_renew", `{"domain":"off.de","enabled":true}`, `{"domain":"off.de","autoRenew":false,"expiresAt":"2027-01-01T00:00:00Z","consent_url":"https://domains.example/portal/domains/d-off/auto-renew","manageUrl":"https://domains.example/portal/domains/d-off"}`, false},
		{"automatic renewal that is on", "set_auto_renew", `{"domain":"on.de","enabled":true}`, `{"domain":"on.de","autoRenew":true,"expiresAt":"2027-01-01T00:00:00Z","manageUrl":"https://domains.example/portal/domains/d-on"}`, false},
		{"automatic renewal in progress", "set_auto_renew", `{"domain":"busy.de","enabled":false}`, `{"code":"not_changeable","message":"The domain is being charged and renewed right now, so nothing was changed. Call list_my_domains in a minute to see its new term, then call again to turn automatic renewal off for the next one.","retryable":true,"retryAfter":60,"reason":"renewal_in_progress","url":"https://domains.example/portal/domains/d-busy"}`, true},
		{"automatic renewal of an expired domain", "set_auto_renew", `{"domain":"gone.de","enabled":true}`, `{"code":"not_changeable","message":"This domain can't renew automatically: it is not active, or its extension is no longer sold. Nothing was changed. Its page is at url.","retryable":false,"reason":"not_renewable","url":"https://domains.example/portal/domains/d-gone"}`, true},
		{"automatic renewal of a terminated contract", "set_auto_renew", `{"domain":"ended.de","enabled":true}`, `{"code":"not_changeable","message":"The customer has withdrawn from the contract for this domain or cancelled it. While that is being handled, automatic renewal can't be turned on. Nothing was changed. Its page is at url.","retryable":false,"reason":"notice_open","url":"https://domains.example/portal/domains/d-ended"}`, true},
		{"automatic renewal of another's domain", "set_auto_renew", `{"domain":"none.de","enabled":false}`, `{"code":"not_found","message":"This customer holds no such domain. list_my_domains shows those that they hold.","retryable":false}`, true},
		{"automatic renewal without a choice", "set_auto_renew", `{"domain":"on.de"}`, `{"code":"invalid_input","message":"The argument enabled is missing: true or false.","retryable":false}`, true},
		{"automatic renewal as text", "set_auto_renew", `{"domain":"on.de","enabled":"off"}`, `{"code":"invalid_input","message":"The argument enabled must be true or false.","retryable":false}`, true},
		{"automatic renewal of no name", "set_auto_renew", `{"domain":"two words","enabled":false}`, `{"code":"invalid_input","message":"The name contains a space. Leave it out or use a hyphen.","retryable":false}`, true},
		{"a cancellation", "cancel_order", `{"orderId":"o1"}`, `{"orderId":"o1","status":"canceled","createdAt":"2026-11-15T00:00:00Z","amountEur":8.21,"items":[]}`, false},
		{"another's order", "cancel_order", `{"orderId":"o2"}`, `{"code":"not_found","message":"This customer has no such order. Use an orderId that start_order or list_orders returned.","retryable":false}`, true},
		{"no order", "cancel_order", `{}`, `{"code":"invalid_input","message":"The argument orderId is missing.","retryable":false}`, true},
		{"an order being paid", "cancel_order", `{"orderId":"paying"}`, `{"code":"not_cancelable","message":"A payment for this order is in progress, so it can't be canceled now. The user finishes or leaves it at url; then call get_order_status.","retryable":true,"retryAfter":60,"reason":"payment_in_progress","url":"https://domains.example/look/paying"}`, true},
		{"a paid order", "cancel_order", `{"orderId":"completed"}`, `{"code":"not_cancelable","message":"The order is paid or confirmed, so it can't be canceled. The user sees it at url; get_order_status shows the result.","retryable":false,"reason":"order_paid","url":"https://domains.example/look/completed"}`, true},
		{"an expired order", "cancel_order", `{"orderId":"expired"}`, `{"code":"not_cancelable","message":"The order has expired unpaid, so there is nothing to cancel.","retryable":false,"reason":"order_expired"}`, true},
	} {
		t.Run(test.tool+": "+test.rule, func(t *testing.T) {
			got := post(s.Serve, call(test.tool, test.arguments), "Authorization", "Bearer good")
			r := read(t, got)
			if got.Code != http.StatusOK || string(r.Result.StructuredContent) != test.want || r.Result.IsError != test.failed {
				t.Errorf("got %d, isError %v, %s\nwant %s", got.Code, r.Result.IsError, r.Result.StructuredContent, test.want)
			}
			var body any
			if err := json.Unmarshal(r.Result.StructuredContent, &body); err != nil {
				t.Fatal(err)
			}
			if err := published[test.tool].Validate(body); err != nil {
				t.Errorf("%s violates the schema: %v", r.Result.StructuredContent, err)
			}
			if len(r.Result.Content) != 1 || r.Result.Content[0].Type != "text" || r.Result.Content[0].Text != test.want {
				t.Errorf("the text is %v", r.Result.Content)
			}
		})
	}
}

// PostgreSQL rejects text with a zero byte, which would look like an internal error.
func TestGetOrderStatus_InvalidIDQueriesNobody(t *testing.T) {
	s, w := newServer(t, nil)
	for _, id := range []string{`ord_\u0000`, "ord_ 1", "ord_ä", strings.Repeat("o", 65)} {
		if f := readFailure(t, post(s.Serve, call("get_order_status", `{"orderId":"`+id+`"}`), "Authorization", "Bearer good")); f.Code != notFound {
			t.Errorf("%q: %+v", id, f)
		}
	}
	if asked := w.calls.Load(); asked != 0 {
		t.Errorf("the service was called %d times", asked)
	}
}

func TestTools_SpendTheirOwnBudget(t *testing.T) {
	s, w := newServer(t, nil)
	for tool, arguments := range map[string]string{
		"domain_check": `{"domain":"a.de"}`, "domain_search": `{"query":"a"}`, "list_tlds": `{}`, "tld_price": `{"tld":""}`, "whois_lookup": `{"domain":"a.de"}`,
	} {
		mine, other := w.lookup, w.whois
		if tool == "whois_lookup" {
			mine, other = other, mine
		}
		mine.left.Store(1)
		other.left.Store(1)
		if r := read(t, post(s.Serve, call(tool, arguments))); strings.Contains(string(r.Result.StructuredContent), "rate_limited") {
			t.Errorf("%s: got %s", tool, r.Result.StructuredContent)
		}
		if mine.left.Load() != 0 || other.left.Load() != 1 {
			t.Errorf("%s: %d and %d are left", tool, mine.left.Load(), other.left.Load())
		}
		got := post(s.Serve, call(tool, arguments))
		want := `{"code":"rate_limited","message":"The limit for this address is reached. Wait 5 seconds before the next call.","retryable":true,"retryAfter":5}`
		if r := read(t, got); got.Code != http.StatusOK || !r.Result.IsError || string(r.Result.StructuredContent) != want {
			t.Errorf("%s: got %d %s", tool, got.Code, got.Body)
		}
	}
	w.lookup.left.Store(9)
	w.whois.left.Store(9)
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, call("list_my_domains", "{}"), call("no_such_tool", "{}"),
	} {
		post(s.Serve, message)
	}
	if w.lookup.left.Load() != 9 || w.whois.left.Load() != 9 {
		t.Errorf("%d and %d are left", w.lookup.left.Load(), w.whois.left.Load())
	}
}

func TestPanic_LoggedWithoutItsText(t *testing.T) {
	log := &bytes.Buffer{}
	s, _ := newServer(t, func(cfg *Config) { cfg.Logger = slog.New(slog.NewJSONHandler(log, nil)) })
	post(s.Serve, call("domain_check", `{"domain":"panic.de"}`))
	if strings.Contains(log.String(), "panic.de") || !strings.Contains(log.String(), "panic recovered") {
		t.Errorf("log: %s", log)
	}
}

func TestListing_SchemasAreSelfContained(t *testing.T) {
	list, err := readListing(Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range list {
		tool, err := entry.describe()
		if err != nil {
			t.Fatal(err)
		}
		var output struct {
			Defs map[string]json.RawMessage `json:"$defs"`
		}
		text := tool.OutputSchema
		if err := json.Unmarshal(text, &output); err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(text), `"#/$defs/`)[1:] {
			name, _, _ := strings.Cut(part, `"`)
			if _, ok := output.Defs[name]; !ok {
				t.Errorf("%s refers to %s, which does not exist", entry.Name, name)
			}
		}
	}
}

// Some clients accept only a single type and drop a list of types.
func TestListing_SchemaTypesAreNeverLists(t *testing.T) {
	list, err := readListing(Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range list {
		tool, err := entry.describe()
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(tool) // without white space
		if err != nil || bytes.Contains(text, []byte(`"type":[`)) {
			t.Errorf("%s: a type is a list in %s (%v)", entry.Name, text, err)
		}
	}
}

func TestErrNotFound_IsNotAFault(t *testing.T) {
	t.Parallel()
	if kind := registrar.KindOf(ErrNotFound); kind != registrar.KindNotFound {
		t.Errorf("logged as %s", kind)
	}
}
