package order

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// wellKnown are the names most often imitated or mistyped. It helps against mistakes
// and is no list of trademarks, so it stays short.
var wellKnown = []string{
	"adidas", "airbnb", "aldi", "allianz", "alphabet", "amazon", "android", "apple", "audi", "barclays", "bayer", "binance",
	"bitcoin", "booking", "bundesbank", "bundestag", "chatgpt", "citibank", "coinbase", "commerzbank", "denic", "deutschebank",
	"deutschepost", "dhlparcel", "discord", "dropbox", "elster", "expedia", "facebook", "fedex", "github", "google", "gmail",
	"hermes", "hotmail", "icloud", "instagram", "klarna", "kleinanzeigen", "linkedin", "lufthansa", "mastercard", "mercedes",
	"metamask", "microsoft", "netflix", "nintendo", "openai", "outlook", "paypal", "pinterest", "playstation", "postbank",
	"revolut", "samsung", "santander", "siemens", "snapchat", "sparkasse", "spotify", "steam", "steamcommunity", "stripe",
	"telegram", "telekom", "tiktok", "trustwallet", "twitch", "twitter", "vodafone", "volksbank", "volkswagen", "whatsapp",
	"wikipedia", "windows", "wordpress", "yahoo", "youtube", "zalando",
}

// minTypoLength is the minimum length for typo warnings: every name of four letters is
// one edit away from some other.
const minTypoLength = 5

// warnings lists what the customer should check before paying.
func (s *Service) warnings(ctx context.Context, o Order) []Warning {
	if !slices.ContainsFunc(o.Items, func(item Item) bool { return item.Kind == Register }) {
		return nil
	}
	var held []string
	if s.cfg.Portfolio != nil {
		domains, err := s.cfg.Portfolio.List(ctx, registrar.Actor{Kind: registrar.ActorSystem, Customer: o.Customer})
		if err != nil {
			s.cfg.Logger.WarnContext(ctx, "look-alike check of own domains failed", "order", o.ID, "error", err.Error())
		}
		for _, domain := range domains {
			held = append(held, domain.Name)
		}
	}
	var found []Warning
	for _, item := range o.Items {
		if item.Kind != Register {
			continue
		}
		for _, warning := range lookAlikes(strings.TrimSuffix(item.Name, item.TLD), item.TLD, held) {
			warning.Item = item.ID
			found = append(found, warning)
		}
	}
	return found
}

// lookAlikes compares a name with names it may be mistaken for.
func lookAlikes(label, tld string, held []string) []Warning {
	var found []Warning
	unicodeLabel := label
	if strings.HasPrefix(label, "xn--") {
		if decoded, err := idna.Punycode.ToUnicode(label); err == nil {
			unicodeLabel = decoded
		}
	}
	if misleadingScript(unicodeLabel) {
		found = append(found, Warning{Kind: WarnScript})
	}
	if slices.Contains([]string{".cm", ".co", ".om"}, tld) {
		found = append(found, Warning{Kind: WarnExtension, Similar: label + ".com"})
	}
	for _, known := range wellKnown {
		if confusable(unicodeLabel, known) {
			found = append(found, Warning{Kind: WarnKnown, Similar: known})
			break
		}
	}
	for _, name := range held {
		own, _, _ := strings.Cut(name, ".")
		if confusable(unicodeLabel, own) {
			found = append(found, Warning{Kind: WarnOwn, Similar: name})
			break
		}
	}
	return found
}

func confusable(label, other string) bool {
	return label != other && len(other) >= minTypoLength && (oneEditApart(label, other) || skeleton(label) == skeleton(other))
}

// confusablePairs are letter sequences that look like a single letter.
var confusablePairs = strings.NewReplacer("rn", "m", "vv", "w", "-", "")

// oneEditApart: one letter was added, dropped, replaced, or swapped with its neighbour.
func oneEditApart(a, b string) bool {
	x, y := []rune(a), []rune(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	if len(y)-len(x) > 1 || a == b {
		return false
	}
	start := 0
	for start < len(x) && x[start] == y[start] {
		start++
	}
	x, y = x[start:], y[start:]
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	if len(x) <= 1 && len(y) == 1 {
		return true
	}
	return len(x) == 2 && len(y) == 2 && x[0] == y[1] && x[1] == y[0]
}

// confusableRunes maps letters of other scripts, and digits, to the Latin look-alike.
var confusableRunes = map[rune]rune{
	'а': 'a', 'в': 'b', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'ɡ': 'g', 'һ': 'h', 'і': 'i', 'ӏ': 'l', 'ј': 'j', 'к': 'k', 'м': 'm',
	'н': 'h', 'о': 'o', 'р': 'p', 'ԛ': 'q', 'г': 'r', 'ѕ': 's', 'т': 't', 'у': 'y', 'ѵ': 'v', 'ԝ': 'w', 'х': 'x', 'ь': 'b',
	'α': 'a', 'ε': 'e', 'ι': 'i', 'κ': 'k', 'ν': 'v', 'ο': 'o', 'ρ': 'p', 'τ': 't', 'υ': 'u', 'χ': 'x', 'ω': 'w',
	'օ': 'o', 'ո': 'n', 'ս': 'u', 'հ': 'h', 'ց': 'g', 'ք': 'p',
	'0': 'o', '1': 'l', 'ı': 'i',
}

// skeleton returns how a name looks at a glance.
func skeleton(label string) string {
	looks := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		if latin, ok := confusableRunes[r]; ok {
			return latin
		}
		return r
	}, norm.NFKD.String(label))
	return confusablePairs.Replace(looks)
}

// misleadingScript reports whether a name mixes scripts, or consists of foreign letters
// that all resemble Latin ones.
func misleadingScript(label string) bool {
	latin, foreign, twinned := 0, 0, 0
	for _, r := range norm.NFKD.String(label) {
		switch {
		case !unicode.IsLetter(r):
		case unicode.Is(unicode.Latin, r):
			latin++
		case unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian):
			foreign++
			if _, ok := confusableRunes[r]; ok {
				twinned++
			}
		}
	}
	return foreign > 0 && (latin > 0 || twinned == foreign)
}
