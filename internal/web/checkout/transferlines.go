package checkout

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	utf16 "golang.org/x/text/encoding/unicode"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// transferLine is one line of a list of transfers. Its code is never rendered, nor what was
// entered in the place of a domain and is none.
type transferLine struct {
	Number int    // where it was just entered; 0 for a line of the stored list
	Domain string // empty if the line has none
	Quote  string // what was entered in its place, if it looks like a domain and not like a code
	name   registrar.Name
	code   string
	more   bool // something follows the code
	// ReasonKey is the text key of what is wrong with it; empty if nothing is. Own is the
	// domain's page if the visitor already holds it.
	ReasonKey, Own string
	OK             bool // the registry has accepted it
	Net, Gross     registrar.Cents
	// IncludesKey is the text key of the term after the transfer, Years the years it adds.
	IncludesKey string
	Years       int
}

// Listed reports whether the line is stored in the customer's list: it names a domain, and once.
func (l transferLine) Listed() bool {
	return l.name.Label() != "" && l.ReasonKey != "transfer.duplicate" && l.Own == ""
}

// HasCode reports whether a code is stored.
func (l transferLine) HasCode() bool { return l.code != "" }

// uncorrectable are the reasons that no other auth code changes.
var uncorrectable = []string{"reason.transfer_not_offered", "reason.no_registry_account", "reason.rule_unmet", "reason.not_registered", "reason.name_premium", "reason.name_held", "reason.transfer_held", notCarriedKey}

// notCarriedKey is the reason of a line whose extension we don't offer.
const notCarriedKey = "problem.basket_extension"

// tooManyKey is the reason of a line for which the order has no room.
const tooManyKey = "transfer.too_many"

// impossible reports whether the customer can't do anything about the reason.
func (l transferLine) impossible() bool { return slices.Contains(uncorrectable, l.ReasonKey) }

// lockedReasons are the texts of locked domains in a list, which explains locks once for all of them.
var lockedReasons = map[string]string{
	"reason." + string(provision.Locked): "transfer.locked", "reason." + string(wrongCodeLocked): "transfer.locked_wrong_code",
}

// ShownKey is the text key of the reason in a list.
func (l transferLine) ShownKey() string { return cmp.Or(lockedReasons[l.ReasonKey], l.ReasonKey) }

// someLocked reports whether a list has to explain locks.
func someLocked(lines []transferLine) bool {
	return slices.ContainsFunc(lines, func(l transferLine) bool { return lockedReasons[l.ReasonKey] != "" })
}

// codeDropped are the reasons for which a code was not stored; they hold until there is another.
var codeDropped = []string{"reason.auth_code_wrong", "reason." + string(wrongCodeLocked), "reason." + string(wrongCodeLocked) + noLock, "transfer.code_malformed", "transfer.code_is_date", "transfer.swapped"}

// Correctable reports whether the page offers to enter a code.
func (l transferLine) Correctable() bool {
	return l.Listed() && !l.impossible()
}

// listedLines are the lines of a stored list.
func (h *Handler) listedLines(list []order.ListedTransfer) []transferLine {
	lines := make([]transferLine, len(list))
	for i, listed := range list {
		lines[i] = transferLine{
			Domain: listed.Name, name: listed.DomainName(), code: listed.Code, OK: listed.OK, Net: listed.Net, Gross: listed.Gross, ReasonKey: h.withoutLock(listed.Reason, listed.TLD),
		}
		if listed.Reason != "" && !h.templates.Has(listed.Reason) { // stored by another release
			lines[i].ReasonKey = "reason.other"
		}
	}
	return lines
}

// sortTransferLines sorts lines by domain, so that a check does not move them. Those without a
// domain come first, as they were entered.
func sortTransferLines(lines []transferLine) {
	slices.SortStableFunc(lines, func(a, b transferLine) int {
		return strings.Compare(ui.UnicodeName(a.Domain), ui.UnicodeName(b.Domain))
	})
}

// newListed are the lines to store.
func newListed(lines []transferLine) []order.ListedTransfer {
	var list []order.ListedTransfer
	for _, line := range lines {
		if line.Listed() {
			list = append(list, order.ListedTransfer{
				Name: line.Domain, TLD: line.name.TLD(), Code: line.code, OK: line.OK, Reason: line.ReasonKey, Impossible: line.impossible(), Later: line.ReasonKey == tooManyKey, Net: line.Net, Gross: line.Gross,
			})
		}
	}
	return list
}

func namesOf(list []order.ListedTransfer) []string {
	names := make([]string, len(list))
	for i, listed := range list {
		names[i] = listed.Name
	}
	return names
}

