// Package imports enforces the architecture: it compares the imports of every Go file in
// the repository with a table of rules.
//
// A package without a rule is a failure too. Every rule is shown to fail on an invented
// tree. The files are parsed in this process, because the test cache does not see what
// "go list" reads. Test files follow the same rules, except for tools that do not import
// the product: a test that needs both sides of a boundary belongs below test/.
package imports

import (
	"cmp"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A rule lists what some packages may import from this module. A pattern is a folder, or
// a folder and "/*" for everything below it.
type rule struct {
	packages []string
	allowed  []string
	// allowedInTests is what tests may import in addition.
	allowedInTests []string
	// remedy says what to do instead.
	reason, remedy string
}

const (
	core      = "internal/registrar"
	domains   = "internal/registrar/*"
	jobs      = "internal/jobs"      // runs work stored in rows
	failpoint = "internal/failpoint" // where a test kills the process
	ttlcache  = "internal/ttlcache"  // caches responses of other systems
	tracing   = "internal/tracing"   // records spans, if a collector is configured
	hostmap   = "internal/upstream/hostmap"
	hostlimit = "internal/upstream/hostlimit"
	ssrf      = "internal/upstream/ssrf" // restricts addresses that others supply
	httpjson  = "internal/web/httpjson"  // shared by transports
	ui        = "internal/web/ui"        // shared by transports with pages
	textcheck = "test/testkit/textcheck" // shared by tests of pages
	clitest   = "test/testkit/clitest"   // shared by tests of commands
	app       = "internal/app"           // wires everything together
	cli       = "internal/cli"           // shared by commands
	pgtest    = "test/testkit/pgtest"    // PostgreSQL databases for tests
	eppschema = "test/testkit/eppschema" // validates EPP frames of either side with xmllint
	limittest = "test/testkit/limittest" // the oracle of rate limiters
	redistest = "test/testkit/redistest" // Redis servers for tests
	docs      = "docs"                   // the documents that the service serves
	// own is the subtree of the importing package, for example internal/registrar/order
	// and everything below it.
	own = "own"
)

// The first matching rule applies, so exceptions come first.
var rules = []rule{
	{
		packages: []string{core},
		reason:   "the shared vocabulary depends on no other package",
		remedy:   "move the code to the package that needs it",
	},
	{
		packages: []string{jobs, ttlcache},
		allowed:  []string{core, failpoint, tracing},
		reason:   "running work does not depend on what it does",
		remedy:   "hand it in as a function",
	},
	{
		packages: []string{tracing},
		allowed:  []string{core},
		reason:   "every layer starts spans, so they depend on none",
		remedy:   "set the attribute where its value is known",
	},
	{
		packages: []string{failpoint},
		reason:   "where a test kills the process does not depend on what it does there",
		remedy:   "hand it in as a function",
	},
	{
		packages: []string{domains},
		allowed:  []string{core, domains, jobs, failpoint, ttlcache, tracing}, allowedInTests: []string{limittest},
		reason: "domain packages may use each other, but neither store, upstreams nor transports",
		remedy: "declare the small interface that is needed, and let app pass it in",
	},
	{
		packages: []string{"internal/web"},
		allowed:  []string{core, domains, tracing, "internal/web/*"},
		reason:   "transports call domain services and no connectors",
		remedy:   "take the service as a parameter, and let app pass it in",
	},
	{
		packages: []string{httpjson, httpjson + "/*"},
		allowed:  []string{core, domains},
		reason:   "code shared by transports imports none of them",
		remedy:   "keep the code in the transport that it needs",
	},
	{
		packages: []string{ui, ui + "/*"},
		allowed:  []string{core, domains, httpjson, httpjson + "/*", ui + "/*"}, allowedInTests: []string{textcheck},
		reason: "portal and consent page share the page layout, so it imports neither",
		remedy: "keep the code in the transport that it needs",
	},
	{
		packages: []string{docs},
		reason:   "a document is text",
		remedy:   "fill in what differs from service to service where it is served",
	},
	{
		packages: []string{"internal/web/discovery"},
		allowed:  []string{core, domains, httpjson, httpjson + "/*", docs, own},
		reason:   "machine-readable documents have one source each and import no other transport",
		remedy:   "hand the fact in as a field of Facts",
	},
	{
		packages: []string{"internal/web/*"},
		allowed:  []string{core, domains, httpjson, httpjson + "/*", ui, own}, allowedInTests: []string{textcheck},
		reason: "transports do not know each other",
		remedy: "move what they share to " + httpjson + ", or the decision to a domain package",
	},
	{
		packages: []string{"internal/store/sqldb"},
		allowed:  []string{core}, allowedInTests: []string{pgtest},
		reason: "the engines run SQL without knowing the schema",
		remedy: "move the code to internal/store",
	},
	{
		packages: []string{"internal/store", "internal/store/*"},
		allowed:  []string{core, domains, "internal/store", "internal/store/*"}, allowedInTests: []string{pgtest},
		reason: "the store imports inward only, to implement ports",
		remedy: "put the port beside the domain code that needs it",
	},
	{
		packages: []string{"internal/pwhash"},
		allowed:  []string{core, domains},
		reason:   "password hashing imports inward only, to implement a port",
		remedy:   "put the port beside the domain code that needs it",
	},
	{
		packages: []string{"internal/invoicepdf"},
		allowed:  []string{core, domains},
		reason:   "rendering invoices imports inward only, to implement a port",
		remedy:   "put the port beside the code that needs it",
	},
	{
		packages: []string{hostmap, hostlimit, ssrf},
		allowed:  []string{core},
		reason:   "code shared by connectors imports none of them",
		remedy:   "keep the code in the connector that it needs",
	},
	{
		packages: []string{"internal/upstream/*"},
		allowed:  []string{core, domains, hostmap, hostlimit, ssrf, ttlcache, tracing, own}, allowedInTests: []string{eppschema, limittest, redistest},
		reason: "connectors import inward only, to implement ports, and never the sandbox: they meet on a socket",
		remedy: "put the port beside the domain code that needs it; a test of both ends belongs below test/",
	},
	{
		packages: []string{"internal/sandbox", "internal/sandbox/*"},
		allowed:  []string{core, "internal/sandbox", "internal/sandbox/*"}, allowedInTests: []string{eppschema},
		reason: "the simulated world shares no code with the connectors that it tests",
		remedy: "write the server side independently; a test of both ends belongs below test/",
	},
	{
		packages: []string{"internal/config"},
		allowed:  []string{core, domains, hostmap},
		reason:   "settings describe the parts, they do not build them",
		remedy:   "build the part in app, from the setting",
	},
	{
		packages: []string{app},
		allowed:  []string{core, domains, jobs, failpoint, tracing, "internal/config", "internal/pwhash", "internal/invoicepdf", "internal/store", "internal/store/sqldb", "internal/upstream/*", "internal/web", "internal/web/*"},
		// Mail is tested against the sandbox's mail server.
		allowedInTests: []string{"internal/sandbox/smtp"},
		reason:         "app wires the product and knows neither its command line nor the sandbox",
		remedy:         "export what the command needs from app, and call it there",
	},
	{
		packages: []string{cli},
		allowed:  []string{core, domains, app, "internal/config", "internal/store"},
		reason:   "what commands share knows no command",
		remedy:   "keep the code in the command that needs it",
	},
	{
		packages: []string{"internal/cli/sandbox"},
		allowed:  []string{core, domains, app, cli, "internal/config", "internal/store", "internal/sandbox/*", "internal/web/*"}, allowedInTests: []string{clitest},
		reason: "the sandbox command starts the simulated upstreams and the product, and shares no code with the connectors",
		remedy: "use the product through app",
	},
	{
		packages: []string{"internal/cli/*"},
		allowed:  []string{core, domains, app, cli, "internal/config", "internal/pwhash", "internal/invoicepdf", "internal/store", "internal/store/sqldb", "internal/upstream/*", "internal/web/*"}, allowedInTests: []string{clitest},
		reason: "commands know neither each other nor the sandbox",
		remedy: "move what they share to " + cli,
	},
	{
		packages: []string{"cmd/*"},
		allowed:  []string{cli, "internal/cli/*"},
		reason:   "a program only lists its commands",
		remedy:   "move the code to internal/cli or internal/app",
	},
	{
		packages: []string{textcheck, pgtest},
		reason:   "tests in the product use it, so it must not import the product",
		remedy:   "hand it in as a parameter",
	},
	{
		packages: []string{"test/*"},
		allowed:  []string{"internal/*", "test/*"},
		reason:   "tests use the commands as programs",
		remedy:   "move what the test needs below internal/, or run the binary",
	},
	{
		packages: []string{"examples/*"},
		reason:   "an example shows what a third party can do with nothing but the interface",
		remedy:   "use the protocol, or a third-party client",
	},
	{
		packages: []string{"scripts/*"},
		reason:   "scripts must run while the product does not build",
		remedy:   "make it a command below cmd/ or test/",
	},
}

const (
	unplacedRemedy = "place it where ARCHITECTURE.md says, or add a rule for it in test/imports with its reason"
	testingReason  = `"testing" in a program brings test flags along, and code that only tests call`
	testingRemedy  = "move the code to a _test.go file or below test/"
)

func TestImports_FollowTheArchitecture(t *testing.T) {
	t.Parallel()
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	found, files, err := violations(root)
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Fatalf("no Go files found, so nothing was checked")
	}
	for _, v := range found {
		t.Error(v)
	}
}

