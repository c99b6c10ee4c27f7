package whois

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// charsets maps countries to the encoding that their registries use instead of
// UTF-8. A wrong guess garbles only letters of a registrar's name: everything that
// decides is ASCII or matched in UTF-8.
var charsets = func() map[string]encoding.Encoding {
	table := make(map[string]encoding.Encoding)
	for _, group := range []struct {
		countries string
		charset   encoding.Encoding
	}{
		{"pl cz sk hu si hr ro ba al", charmap.ISO8859_2},
		{"ee fi lv lt", charmap.Windows1257},
		{"tr", charmap.Windows1254},
		{"gr cy", charmap.ISO8859_7},
		{"ru su ua by kz kg uz tj bg mk rs xn--p1ai", charmap.Windows1251},
		{"il", charmap.Windows1255},
		{"jp", japanese.EUCJP},
		{"kr", korean.EUCKR},
		{"cn sg", simplifiedchinese.GBK},
		{"tw hk mo", traditionalchinese.Big5},
		{"th", charmap.Windows874},
	} {
		for country := range strings.FieldsSeq(group.countries) {
			table[country] = group.charset
		}
	}
	return table
}()

// decodeText converts a response about name to a string. Lines of valid UTF-8 stay
// unchanged; others are decoded with the charset of the registry's country, or
// Windows-1252. ok is false if the response is not text.
func decodeText(raw []byte, name string) (text string, ok bool) {
	controls, high := 0, 0
	for _, b := range raw {
		switch {
		case b == 0:
			return "", false
		case b < ' ' && b != '\n' && b != '\r' && b != '\t' && b != '\f' && b != 0x1b:
			controls++
		case b >= 0x80 && b < 0xa0:
			high++
		}
	}
	if controls*20 > len(raw) {
		return "", false
	}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if bytes.Contains(raw, []byte("\x1b$")) {
		// ISO-2022-JP is stateful, so it is decoded as a whole.
		if decoded, err := japanese.ISO2022JP.NewDecoder().Bytes(raw); err == nil {
			return string(decoded), true
		}
	}
	if utf8.Valid(raw) {
		return string(raw), true
	}
	// Text in an 8-bit encoding has few bytes in the C1 range; noise has many.
	if high*4 > len(raw) {
		return "", false
	}
	return decodeLines(raw, charsetOf(raw, name)), true
}

func charsetOf(raw []byte, name string) encoding.Encoding {
	charset := charsets[name[strings.LastIndexByte(name, '.')+1:]]
	switch charset {
	case nil:
		return charmap.Windows1252
	case charmap.Windows1251:
		if looksLikeKOI8(raw) {
			return charmap.KOI8R
		}
	case japanese.EUCJP:
		if bytes.ContainsAny(raw, "\x82\x83\x93\x95") {
			return japanese.ShiftJIS
		}
	}
	return charset
}

// looksLikeKOI8 distinguishes the two Cyrillic encodings: text is mostly lower
// case, and KOI8 has its small letters where Windows-1251 has its capitals.
func looksLikeKOI8(raw []byte) bool {
	lower, upper := 0, 0
	for _, b := range raw {
		switch {
		case b >= 0xe0:
			upper++
		case b >= 0xc0:
			lower++
		}
	}
	return lower > upper
}

func decodeLines(raw []byte, charset encoding.Encoding) string {
	decoder := charset.NewDecoder()
	var text strings.Builder
	text.Grow(len(raw) + len(raw)/8)
	for line := range bytes.Lines(raw) {
		if utf8.Valid(line) {
			text.Write(line)
			continue
		}
		decoded, err := decoder.Bytes(line)
		if err != nil {
			decoded = bytes.ToValidUTF8(line, []byte("?"))
		}
		text.Write(decoded)
	}
	return text.String()
}
