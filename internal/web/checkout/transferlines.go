package checkout

import (
	"strings"
	"unicode"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// transferLine is one line of a list of transfers. Its code is never rendered, nor what was
// entered in the place of a domain and is none.
type transferLine struct {
	Number int    // in the list; 0 for a line of an earlier attempt
	Domain string // empty if the line has none
	name   registrar.Name
	code   string
	// ReasonKey is the text key of what is wrong with it; empty if nothing is. Own is the
	// domain's page if the visitor already holds it.
	ReasonKey, Own string
	OK             bool // the registry has accepted it
}

// maxTransferLines bounds what is read of a list; an order has fewer items.
const maxTransferLines = 1000

// splitTransferLines reads lines such as "example.com code", also with a tab, a comma or a
// semicolon in between. A code separated by white space may contain the other two; in CSV it may
// be quoted, and further columns are ignored. It returns false if there are too many lines.
func splitTransferLines(text string) (lines []transferLine, ok bool) {
	text = strings.ReplaceAll(text, "\ufeff", "") // spreadsheets begin a file with it
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	first, number := true, 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if len(lines) == maxTransferLines {
			return nil, false
		}
		domain, code := splitTransferLine(line)
		if domain == "" && code == "" {
			continue // an empty row of a spreadsheet
		}
		begins := first
		first = false
		if begins && !strings.Contains(domain, ".") && strings.HasPrefix(strings.ToLower(domain), "domain") {
			continue // the header of a CSV file
		}
		lines = append(lines, transferLine{Number: number, Domain: domain, code: code})
	}
	return lines, true
}

func splitTransferLine(line string) (domain, code string) {
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
	code, _, _ = cutField(rest, ends)
	return domain, code
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

// checkTransferLines finds what is wrong with lines without asking a registry.
func (h *Handler) checkTransferLines(lines []transferLine) {
	seen := make(map[string]bool, len(lines))
	accepted := 0
	for i := range lines {
		line := &lines[i]
		name, _, err := h.parseItem(string(order.Transfer) + ":" + line.Domain)
		ext, _ := h.Extension(name.TLD())
		swapped, _, notSwapped := h.parseItem(string(order.Transfer) + ":" + line.code)
		switch {
		case err != nil && notSwapped == nil:
			line.ReasonKey, line.Domain, line.code = "transfer.swapped", swapped.ASCII(), ""
		case err != nil && registrar.CodeOf(err) == registrar.ExtensionNotCarried:
			line.ReasonKey = "problem.basket_extension"
		case err != nil:
			line.ReasonKey, line.Domain, line.code = "transfer.bad_name", "", "" // it may be an auth code
		case seen[name.ASCII()]:
			line.ReasonKey = "transfer.duplicate"
		case saleError(ext, order.Transfer) != nil:
			line.ReasonKey = h.refusedKey(saleError(ext, order.Transfer))
		case line.code == "":
			line.ReasonKey = "transfer.code_missing"
		case !order.IsAuthCode(line.code):
			line.ReasonKey = "transfer.code_malformed"
		case accepted == order.MaxPortalItems:
			line.ReasonKey = "transfer.too_many"
		default:
			accepted++
		}
		if err == nil {
			line.name, line.Domain = name, name.ASCII()
			seen[name.ASCII()] = true
		}
	}
}