// Each tree breaks one rule with one import; want is the violation's reason.
func TestRules_EachCanFail(t *testing.T) {
	t.Parallel()
	whyOf := func(pkg string) string {
		r, ok := ruleFor(pkg)
		if !ok {
			t.Fatalf("no rule for %s", pkg)
		}
		return r.reason
	}
	broken := []struct{ file, imports, why string }{
		{"internal/registrar/name.go", "internal/config", whyOf("internal/registrar")},
		{"internal/registrar/name.go", "internal/registrar/lookup", whyOf("internal/registrar")},
		{"internal/registrar/order/order.go", "internal/store", whyOf("internal/registrar/order")},
		{"internal/registrar/order/order_test.go", "internal/upstream/rdap", whyOf("internal/registrar/order")},
		{"internal/web/routes.go", "internal/store", whyOf("internal/web")},
		{"internal/web/routes.go", "internal/upstream/hostmap", whyOf("internal/web")},
		{"internal/web/httpjson/httpjson.go", "internal/web/rest", whyOf("internal/web/httpjson")},
		{"internal/web/ui/page.go", "internal/web/portal", whyOf("internal/web/ui")},
		{"internal/web/portal/portal.go", "internal/web/rest", whyOf("internal/web/portal")},
		{"internal/web/discovery/discovery.go", "internal/web/mcp", whyOf("internal/web/discovery")},
		{"docs/docs.go", "internal/registrar", whyOf("docs")},
		{"internal/web/rest/rest.go", "internal/web/mcp", whyOf("internal/web/rest")},
		{"internal/web/rest/rest.go", "internal/web", whyOf("internal/web/rest")},
		{"internal/web/rest/rest.go", "internal/sandbox/registry", whyOf("internal/web/rest")},
		{"internal/web/rest/rest.go", "internal/config", whyOf("internal/web/rest")},
		{"internal/web/portal/portal.go", "test/testkit/textcheck", whyOf("internal/web/portal")},
		{"internal/web/portal/portal_test.go", "test/testkit", whyOf("internal/web/portal")},
		{"internal/store/order.go", "internal/upstream/stripe", whyOf("internal/store")},
		{"internal/store/sqldb/pools.go", "internal/store/query", whyOf("internal/store/sqldb")},
		{"internal/pwhash/workers.go", "internal/config", whyOf("internal/pwhash")},
		{"internal/invoicepdf/pdf.go", "internal/store", whyOf("internal/invoicepdf")},
		{"internal/upstream/rdap/rdap.go", "internal/upstream/whois", whyOf("internal/upstream/rdap")},
		{"internal/upstream/rdap/rdap.go", "internal/web/httpjson", whyOf("internal/upstream/rdap")},
		{"internal/upstream/rdap/rdap_test.go", "internal/sandbox/registry", whyOf("internal/upstream/rdap")},
		{"internal/upstream/hostlimit/limiter.go", "internal/upstream/rdap", whyOf("internal/upstream/hostlimit")},
		{"internal/sandbox/registry/rdap.go", "internal/upstream/rdap", whyOf("internal/sandbox/registry")},
		{"internal/sandbox/registry/rdap.go", "internal/registrar/lookup", whyOf("internal/sandbox/registry")},
		{"internal/jobs/loop.go", "internal/registrar/order", whyOf("internal/jobs")},
		{"internal/failpoint/doc.go", "internal/registrar", whyOf("internal/failpoint")},
		{"internal/tracing/tracing.go", "internal/web", whyOf("internal/tracing")},
		{"internal/config/config.go", "internal/upstream/rdap", whyOf("internal/config")},
		{"internal/config/config.go", "internal/web", whyOf("internal/config")},
		{"internal/app/app.go", "internal/cli", whyOf("internal/app")},
		{"internal/app/app.go", "internal/sandbox/smtp", whyOf("internal/app")},
		{"internal/cli/run.go", "internal/cli/serve", whyOf("internal/cli")},
		{"internal/cli/sandbox/sandbox.go", "internal/upstream/stripe", whyOf("internal/cli/sandbox")},
		{"internal/cli/serve/serve.go", "internal/cli/sandbox", whyOf("internal/cli/serve")},
		{"internal/cli/serve/serve.go", "internal/sandbox/registry", whyOf("internal/cli/serve")},
		{"cmd/dotkontor/main.go", "internal/app", whyOf("cmd/dotkontor")},
		{"test/bench/main.go", "cmd/dotkontor", whyOf("test/bench")},
		{"test/testkit/textcheck/textcheck.go", "internal/web/ui", whyOf("test/testkit/textcheck")},
		{"examples/agent-order/main.go", "internal/registrar", whyOf("examples/agent-order")},
		{"scripts/gotest/main.go", "internal/registrar", whyOf("scripts/gotest")},
		{"internal/utils/utils.go", "internal/registrar", unplacedRemedy},
		{"main.go", "internal/web", unplacedRemedy},
		{"internal/web/rest/rest.go", "testing", testingReason},
		{"cmd/dotkontor/main.go", "testing/fstest", testingReason},
	}
	for _, b := range broken {
		t.Run(b.file+" imports "+b.imports, func(t *testing.T) {
			t.Parallel()
			found := violationsOf(t, b.file, b.imports)
			if len(found) != 1 || !strings.Contains(found[0], b.why) || !strings.Contains(found[0], b.file) {
				t.Errorf("got %q, want one violation that names %s and says %q", found, b.file, b.why)
			}
		})
	}
	for _, r := range rules {
		if !slices.ContainsFunc(broken, func(b struct{ file, imports, why string }) bool { return b.why == r.reason }) {
			t.Errorf("no tree breaks the rule of %s: add one", r.packages)
		}
	}
}