// splitTransferLines reads lines such as "example.com code", also with a tab, a comma or a
// semicolon in between. A code separated by white space may contain the other two; in CSV it may
// be quoted, and further columns are ignored. If the first line is a header, it says which columns
// have the domain and the code. The problem is empty, or what is wrong with the whole.
func splitTransferLines(text string) (lines []transferLine, problem registrar.Code) {
	text = strings.ReplaceAll(text, "\ufeff", "") // spreadsheets begin a file with it
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	head, number := true, 0
	var columns tableColumns
	for line := range strings.SplitSeq(text, "\n") {
		number++
		if separator, stated := statedSeparator(line); head && stated {
			columns.separator = separator
			continue
		}
		if strings.Trim(line, " \t,;|\"") == "" {
			continue // also an empty row of a spreadsheet
		}
		if head {
			named, header := readHeader(strings.TrimSpace(line), columns.separator)
			head, columns = false, named
			if header && named.code < 0 {
				return nil, transferNoCodes
			}
			if header {
				continue
			}
		}
		if len(lines) == order.MaxListedTransfers {
			return nil, order.TransferListFull
		}
		read := columns.split(strings.Trim(line, " "))
		if columns.separator == 0 {
			read = splitTransferLine(strings.TrimSpace(line))
		}
		read.Number = number
		lines = append(lines, read)
	}
	return lines, ""
}

// statedSeparator returns what a line such as "sep=;" of a spreadsheet says, and 0 if it says nothing.
func statedSeparator(line string) (separator rune, stated bool) {
	after, stated := strings.CutPrefix(strings.ToLower(strings.TrimRight(line, "\r ")), "sep=")
	if runes := []rune(after); stated && len(runes) == 1 {
		return runes[0], true
	}
	return 0, stated && after == ""
}

// decodeText returns the text of a file; false if it has none, such as that of a spreadsheet. What is
// not UTF-8 is UTF-16, if it begins so, or Windows-1252, in which spreadsheets in German and English
// store CSV files.
func decodeText(file []byte) (string, bool) {
	if bytes.HasPrefix(file, []byte{0xff, 0xfe}) || bytes.HasPrefix(file, []byte{0xfe, 0xff}) {
		text, err := utf16.UTF16(utf16.LittleEndian, utf16.ExpectBOM).NewDecoder().Bytes(file)
		return string(text), err == nil
	}
	if bytes.IndexByte(file, 0) >= 0 || bytes.HasPrefix(file, []byte("PK\x03\x04")) || bytes.HasPrefix(file, []byte("%PDF")) {
		return "", false
	}
	if utf8.Valid(file) {
		return string(file), true
	}
	text, err := charmap.Windows1252.NewDecoder().Bytes(file)
	if err != nil {
		return strings.ToValidUTF8(string(file), "\ufffd"), true
	}
	return string(text), true
}

// splitTransferLine reads a line that is not below a header.
func splitTransferLine(line string) transferLine {
	domain, rest, separator := cutField(line, func(r rune) bool { return r == ',' || r == ';' || unicode.IsSpace(r) })
	rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
	if unicode.IsSpace(separator) && rest != "" && (rest[0] == ',' || rest[0] == ';') { // "example.com ; code"
		separator = rune(rest[0])
		rest = strings.TrimLeftFunc(rest[1:], unicode.IsSpace)
	}
	ends := unicode.IsSpace
	if !unicode.IsSpace(separator) {
		ends = func(r rune) bool { return r == separator || unicode.IsSpace(r) }
	}
	code, rest, _ := cutField(rest, ends)
	return transferLine{Domain: bareDomain(strings.TrimSpace(domain)), code: strings.TrimSpace(code), more: strings.Trim(rest, " \t,;") != ""}
}

// bareDomain returns the domain of a copied web address.
func bareDomain(text string) string {
	if _, after, found := strings.Cut(text, "://"); found {
		text = after
	}
	text, _, _ = strings.Cut(text, "/")
	text = strings.TrimSuffix(text, ".")
	if len(text) > 4 && strings.EqualFold(text[:4], "www.") && strings.Contains(text[4:], ".") {
		text = text[4:]
	}
	return text
}

// cutField returns the first field of a line, without its quotes, what follows it, and the
// separator in between.
func cutField(line string, separates func(rune) bool) (field, rest string, separator rune) {
	if quoted, found := strings.CutPrefix(line, `"`); found {
		var b strings.Builder
		for i := 0; i < len(quoted); i++ {
			switch {
			case quoted[i] != '"':
				b.WriteByte(quoted[i])
			case i+1 < len(quoted) && quoted[i+1] == '"':
				b.WriteByte('"')
				i++
			default:
				_, rest, separator = cutField(quoted[i+1:], separates)
				return b.String(), rest, separator
			}
		}
	}
	at := strings.IndexFunc(line, separates)
	if at < 0 {
		return line, "", ','
	}
	separator = []rune(line[at:])[0]
	return line[:at], line[at+len(string(separator)):], separator
}

