package doctor

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const (
	checkPath  = "/api/domain/check"
	searchPath = "/api/domain/search"
	// unlistedName is under an extension that can never exist (RFC 2606), so the service
	// responds without a registry query.
	unlistedName = "doctor.invalid"
)

var restChecks = []check{
	{group: "rest", name: "check of a free name", cost: 1, run: freeName},
	{group: "rest", name: "check of google.com", cost: 1, run: takenName},
	{group: "rest", name: "extension that is not listed", cost: 1, run: unlistedExtension},
	{group: "rest", name: "search over eight extensions", cost: 1, run: searchResults},
	{group: "rest", name: "malformed request is a 400", cost: 1, run: malformedRequest},
	{group: "rest", name: "other method is a 405", run: wrongMethod},
	{group: "rest", name: "unknown path is a 404", run: unknownPath},
	{group: "rest", name: "CORS", run: restCORS},
	{group: "checkout", name: "completion without a signature is 401", run: unsignedCompletion},
}

func jsonField(name, value string) string { return toJSON(map[string]string{name: value}) }

// assertCheck checks a CheckResult, or the 502 of a failed registry query. The latter
// conforms to the contract, so it is only a warning.
func assertCheck(v *prober, name string, want bool) result {
	a, refused := v.lookup(checkPath, jsonField("domain", name), nil)
	if refused != nil {
		return *refused
	}
	var j assertions
	j.must(a.isJSON(), "application/json", a.String())
	body := a.object()
	if a.status == http.StatusBadGateway {
		text, _ := body["error"].(string)
		j.must(text != "" && body["domain"] == name, "an error with the domain", a.String())
		j.should(false, "a response of the registry", a.String())
		return j.verdict("")
	}
	j.must(a.status == http.StatusOK, "200", a.String())
	if len(j.failures) > 0 {
		return j.verdict("")
	}
	j.header(a, "Access-Control-Allow-Origin", "*")
	assertCheckResult(&j, body, name, want)
	return j.verdict(fmt.Sprintf("available %v", body["available"]))
}

// assertCheckResult is used for the REST interface and for the tool.
func assertCheckResult(j *assertions, body map[string]any, name string, want bool) {
	j.must(body["domain"] == name, "domain "+name, toJSON(body["domain"]))
	j.must(body["tld"] == ".com", "tld .com", toJSON(body["tld"]))
	available, isBool := body["available"].(bool)
	value, present := body["available"]
	j.must(present && (isBool || value == nil), "available true, false or null", toJSON(value))
	if isBool {
		j.must(available == want, fmt.Sprintf("available %v", want), toJSON(available))
	} else {
		j.should(!present, fmt.Sprintf("available %v", want), "null: no registry source decides")
	}
	for _, price := range []string{"registerEur", "renewEur", "transferEur"} {
		if value, present := body[price]; present {
			j.must(isPrice(value), price+" a number with two decimals at most", toJSON(value))
		}
	}
}

func isPrice(value any) bool {
	number, ok := value.(json.Number)
	if !ok {
		return false
	}
	euros, err := number.Float64()
	_, decimals, _ := strings.Cut(number.String(), ".")
	return err == nil && euros >= 0 && len(decimals) <= 2 && !strings.ContainsAny(number.String(), "eE")
}

func freeName(v *prober) result { return assertCheck(v, v.label+".com", true) }

func takenName(v *prober) result { return assertCheck(v, "google.com", false) }

func unlistedExtension(v *prober) result {
	a, refused := v.lookup(checkPath, jsonField("domain", unlistedName), nil)
	if refused != nil {
		return *refused
	}
	body := a.object()
	_, judged := body["available"]
	return expect(a.status == http.StatusOK && a.isJSON() && body["supported"] == false && !judged &&
		body["domain"] == unlistedName && body["tld"] == ".invalid",
		"200 "+toJSON(map[string]any{"domain": unlistedName, "tld": ".invalid", "supported": false}), a.String(), "supported false")
}