func TestRules_AllowedImportsPass(t *testing.T) {
	t.Parallel()
	for _, allowed := range []struct{ file, imports string }{
		{"internal/registrar/lookup/lookup.go", "internal/registrar"},
		{"internal/registrar/mailer/runner.go", "internal/jobs"},
		{"internal/registrar/order/order.go", "internal/registrar/billing"},
		{"internal/registrar/order/order.go", "internal/registrar/order/state"},
		{"internal/registrar/order/order_test.go", "internal/registrar/order"},
		{"internal/web/routes.go", "internal/web/rest"},
		{"internal/web/rest/rest.go", "internal/registrar/lookup"},
		{"internal/web/rest/rest.go", "internal/web/httpjson"},
		{"internal/upstream/rdap/rdap.go", "internal/registrar/lookup"},
		{"internal/upstream/rdap/rdap.go", "internal/upstream/hostmap"},
		{"internal/upstream/whois/whois.go", "internal/upstream/hostlimit"},
		{"internal/sandbox/registry/rdap.go", "internal/sandbox/clock"},
		{"internal/config/config.go", "internal/upstream/hostmap"},
		{"internal/app/app.go", "internal/upstream/stripe"},
		{"internal/cli/sandbox/sandbox.go", "internal/sandbox/registry"},
		{"internal/cli/doctor/doctor_test.go", "test/testkit/clitest"},
		{"cmd/dotkontor/commands.go", "internal/cli/serve"},
		{"test/journeys/search_test.go", "internal/upstream/rdap"},
		{"test/testkit/rig.go", "testing"},
		{"internal/web/rest/rest_test.go", "testing"},
		{"internal/web/portal/texts_test.go", "test/testkit/textcheck"},
		{"internal/web/rest/testdata/bad.go", "internal/store"},
	} {
		if found := violationsOf(t, allowed.file, allowed.imports); len(found) != 0 {
			t.Errorf("%s imports %s: %q", allowed.file, allowed.imports, found)
		}
	}
}

