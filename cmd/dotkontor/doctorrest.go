package main

import (
	"crypto/rand"
	"encoding/hex"
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
	// unlistedName is below an extension that can never exist (RFC 2606), so the
	// service answers without asking a registry.
	unlistedName = "doctor.invalid"
)

var restChecks = []check{
	{group: "rest", name: "check of a name that nobody has", cost: 1, run: freeName},
	{group: "rest", name: "check of google.com", cost: 1, run: takenName},
	{group: "rest", name: "extension that is not carried", cost: 1, run: unlistedExtension},
	{group: "rest", name: "search over eight extensions", cost: 1, run: searchResults},
	{group: "rest", name: "garbage is a 400", cost: 1, run: malformedRequest},
	{group: "rest", name: "other method is a 405", run: wrongMethod},
	{group: "rest", name: "unknown path is a 404", run: unknownPath},
	{group: "rest", name: "CORS", run: restCORS},
	{group: "checkout", name: "completion without a signature is 401", run: unsignedCompletion},
}

func jsonField(name, value string) string { return toJSON(map[string]string{name: value}) }

// assertCheck looks at a CheckResult, or at the 502 that says that the registries
// failed. The latter is no fault of the interface, but somebody wants to know.
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
		j.should(false, "an answer of the registry", a.String())
		return j.verdict("")
	}
	j.must(a.status == http.StatusOK, "200", a.String())
	if len(j.failures) > 0 {
		return j.verdict("")
	}
	j.must(a.header.Get("Access-Control-Allow-Origin") == "*", "Access-Control-Allow-Origin: *",
		toJSON(a.header.Get("Access-Control-Allow-Origin")))
	assertCheckResult(&j, body, name, want)
	return j.verdict(fmt.Sprintf("available %v", body["available"]))
}

// assertCheckResult is for the REST interface and the tool alike.
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

func freeName(v *prober) result  { return assertCheck(v, v.label+".com", true) }
func takenName(v *prober) result { return assertCheck(v, "google.com", false) }

func unlistedExtension(v *prober) result {
	a, refused := v.lookup(checkPath, jsonField("domain", unlistedName), nil)
	if refused != nil {
		return *refused
	}
	body := a.object()
	_, judged := body["available"]
	if a.status != http.StatusOK || !a.isJSON() || body["supported"] != false || judged ||
		body["domain"] != unlistedName || body["tld"] != ".invalid" {
		return fail("200 "+toJSON(map[string]any{"domain": unlistedName, "tld": ".invalid", "supported": false}), a.String())
	}
	return pass("supported false")
}

// searchTLDs are the extensions of a search without one, in the contract's order.
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
	entries, _ := body["results"].([]any)
	var order, failed []string
	for _, e := range entries {
		entry, _ := e.(map[string]any)
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
	j.should(len(failed) == 0, "an answer for every extension", "no answer for "+strings.Join(failed, " "))
	return j.verdict("eight entries in order")
}

// assertError looks at an answer with the Error body.
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
	return assertError(a, http.StatusBadRequest).verdict("400 with a sentence")
}

func wrongMethod(v *prober) result {
	a := v.get(checkPath)
	j := assertError(a, http.StatusMethodNotAllowed)
	if a.err == nil {
		j.must(listsHeader(a.header.Get("Allow"), http.MethodPost), "Allow with POST", toJSON(a.header.Get("Allow")))
	}
	return j.verdict("405 with Allow")
}

func unknownPath(v *prober) result {
	return assertError(v.get("/api/"+v.label), http.StatusNotFound).verdict("404 with a sentence")
}

func restCORS(v *prober) result {
	return preflight(v, checkPath, "https://page.example", "Content-Type")
}

// preflight asks as a browser does before a script's request.
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
	j.must(a.header.Get("Access-Control-Allow-Origin") == "*", "Access-Control-Allow-Origin: *",
		toJSON(a.header.Get("Access-Control-Allow-Origin")))
	j.must(listsHeader(a.header.Get("Access-Control-Allow-Methods"), http.MethodPost), "POST allowed",
		toJSON(a.header.Get("Access-Control-Allow-Methods")))
	for _, name := range headers {
		j.must(listsHeader(a.header.Get("Access-Control-Allow-Headers"), name), "header "+name+" allowed",
			toJSON(a.header.Get("Access-Control-Allow-Headers")))
	}
	j.must(a.header.Get("Access-Control-Allow-Credentials") == "", "no credentials across origins",
		"Access-Control-Allow-Credentials: "+a.header.Get("Access-Control-Allow-Credentials"))
	return j.verdict("any origin, no credentials")
}

var limitChecks = []check{
	{group: "limits", name: "RateLimit-Policy", run: rateLimitPolicy},
	{group: "limits", name: "RateLimit falls by one", run: rateLimitDecreases},
	{group: "limits", name: "X-Forwarded-For of a stranger is not believed", cost: 2, run: ignoresForwardedFor},
}

