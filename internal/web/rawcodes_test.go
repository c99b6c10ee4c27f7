package web

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// codeFields are the fields of services whose values are codes: states, kinds, actions and
// reasons of failures.
const codeFields = `State|Status|Kind|Action|Failure|LastError|WaitsFor|Channel|Cause|Ground|ClosedReason|SecureStatus|What|Code`

var (
	markup = regexp.MustCompile(`<[^<>]*>`)
	// printedCode matches {{.State}} and {{$row.Kind}}, withCode {{with .Failure}}{{.}}, and
	// codeElsewhere {{else}}{{.Anything}}, which prints what has no text.
	printedCode   = regexp.MustCompile(`\{\{(?:\$?\w*\.)(?:\w+\.)*(?:` + codeFields + `)\}\}`)
	withCode      = regexp.MustCompile(`\{\{with [^}]*\.(?:` + codeFields + `)\}\}[^{]*\{\{\.\}\}`)
	codeElsewhere = regexp.MustCompile(`\{\{if known [^}]*\}\}\{\{t [^}]*\}\}\{\{else\}\}\{\{\$?[\w.]+\}\}`)
)

// notCodes are matches that print something else.
var notCodes = []string{
	"portal/domain.html {{.Code}}",                                                              // an auth code, for its holder
	"operator/customer.html {{if known $key}}{{t $key}}{{else}}{{$object}}",                     // the object of an audit event: a name or an id
	"operator/customer.html {{with .State}}{{.}}", "portal/profile.html {{with .State}}, {{.}}", // a part of an address
	"ui/failure.html {{.Data.Status}}",                          // the number of the HTTP status
	"ui/partials.html {{if known $key}}{{t $key}}{{else}}{{.}}", // a registry's own word for a status
}

// A code means nothing to a person, so templates print its text.
func TestTemplates_PrintNoCodes(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*/templates/*.html")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d templates, %v", len(files), err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range rawCodes(string(content)) {
			name := strings.Replace(file, "/templates/", "/", 1)
			if !slices.Contains(notCodes, name+" "+found) {
				t.Errorf("%s prints a code: %s; give each value a text", file, found)
			}
		}
	}
}

// rawCodes returns the actions outside of tags that print a code.
func rawCodes(template string) (found []string) {
	text := markup.ReplaceAllString(template, "")
	for _, pattern := range []*regexp.Regexp{printedCode, withCode, codeElsewhere} {
		found = append(found, pattern.FindAllString(text, -1)...)
	}
	return found
}

// The detection itself works.
func TestRawCodes_DetectsPrintedCodes(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		`<td>{{.State}}</td>`, `{{$job.LastError.Code}}`, `{{with .Failure}}<br><code>{{.}}</code>{{end}}`, `{{if known $key}}{{t $key}}{{else}}{{.}}{{end}}`,
		`<b>{{if known .What}}{{t .What}}{{else}}{{.Action}}{{end}}</b>`,
	} {
		if len(rawCodes(bad)) == 0 {
			t.Errorf("not detected: %s", bad)
		}
	}
	for _, good := range []string{
		`<a href="/jobs/{{.Kind}}">{{t (print "job." .Kind)}}</a>`, `{{with .Failure}}{{template "failure" .}}{{end}}`, `{{if eq .State "open"}}{{.Name}}{{end}}`,
		`<option value="{{.Status}}">{{t .Label}}</option>`,
	} {
		if found := rawCodes(good); len(found) > 0 {
			t.Errorf("%s is reported: %s", good, found)
		}
	}
}
