package stripe

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
)

const (
	maxBody = 256 << 10
	// Stripe's metadata limits.
	maxMetadata, maxMetadataKey, maxMetadataValue = 50, 40, 500
)

// params are the parameters of a request under their bracketed names. Every value
// is read once; the rest is unknown.
type params struct {
	values  url.Values
	read    map[string]bool
	refusal *refusal // the first violation
}

// readParams merges query and body, like Stripe.
func readParams(w http.ResponseWriter, r *http.Request) (*params, *refusal) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if r.Method == http.MethodPost && r.ContentLength != 0 {
		if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); kind != "application/x-www-form-urlencoded" {
			return nil, invalid("", "", "Invalid request: the body must be application/x-www-form-urlencoded, not "+kind+".")
		}
	}
	if err := r.ParseForm(); err != nil {
		return nil, invalid("", "", "Invalid request: the parameters can't be read.")
	}
	return &params{values: r.Form, read: map[string]bool{}}, nil
}

func (p *params) fail(r *refusal) {
	if p.refusal == nil {
		p.refusal = r
	}
}

// text returns one value; empty if absent.
func (p *params) text(name string) string {
	p.read[name] = true
	values := p.values[name]
	if len(values) > 1 {
		p.fail(invalid("", name, "Invalid string: "+name+" was given more than once."))
	}
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// required returns a required value.
func (p *params) required(name string) string {
	value := p.text(name)
	if value == "" {
		p.fail(invalid("parameter_missing", name, "Missing required param: "+name+"."))
	}
	return value
}

// oneOf returns a value of a fixed list; empty if absent.
func (p *params) oneOf(name string, allowed ...string) string {
	value := p.text(name)
	if value != "" && !slices.Contains(allowed, value) {
		p.fail(invalid("", name, fmt.Sprintf("Invalid %s: must be one of %s", name, strings.Join(allowed, ", "))))
	}
	return value
}

// number returns an integer; found is false if absent.
func (p *params) number(name string) (value int64, found bool) {
	text := p.text(name)
	if text == "" {
		return 0, false
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		p.fail(invalid("parameter_invalid_integer", name, "Invalid integer: "+text))
		return 0, false
	}
	return value, true
}

// address returns an absolute URL.
func (p *params) address(name string) string {
	text := p.text(name)
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		p.fail(invalid("url_invalid", name, "Not a valid URL"))
	}
	return text
}

func (p *params) metadata(name string) map[string]string {
	found := map[string]string{}
	for key := range p.values {
		inner, below := strings.CutPrefix(key, name+"[")
		label, whole := strings.CutSuffix(inner, "]")
		if !below || !whole || strings.ContainsAny(label, "[]") {
			continue
		}
		value := p.text(key)
		if len(label) > maxMetadataKey || len(value) > maxMetadataValue {
			p.fail(invalid("", name, "Metadata keys can have 40 characters and values 500."))
		}
		if value != "" {
			found[label] = value
		}
	}
	if len(found) > maxMetadata {
		p.fail(invalid("", name, "Metadata can have 50 keys."))
	}
	return found
}

// list returns name[0], name[1] … or name[], in order.
func (p *params) list(name string) []string {
	var all []string
	if values, found := p.values[name+"[]"]; found {
		p.read[name+"[]"] = true
		all = append(all, values...)
	}
	for i := range p.count(name) {
		all = append(all, p.text(fmt.Sprintf("%s[%d]", name, i)))
	}
	return all
}

// count returns the number of elements name[0]….
func (p *params) count(name string) int {
	most := 0
	for key := range p.values {
		inner, below := strings.CutPrefix(key, name+"[")
		index, _, closed := strings.Cut(inner, "]")
		if number, err := strconv.Atoi(index); below && closed && err == nil && number >= 0 && number < 1000 {
			most = max(most, number+1)
		}
	}
	return most
}

// ignore accepts parameters without effect here.
func (p *params) ignore(names ...string) {
	for _, name := range names {
		p.read[name] = true
	}
}

// finish returns the first violation, including unknown parameters.
func (p *params) finish() *refusal {
	var unknown []string
	for key := range p.values {
		if !p.read[key] {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) > 0 {
		sort.Strings(unknown)
		return invalid("parameter_unknown", unknown[0], "Received unknown parameter: "+unknown[0])
	}
	return p.refusal
}

// tree holds the requested expansions.
type tree map[string]tree

func (p *params) expand() tree {
	root := tree{}
	for _, path := range p.list("expand") {
		at := root
		for _, step := range strings.Split(path, ".") {
			if at[step] == nil {
				at[step] = tree{}
			}
			at = at[step]
		}
	}
	return root
}

// fingerprint distinguishes requests under one idempotency key.
func (p *params) fingerprint(r *http.Request) string {
	return r.Method + " " + r.URL.Path + "?" + p.values.Encode()
}