// Everything else starts spans with internal/tracing, whose attributes are a closed list.
func TestImports_OpenTelemetryStaysInTracingAndApp(t *testing.T) {
	t.Parallel()
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && name != root && skipFolder(name) {
			return cmp.Or(err, fs.SkipDir)
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, filepath.Dir(name))
		for _, imported := range file.Imports {
			if !strings.HasPrefix(imported.Path.Value, `"go.opentelemetry.io/`) {
				continue
			}
			if found++; relative != filepath.FromSlash(tracing) && relative != filepath.FromSlash(app) {
				t.Errorf("%s imports %s: use %s", name, imported.Path.Value, tracing)
			}
		}
		return err
	})
	if err != nil || found == 0 {
		t.Errorf("%d imports found, %v", found, err)
	}
}

// violationsOf checks a repository of one file with one import, which is of
// the standard library if it starts with "testing".
func violationsOf(t *testing.T, file, imported string) []string {
	t.Helper()
	root := t.TempDir()
	if !strings.HasPrefix(imported, "testing") {
		imported = "example.org/made/up/" + imported
	}
	for name, text := range map[string]string{
		"go.mod": "module example.org/made/up\n",
		file:     fmt.Sprintf("package p\n\nimport _ %q\n", imported),
	} {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, files, err := violations(root)
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 && !strings.Contains(file, "testdata") {
		t.Fatalf("%s was not read", file)
	}
	return found
}

// violations reads every Go file below root, whatever its build tags.
func violations(root string) (found []string, files int, err error) {
	module, err := modulePath(root)
	if err != nil {
		return nil, 0, err
	}
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != root && skipFolder(name) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		files++
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		broken, err := violationsIn(name, filepath.ToSlash(relative), module)
		found = append(found, broken...)
		return err
	})
	return found, files, err
}