// policy: an operator may set other limits than the contract's; visitors want to
// know.
func rateLimitPolicy(v *prober) result {
	if len(v.readings) == 0 {
		return warn("", "not judged: no counted answer")
	}
	header := v.readings[len(v.readings)-1].policy
	windows := ParseRateLimitPolicy(header)
	var j assertions
	j.must(len(windows) > 0 && len(windows) == len(strings.Split(header, ",")), `RateLimit-Policy like "60s";q=30;w=60`, toJSON(header))
	j.should(slices.Equal(windows, ContractWindows), "30 a minute and 300 in six hours", header)
	return j.verdict(header)
}

// maxNodes bounds how many nodes behind one load balancer are told apart. Each node
// counts for itself, so the first answer of each shows a whole budget.
const maxNodes = 12

// rateLimitDecreases looks at the counted answers so far. Behind a load balancer they come from
// several nodes, so the figures are several falling series that interleave. Other
// clients at our address may disturb a step, but not all of them.
func rateLimitDecreases(v *prober) result {
	if len(v.readings) < 2 {
		return warn("", "not judged: too few counted answers")
	}
	for len(v.readings) < maxNodes && fallingSeries(v.readings) == len(v.readings) && v.allFirstInWindow() && !v.nearLimit(1) {
		if _, refused := v.lookup(checkPath, jsonField("domain", unlistedName), nil); refused != nil {
			return *refused
		}
	}
	var steps []string
	for _, now := range v.readings {
		if !now.found {
			return fail(`RateLimit like "60s";r=29;t=60 on every counted answer`, "an answer without")
		}
		steps = append(steps, strconv.Itoa(now.left))
	}
	seen := strings.Join(steps, ", ")
	switch series := fallingSeries(v.readings); series {
	case 1:
		return pass(seen)
	case len(steps):
		return fail("one less with each request", seen)
	default:
		return warn("one less with each request",
			fmt.Sprintf("%s: %d nodes that count separately, or other clients at this address", seen, series))
	}
}

// fallingSeries is the smallest number of series that fall by one with each answer
// and together make up the readings.
func fallingSeries(readings []limitReading) int {
	var lowest []int
	for _, now := range readings {
		i := slices.Index(lowest, now.left+1)
		if i < 0 {
			lowest = append(lowest, now.left)
			continue
		}
		lowest[i] = now.left
	}
	return len(lowest)
}

// firstInWindow reports whether an answer came from a budget of which it was the first
// request.
func (r limitReading) firstInWindow() bool {
	for _, w := range ParseRateLimitPolicy(r.policy) {
		if strings.Trim(r.window, `"`) == fmt.Sprintf("%ds", int(w.Per.Seconds())) {
			return r.left == w.Limit-1
		}
	}
	return false
}

func (v *prober) allFirstInWindow() bool {
	return !slices.ContainsFunc(v.readings, func(r limitReading) bool { return !r.firstInWindow() })
}

// ignoresForwardedFor lies about our address. A service that believes it gives each lie a
// fresh budget. So does a node that this visit has not met yet, which is why a fresh
// budget is only held against the service if it comes each time.
func ignoresForwardedFor(v *prober) result {
	if len(v.readings) == 0 || !v.readings[len(v.readings)-1].found {
		return warn("", "not judged: no RateLimit to look at")
	}
	for _, lie := range []struct{ header, format string }{
		{"X-Forwarded-For", "%s"},
		{"Forwarded", `for="[%s]"`},
	} {
		for attempt := 0; ; attempt++ {
			fresh, refused := v.sendForgedAddress(lie.header, lie.format)
			if refused != nil {
				return *refused
			}
			if !fresh {
				break
			}
			if attempt >= forgeAttempts-1 || v.nearLimit(1) {
				return fail("RateLimit to fall whatever "+lie.header+" says",
					"a whole budget for each invented address: anyone can choose their address (unless this machine is one of trusted_proxies: then visit from elsewhere)")
			}
		}
	}
	return pass(fmt.Sprintf("invented addresses are ignored, %d requests left", v.left))
}

// forgeAttempts is how often a lie is repeated: nodes that this visit has not met yet
// answer some of them.
const forgeAttempts = 5

// sendForgedAddress sends one request with an invented address and reports whether it was the first
// one of its budget.
func (v *prober) sendForgedAddress(header, format string) (fresh bool, refused *result) {
	random := make([]byte, 4)
	_, _ = rand.Read(random) // never fails
	address := "2001:db8:" + hex.EncodeToString(random[:2]) + ":" + hex.EncodeToString(random[2:]) + "::1"
	_, refused = v.lookup(checkPath, jsonField("domain", unlistedName), map[string]string{header: fmt.Sprintf(format, address)})
	if refused != nil {
		return false, refused
	}
	return v.readings[len(v.readings)-1].firstInWindow(), nil
}

// completionPath names a session that nobody has: without a signature that must
// not matter.
const completionPath = "/api/acp/checkout_sessions/doctor/complete"

func unsignedCompletion(v *prober) result {
	a := v.send(http.MethodPost, completionPath, "{}", nil)
	if a.err != nil || a.status != http.StatusUnauthorized {
		return fail("401", a.String())
	}
	return pass("401")
}
