package catalog

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// columns is the header line, and the order of every row.
var columns = []string{
	"tld", "register", "renew", "transfer", "restore", "min_years", "max_years",
	"popular", "requires", "verify", "rdap", "whois",
}

// costColumns may follow: what the registry charges, in cost_currency, and whether prices below
// that are allowed. An empty cost is unknown.
var costColumns = []string{"cost_currency", "cost_register", "cost_renew", "cost_transfer", "cost_restore", "below_cost"}

var allColumns = slices.Concat(columns, costColumns)

// noRDAP in the rdap column disables RDAP, whatever IANA's bootstrap lists.
const noRDAP = "-"

// Limits of a list.
const (
	MaxBytes = 4 << 20 // the size of the largest list that Parse reads

	maxRows  = 20_000
	maxYears = 10
	// maxProblems keeps the report for a file that is not a price list readable.
	maxProblems = 50
)

// Problem is one error in a list. Format is its text in English with verbs for Args; pages
// translate it.
type Problem struct {
	Line           int
	Column, Format string
	Args           []any
}

func (p Problem) String() string {
	text := fmt.Sprintf(p.Format, p.Args...)
	if p.Column == "" {
		return fmt.Sprintf("line %d: %s", p.Line, text)
	}
	return fmt.Sprintf("line %d, %s: %s", p.Line, p.Column, text)
}

// Problems is the error for a rejected list.
type Problems []Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Parse parses a whole list. If anything is wrong the error is Problems, with a line
// number each, and there is no Catalog.
func Parse(r io.Reader) (*Catalog, error) {
	shipped, err := Shipped()
	if err != nil {
		return nil, err
	}
	return parse(r, shipped)
}

// parse marks each RDAP URL that differs from the shipped one as pinned; shipped is nil
// for the shipped list itself.
func parse(r io.Reader, shipped *Catalog) (*Catalog, error) {
	limited := &io.LimitedReader{R: r, N: MaxBytes + 1}
	buffered := bufio.NewReader(limited)
	if bom, err := buffered.Peek(3); err == nil && string(bom) == "\ufeff" {
		_, _ = buffered.Discard(3) // spreadsheets add a byte order mark
	}
	reader := csv.NewReader(buffered)
	reader.ReuseRecord = true // the header sets the number of fields

	header, err := reader.Read()
	if err != nil || !slices.Equal(header, columns) && !slices.Equal(header, allColumns) {
		return nil, Problems{{Line: 1, Format: "the first line must be: %s, optionally with %s", Args: []any{strings.Join(columns, ","), strings.Join(costColumns, ",")}}}
	}
	width := len(header)
	var (
		extensions []registrar.Extension
		problems   Problems
		lineOf     = make(map[string]int)
	)
	for len(problems) < maxProblems {
		fields, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			problems = append(problems, newProblem(err, width))
			var broken *csv.ParseError
			if errors.As(err, &broken) && errors.Is(broken.Err, csv.ErrFieldCount) {
				continue
			}
			break // after broken quoting the rest of the file can't be parsed
		}
		line, _ := reader.FieldPos(0)
		row := rowParser{line: line}
		ext := row.parse(fields)
		first, again := lineOf[ext.TLD]
		row.check(!again, "tld", "%s is already in line %d", ext.TLD, first)
		lineOf[ext.TLD] = line
		if shipped != nil {
			before, _ := shipped.Extension(ext.TLD)
			changed := ext.RDAP != "" && ext.RDAP != before.RDAP
			ext.RDAPPinned = changed || fields[10] == noRDAP
		}
		problems = append(problems, row.problems...)
		extensions = append(extensions, ext)
		if len(extensions) > maxRows {
			problems = append(problems, Problem{Line: line, Format: "more than %d rows", Args: []any{maxRows}})
			break
		}
	}
	if limited.N <= 0 {
		problems = append(problems, Problem{Line: 1, Format: "the file is larger than %d bytes", Args: []any{MaxBytes}})
	}
	if len(problems) == 0 && len(extensions) == 0 {
		problems = append(problems, Problem{Line: 2, Format: "the list has no rows"})
	}
	if len(problems) > 0 {
		return nil, problems
	}
	slices.SortFunc(extensions, func(a, b registrar.Extension) int { return strings.Compare(a.TLD, b.TLD) })
	return newCatalog(extensions), nil
}

func newProblem(err error, width int) Problem {
	var broken *csv.ParseError
	if !errors.As(err, &broken) {
		return Problem{Line: 1, Format: "the file can't be read: %s", Args: []any{err.Error()}}
	}
	if errors.Is(broken.Err, csv.ErrFieldCount) {
		return Problem{Line: broken.Line, Format: "a row has %d fields, separated by commas", Args: []any{width}}
	}
	return Problem{Line: broken.Line, Format: "a field has misplaced quotes"}
}

// rowParser collects all problems of one row.
type rowParser struct {
	line     int
	problems Problems
}

// check adds a problem unless ok.
func (p *rowParser) check(ok bool, column, format string, args ...any) {
	if !ok {
		p.problems = append(p.problems, Problem{Line: p.line, Column: column, Format: format, Args: args})
	}
}