// skipFolder reports the folders that "go build ./..." skips too: hidden ones, test
// data, and other modules such as a module cache in the checkout.
func skipFolder(folder string) bool {
	base := filepath.Base(folder)
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	return err == nil || base == "testdata" || base == "node_modules" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")
}

func violationsIn(name, file, module string) (found []string, err error) {
	positions := token.NewFileSet()
	parsed, err := parser.ParseFile(positions, name, nil, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	pkg := path.Dir(file)
	r, placed := ruleFor(pkg)
	if !placed {
		return []string{fmt.Sprintf("%s: no rule says what package %s may import.\n  Do: %s.", file, pkg, unplacedRemedy)}, nil
	}
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		at := fmt.Sprintf("%s:%d", file, positions.Position(spec.Pos()).Line)
		if isTesting(imported) && !strings.HasSuffix(file, "_test.go") && !strings.HasPrefix(file, "test/") {
			found = append(found, violation(at, imported, testingReason, testingRemedy))
			continue
		}
		inside, isOurs := strings.CutPrefix(imported, module+"/")
		tool := strings.HasSuffix(file, "_test.go") && slices.Contains(r.allowedInTests, inside)
		if isOurs && inside != pkg && !tool && !r.allows(pkg, inside) {
			found = append(found, violation(at, inside, r.reason, r.remedy))
		}
	}
	return found, nil
}

func violation(at, imported, why, fix string) string {
	return fmt.Sprintf("%s imports %s.\n  Rule: %s.\n  Do: %s.", at, imported, why, fix)
}

func isTesting(imported string) bool {
	return imported == "testing" || strings.HasPrefix(imported, "testing/")
}

func ruleFor(pkg string) (rule, bool) {
	for _, r := range rules {
		if slices.ContainsFunc(r.packages, func(pattern string) bool { return matches(pattern, pkg) }) {
			return r, true
		}
	}
	return rule{}, false
}

func (r rule) allows(pkg, imported string) bool {
	return slices.ContainsFunc(r.allowed, func(pattern string) bool {
		if pattern == own {
			unit := r.unit(pkg)
			return imported == unit || strings.HasPrefix(imported, unit+"/")
		}
		return matches(pattern, imported)
	})
}

// unit returns the part of the tree that pkg belongs to: the folder right below the
// rule's folder.
func (r rule) unit(pkg string) string {
	for _, pattern := range r.packages {
		place, below := strings.CutSuffix(pattern, "*")
		if rest, inside := strings.CutPrefix(pkg, place); below && inside {
			first, _, _ := strings.Cut(rest, "/")
			return place + first
		}
	}
	return pkg
}

func matches(pattern, pkg string) bool {
	if place, below := strings.CutSuffix(pattern, "*"); below {
		return strings.HasPrefix(pkg, place)
	}
	return pkg == pattern
}

// repositoryRoot returns the nearest folder upwards that has a go.mod.
func repositoryRoot() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder, nil
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", fmt.Errorf("no go.mod in this folder or above it")
		}
		folder = parent
	}
}

func modulePath(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if module, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(module), nil
		}
	}
	return "", fmt.Errorf("go.mod names no module")
}