// searchTLDs are the default extensions of a search, in the contract's order.
var searchTLDs = []string{".de", ".com", ".eu", ".net", ".org", ".shop", ".io", ".dev"}

func searchResults(v *prober) result {
	a, refused := v.lookup(searchPath, jsonField("query", v.label), nil)
	if refused != nil {
		return *refused
	}
	if a.status != http.StatusOK || !a.isJSON() {
		return fail("200 application/json", a.String())
	}
	var j assertions
	body := a.object()
	j.must(body["sld"] == v.label, "sld "+v.label, toJSON(body["sld"]))
	var order, failed []string
	for _, entry := range objects(body["results"]) {
		tld, _ := entry["tld"].(string)
		order = append(order, tld)
		j.must(entry["domain"] == v.label+tld, "domain "+v.label+tld, toJSON(entry["domain"]))
		available, present := entry["available"]
		_, isBool := available.(bool)
		j.must(present && (isBool || available == nil), "available true, false or null", toJSON(available))
		if price := entry["priceEur"]; price != nil {
			j.must(isPrice(price), "priceEur a number or null", toJSON(price))
		}
		problem, present := entry["error"]
		_, isBool = problem.(bool)
		j.must(!present || isBool, "error true or false", toJSON(problem))
		if problem == true {
			failed = append(failed, tld)
		}
	}
	j.must(slices.Equal(order, searchTLDs), strings.Join(searchTLDs, " "), strings.Join(order, " "))
	j.should(len(failed) == 0, "a result for every extension", "no result for "+strings.Join(failed, " "))
	return j.verdict("eight entries in order")
}

func assertError(a answer, status int) *assertions {
	var j assertions
	text, _ := a.object()["error"].(string)
	j.must(a.err == nil && a.status == status && a.isJSON() && text != "",
		strconv.Itoa(status)+` application/json {"error":"…"}`, a.String())
	return &j
}

func malformedRequest(v *prober) result {
	a, refused := v.lookup(checkPath, `{"domain":"no domain at all"`, nil)
	if refused != nil {
		return *refused
	}
	return assertError(a, http.StatusBadRequest).verdict("400 with a message")
}

func wrongMethod(v *prober) result {
	a := v.get(checkPath)
	j := assertError(a, http.StatusMethodNotAllowed)
	if a.err == nil {
		j.headerList(a, "Allow", http.MethodPost, "Allow with POST")
	}
	return j.verdict("405 with Allow")
}

func unknownPath(v *prober) result {
	return assertError(v.get("/api/"+v.label), http.StatusNotFound).verdict("404 with a message")
}

func restCORS(v *prober) result {
	return preflight(v, checkPath, "https://page.example", "Content-Type")
}

func preflight(v *prober, path, origin string, headers ...string) result {
	a := v.send(http.MethodOptions, path, "", map[string]string{
		"Origin":                         origin,
		"Access-Control-Request-Method":  http.MethodPost,
		"Access-Control-Request-Headers": strings.ToLower(strings.Join(headers, ",")),
	})
	if a.err != nil || a.status < 200 || a.status > 299 {
		return fail("a preflight that succeeds", a.String())
	}
	var j assertions
	j.header(a, "Access-Control-Allow-Origin", "*")
	j.headerList(a, "Access-Control-Allow-Methods", http.MethodPost, "POST allowed")
	for _, name := range headers {
		j.headerList(a, "Access-Control-Allow-Headers", name, "header "+name+" allowed")
	}
	j.must(a.header.Get("Access-Control-Allow-Credentials") == "", "no credentials across origins",
		"Access-Control-Allow-Credentials: "+a.header.Get("Access-Control-Allow-Credentials"))
	return j.verdict("any origin, no credentials")
}

// completionPath names a session that does not exist, which must not matter without a signature.
const completionPath = "/api/acp/checkout_sessions/doctor/complete"

func unsignedCompletion(v *prober) result {
	a := v.send(http.MethodPost, completionPath, "{}", nil)
	return expect(a.err == nil && a.status == http.StatusUnauthorized, "401", a.String(), "401")
}