func (p *rowParser) parse(f []string) registrar.Extension {
	ext := registrar.Extension{
		TLD:      p.tld(f[0]),
		Register: p.price("register", f[1]),
		Renew:    p.price("renew", f[2]),
		Transfer: p.price("transfer", f[3]),
		Restore:  p.price("restore", f[4]),
		MinYears: p.years("min_years", f[5]),
		MaxYears: p.years("max_years", f[6]),
		Popular:  p.flag("popular", f[7]),
		Requires: p.word("requires", f[8]),
		Verify:   p.flag("verify", f[9]),
		WHOIS:    p.whois(f[11]),
	}
	p.check(len(p.problems) > 0 || ext.MinYears <= ext.MaxYears, "min_years", "%d is more than max_years %d", ext.MinYears, ext.MaxYears)
	if f[10] != noRDAP {
		ext.RDAP = p.rdap(f[10])
	}
	if len(f) > len(columns) {
		p.costs(f[len(columns):], &ext)
	}
	return ext
}

func (p *rowParser) costs(f []string, ext *registrar.Extension) {
	currency := f[0]
	p.check(currency == "" || registrar.ValidCurrency(currency), "cost_currency", "%q is not a currency like EUR", currency)
	for i, cost := range []*registrar.Money{&ext.Costs.Register, &ext.Costs.Renew, &ext.Costs.Transfer, &ext.Costs.Restore} {
		text := f[i+1]
		if text == "" {
			continue
		}
		amount, err := registrar.ParseAmount(text)
		p.check(err == nil && amount >= 0, costColumns[i+1], "%q is not an amount like 12.90", text)
		p.check(currency != "", "cost_currency", "is missing for %s", costColumns[i+1])
		*cost = registrar.Money{Amount: amount, Currency: currency}
	}
	ext.BelowCost = p.flag("below_cost", f[5])
}

func (p *rowParser) tld(text string) string {
	dotted := strings.HasPrefix(text, ".")
	p.check(dotted, "tld", "%q must begin with a dot", text)
	normal, err := registrar.ParseExtension(text)
	p.check(!dotted || err == nil && normal == text, "tld", "%q is not an extension in lower case (IDN as xn--)", text)
	return text
}

func (p *rowParser) price(column, text string) registrar.Cents {
	amount, err := registrar.ParseCents(text)
	p.check(err == nil, column, "%q is not a price like 12.90, or is too high", text)
	return amount
}

func (p *rowParser) years(column, text string) int {
	years, err := strconv.Atoi(text)
	p.check(err == nil && years >= 1 && years <= maxYears, column, "%q is not a number of years from 1 to %d", text, maxYears)
	return years
}

func (p *rowParser) flag(column, text string) bool {
	p.check(text == "" || text == "yes", column, "%q is neither empty nor yes", text)
	return text == "yes"
}

func (p *rowParser) word(column, text string) string {
	p.check(strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == "", column, "%q may hold only a-z, 0-9 and _", text)
	return text
}

func (p *rowParser) rdap(text string) string {
	if text == "" {
		return ""
	}
	base, err := url.Parse(text)
	plain := err == nil && base.Host != "" && base.User == nil && base.RawQuery == "" && base.Fragment == ""
	secure := plain && (base.Scheme == "https" || registrar.IsLoopbackHost(base.Hostname()))
	p.check(plain, "rdap", "%q is not a plain web address", text)
	p.check(!plain || secure, "rdap", "%q must begin with https://", text)
	p.check(!secure || strings.HasSuffix(base.Path, "/"), "rdap", "%q must end with a slash", text)
	return text
}

func (p *rowParser) whois(text string) string {
	if text == "" {
		return ""
	}
	host, port := text, "43"
	var err error
	if strings.Contains(text, ":") {
		host, port, err = net.SplitHostPort(text)
	}
	number, portErr := strconv.ParseUint(port, 10, 16)
	_, addrErr := netip.ParseAddr(host)
	normal, hostErr := registrar.ParseHost(host)
	known := addrErr == nil || hostErr == nil && normal == host
	p.check(err == nil && portErr == nil && number > 0 && known, "whois", "%q is not a host or host:port", text)
	return text
}

// Write writes the list in the format that Parse reads, without the columns of costs if it has none.
func (c *Catalog) Write(w io.Writer) error {
	width := len(columns)
	for _, ext := range c.extensions {
		width = max(width, widthOf(ext))
	}
	return c.write(w, width)
}

// WriteAll is Write with the columns of costs, so that they can be filled in.
func (c *Catalog) WriteAll(w io.Writer) error { return c.write(w, len(allColumns)) }

func (c *Catalog) write(w io.Writer, width int) error {
	out := csv.NewWriter(w)
	if err := out.Write(allColumns[:width]); err != nil {
		return err
	}
	for _, ext := range c.extensions {
		if err := out.Write(csvRecord(ext)[:width]); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func csvRecord(ext registrar.Extension) []string {
	rdap := ext.RDAP
	if rdap == "" && ext.RDAPPinned {
		rdap = noRDAP
	}
	return []string{
		ext.TLD, ext.Register.String(), ext.Renew.String(), ext.Transfer.String(), ext.Restore.String(),
		strconv.Itoa(ext.MinYears), strconv.Itoa(ext.MaxYears), formatFlag(ext.Popular), ext.Requires, formatFlag(ext.Verify),
		rdap, ext.WHOIS,
		ext.Costs.Currency(), formatCost(ext.Costs.Register), formatCost(ext.Costs.Renew), formatCost(ext.Costs.Transfer),
		formatCost(ext.Costs.Restore), formatFlag(ext.BelowCost),
	}
}

// widthOf is how many columns a row needs: a list without costs stays as earlier versions of the
// program read it.
func widthOf(ext registrar.Extension) int {
	if ext.BelowCost || ext.Costs != (registrar.Costs{}) {
		return len(allColumns)
	}
	return len(columns)
}

func formatCost(cost registrar.Money) string {
	if cost.IsZero() {
		return ""
	}
	return cost.Amount.String()
}

func formatFlag(set bool) string {
	if set {
		return "yes"
	}
	return ""
}