// unlistedName returns a name whose extension we don't offer, so that its line stays in the list;
// a zero one if it has further labels.
func unlistedName(text, tld string) registrar.Name {
	host, err := registrar.ParseHost(text)
	label := strings.TrimSuffix(host, tld)
	if err != nil || label == "" || strings.Contains(label, ".") {
		return registrar.Name{}
	}
	return registrar.NewName(label, tld)
}

// maxQuoted bounds the quote of a line, in characters.
const maxQuoted = 60

// quotedDomain returns what can be quoted of a text in the place of a domain: only one that ends like
// a domain, because others may be auth codes.
func quotedDomain(text string) string {
	at := strings.LastIndexByte(text, '.')
	end := text[at+1:]
	if at < 1 || len(end) < 2 || strings.ContainsFunc(end, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return ""
	}
	if quote := []rune(text); len(quote) > maxQuoted {
		return string(quote[:maxQuoted]) + "…"
	}
	return text
}

// unswap puts the domains of lines first that have their auth code first, and nothing else.
func (h *Handler) unswap(lines []transferLine) {
	for i, line := range lines {
		if _, err := h.parseName(line.Domain); err == nil || line.more || !order.IsAuthCode(line.Domain) {
			continue
		}
		if _, err := h.parseName(bareDomain(line.code)); err == nil {
			lines[i].Domain, lines[i].code = bareDomain(line.code), line.Domain
		}
	}
}

// checkTransferLines finds what is wrong with lines without asking a registry. A line that is
// entered twice in the same way, or once without its code, counts once.
func (h *Handler) checkTransferLines(lines []transferLine) []transferLine {
	codes := make(map[string]string, len(lines))
	coded := make(map[string]bool, len(lines))
	for _, line := range lines {
		if name, err := h.parseName(line.Domain); err == nil && line.code != "" {
			coded[name.ASCII()] = true
		}
	}
	accepted := 0
	checked := make([]transferLine, 0, len(lines))
	for _, line := range lines {
		was := line.ReasonKey
		line.OK, line.ReasonKey, line.Net, line.Gross = false, "", 0, 0
		name, err := h.parseName(line.Domain)
		if err != nil {
			swapped, notSwapped := h.parseName(bareDomain(line.code))
			switch {
			case notSwapped == nil: // what comes first is perhaps no code; see unswap
				name, line.ReasonKey, line.code = swapped, "transfer.swapped", ""
			case registrar.CodeOf(err) == registrar.ExtensionNotCarried:
				name, line.ReasonKey, line.code = unlistedName(line.Domain, name.TLD()), notCarriedKey, ""
			default:
				line.Quote = quotedDomain(line.Domain)
				line.ReasonKey, line.Domain, line.code = "transfer.bad_name", "", "" // it may be an auth code
			}
		}
		if err == nil && line.code == "" && coded[name.ASCII()] {
			continue
		}
		if name.Label() != "" {
			line.name, line.Domain = name, name.ASCII()
			if code, seen := codes[line.Domain]; seen {
				if code == line.code {
					continue
				}
				line.ReasonKey = "transfer.duplicate"
			} else {
				codes[line.Domain] = line.code
			}
		}
		ext, _ := h.Extension(name.TLD())
		switch {
		case line.ReasonKey != "":
		case saleError(ext, order.Transfer) != nil:
			line.ReasonKey = h.refusedKey(order.Transfer, saleError(ext, order.Transfer))
		case line.code == "":
			line.ReasonKey = "transfer.code_missing"
			if slices.Contains(codeDropped, was) {
				line.ReasonKey = was
			}
		case !order.IsAuthCode(line.code):
			line.ReasonKey, line.code = "transfer.code_malformed", ""
		case isDate(line.code):
			line.ReasonKey, line.code = "transfer.code_is_date", ""
		case accepted == order.MaxPortalItems:
			line.ReasonKey = tooManyKey
		default:
			accepted++
		}
		checked = append(checked, line)
	}
	return checked
}

// isDate reports whether a text in the place of a code is a day, such as the end of a term.
func isDate(text string) bool {
	for _, layout := range []string{time.DateOnly, "2.1.2006", "2/1/2006", "1/2/2006", "2006/1/2"} {
		if _, err := time.Parse(layout, text); err == nil {
			return true
		}
	}
	return false
}
