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
	// Stripe's own bounds of metadata.
	maxMetadata, maxMetadataKey, maxMetadataValue = 50, 40, 500
)

// params are the parameters of a request, each under its bracketed name. Every
// value is asked for once; what is left over then is unknown.
type params struct {
	values  url.Values
	read    map[string]bool
	refusal *refusal // the first thing that is wrong
}

// readParams takes query and body together, as Stripe does.
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

// text is one value; empty if it is not there.
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

// required is a value that must be there.
func (p *params) required(name string) string {
	value := p.text(name)
	if value == "" {
		p.fail(invalid("parameter_missing", name, "Missing required param: "+name+"."))
	}
	return value
}

// oneOf is a value of a closed list; empty if it is not there.
func (p *params) oneOf(name string, allowed ...string) string {
	value := p.text(name)
	if value != "" && !slices.Contains(allowed, value) {
		p.fail(invalid("", name, fmt.Sprintf("Invalid %s: must be one of %s", name, strings.Join(allowed, ", "))))
	}
	return value
}

// number is a whole number; found is false if it is not there.
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

// address is an absolute web address.
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

// metadata is metadata.
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

// list is name[0], name[1] … or name[], in its order.
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

// count is how many elements name[0]… has.
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

// ignore accepts parameters that change nothing here.
func (p *params) ignore(names ...string) {
	for _, name := range names {
		p.read[name] = true
	}
}

// finish says what is wrong with the request, an unknown parameter included.
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

// tree is what a request wants to see expanded.
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

// fingerprint tells requests under one idempotency key apart.
func (p *params) fingerprint(r *http.Request) string {
	return r.Method + " " + r.URL.Path + "?" + p.values.Encode()
}
