package registrar

import (
	"strings"
	"testing"
)

// carried is a small catalog for these tests.
func carried(tld string) bool {
	switch tld {
	case ".de", ".com", ".io", ".au", ".uk", ".co.uk", ".com.de", ".shop", ".xn--p1acf":
		return true
	}
	return false
}

func TestParseName_KeepsDisplayForm(t *testing.T) {
	for _, test := range []struct{ input, ascii, display, tld string }{
		{"kaffeehaus.de", "kaffeehaus.de", "kaffeehaus.de", ".de"},
		{"KaffeeHaus.DE", "kaffeehaus.de", "kaffeehaus.de", ".de"},
		{" \t kaffeehaus.de \n", "kaffeehaus.de", "kaffeehaus.de", ".de"},
		{"kaffeehaus.de.", "kaffeehaus.de", "kaffeehaus.de", ".de"},
		{"bücher.de", "xn--bcher-kva.de", "bücher.de", ".de"},
		{"BÜCHER.de", "xn--bcher-kva.de", "bücher.de", ".de"},
		{"bu\u0308cher.de", "xn--bcher-kva.de", "bücher.de", ".de"},
		{"XN--BCHER-KVA.de", "xn--bcher-kva.de", "xn--bcher-kva.de", ".de"},
		{"straße.de", "xn--strae-oqa.de", "straße.de", ".de"},
		{"STRAẞE.de", "xn--strae-oqa.de", "straße.de", ".de"},
		{"日本。de", "xn--wgv71a.de", "日本.de", ".de"},
		{"l·l.com", "xn--ll-0ea.com", "l·l.com", ".com"},
		{"foo.рус", "foo.xn--p1acf", "foo.рус", ".xn--p1acf"},
		{"foo.co.uk", "foo.co.uk", "foo.co.uk", ".co.uk"},
		{"foo.uk", "foo.uk", "foo.uk", ".uk"},
		{"foo.com.de", "foo.com.de", "foo.com.de", ".com.de"},
		{"1.de", "1.de", "1.de", ".de"},
		{"a-b-c.de", "a-b-c.de", "a-b-c.de", ".de"},
		{"a--b.de", "a--b.de", "a--b.de", ".de"},
		{strings.Repeat("a", 63) + ".de", strings.Repeat("a", 63) + ".de", strings.Repeat("a", 63) + ".de", ".de"},
	} {
		name, err := ParseName(test.input, carried)
		if err != nil {
			t.Errorf("ParseName(%q): %v", test.input, err)
			continue
		}
		if name.ASCII() != test.ascii || name.String() != test.display || name.TLD() != test.tld {
			t.Errorf("ParseName(%q) = %q, shown as %q, under %q; want %q, %q, %q",
				test.input, name.ASCII(), name.String(), name.TLD(), test.ascii, test.display, test.tld)
		}
	}
}

func TestParseName_InvalidNameHasCode(t *testing.T) {
	for _, test := range []struct {
		input string
		want  Code
	}{
		{"", NameEmpty},
		{" \t\n", NameEmpty},
		{"kaffeehaus", NameNoExtension},
		{"kaffeehaus.", NameNoExtension},
		{"de", NameIsExtension},
		{"co.uk", NameIsExtension},
		{"www.kaffeehaus.de", NameSubdomain},
		{"a.b.co.uk", NameSubdomain},
		{"foo.github.io", NameSubdomain}, // the private part of the list has no extensions
		{".de", NameEmptyLabel},
		{"a..de", NameEmptyLabel},
		{".", NameEmptyLabel},
		{"..", NameEmptyLabel},
		{"a.de..", NameEmptyLabel},
		{strings.Repeat("a", 64) + ".de", NameLabelTooLong},
		{strings.Repeat("ü", 60) + ".de", NameLabelTooLong},
		{strings.Repeat("a.", 130) + "de", NameTooLong},
		{strings.Repeat("a", 5000), NameTooLong},
		{"-a.de", NameHyphenEdge},
		{"a-.de", NameHyphenEdge},
		{"-ü.de", NameHyphenEdge},
		{"ab--c.de", NameHyphens34},
		{"bü--cher.de", NameHyphens34},
		{"xn--.de", NamePunycode},
		{"xn--a.de", NamePunycode},
		{"xn--zzzzzzz99.de", NamePunycode},
		{"xn--kaffeehaus-.de", NamePunycode},
		{"a_b.de", NameUnderscore},
		{"1.2.3.4", NameAddress},
		{"010.1.1.1", NameAddress},
		{"256.1.1.1", NameAddress},
		{"1.2.3", NameAddress},
		{"example.123", NameAddress},
		{"0x7f.0x1", NameAddress},
		{"::1", NameAddress},
		{"[::1]", NameAddress},
		{"http://a.de", NameURL},
		{"a.de/b", NameURL},
		{"a.de?b", NameURL},
		{"a.de:443", NamePort},
		{"a@b.de", NameEmail},
		{"@@@@", NameCharacter},
		{"a\x00b.de", NameControl},
		{"a\u0085b.de", NameControl},
		{"a b.de", NameSpace},
		{"a\u00a0b.de", NameSpace},
		{"☃.de", NameCharacter},
		{"a·b.de", NameCharacter},
		{"a!b.de", NameCharacter},
		{"l\u200dl.de", NameCharacter},
		{"⒈.de", NameCharacter},
		{"\xff.de", NameCharacter},
		{"a\u2044b.de", NameCharacter},
		{"\u0301a.de", NameCharacter},
		{"א1a.de", NameCharacter}, // breaks the Bidi rule
	} {
		name, err := ParseName(test.input, carried)
		if KindOf(err) != KindInvalid || CodeOf(err) != test.want {
			t.Errorf("ParseName(%q) = %q, %v; want invalid (%s)", test.input, name.ASCII(), err, test.want)
		}
	}
}

func TestParseName_UnlistedExtensionWinsOverSubdomain(t *testing.T) {
	for _, test := range []struct{ input, tld string }{
		{"example.zz", ".zz"},
		{"www.example.ZZ", ".zz"},
		{"example.com.au", ".com.au"}, // longer than .au, and known to the public suffix list
		{"a.b.co.jp", ".co.jp"},
		{"co.jp", ".co.jp"},
		{"bücher.рф", ".xn--p1ai"},
	} {
		name, err := ParseName(test.input, carried)
		if KindOf(err) != KindUnsupported || name.TLD() != test.tld {
			t.Errorf("ParseName(%q) = %q, %v; want unsupported %q", test.input, name.TLD(), err, test.tld)
		}
	}
}

func TestParseQuery_LabelIsLettersDigitsHyphens(t *testing.T) {
	for _, test := range []struct {
		input string
		want  Query
	}{
		{"kaffeehaus", Query{Label: "kaffeehaus"}},
		{" KAFFEE-haus9 ", Query{Label: "kaffee-haus9"}},
		{"shop", Query{Label: "shop"}}, // without a dot it is a name, even if it is an extension
		{"foo.", Query{Label: "foo"}},
		{"foo.de", Query{Label: "foo", TLD: ".de"}},
		{"foo.co.uk", Query{Label: "foo", TLD: ".co.uk"}},
		{"foo.zz", Query{Label: "foo", TLD: ".zz"}},
		{"foo.рус", Query{Label: "foo", TLD: ".xn--p1acf"}},
		{"xn--bcher-kva", Query{Label: "xn--bcher-kva"}},
	} {
		got, err := ParseQuery(test.input, carried)
		if err != nil || got != test.want {
			t.Errorf("ParseQuery(%q) = %+v, %v; want %+v", test.input, got, err, test.want)
		}
	}
	for _, test := range []struct {
		input string
		want  Code
	}{
		{"", NameEmpty},
		{"bücher", NameNotASCII},
		{"ａbc", NameNotASCII}, // a full-width letter folds to a-z but is not a-z
		{"bücher.de", NameNotASCII},
		{"www.foo.de", NameSubdomain},
		{"foo.bar.zz", NameSubdomain},
		{"co.uk", NameIsExtension},
		{".de", NameEmptyLabel},
		{"foo_bar", NameUnderscore},
		{"-foo", NameHyphenEdge},
		{strings.Repeat("a", 64), NameLabelTooLong},
	} {
		if got, err := ParseQuery(test.input, carried); CodeOf(err) != test.want {
			t.Errorf("ParseQuery(%q) = %+v, %v; want %s", test.input, got, err, test.want)
		}
	}
}

func TestParseExtension_NormalisesToALabel(t *testing.T) {
	for input, want := range map[string]string{".DE": ".de", ".рус": ".xn--p1acf", ".co.uk": ".co.uk"} {
		if got, err := ParseExtension(input); err != nil || got != want {
			t.Errorf("ParseExtension(%q) = %q, %v; want %q", input, got, err, want)
		}
	}
	for _, input := range []string{"", "de", ".", "..de", ".a b"} {
		if got, err := ParseExtension(input); err == nil {
			t.Errorf("ParseExtension(%q) = %q, want an error", input, got)
		}
	}
}

// FuzzParseName checks that any parsed name is one LDH label below a listed extension,
// and that parsing it again changes nothing.
func FuzzParseName(f *testing.F) {
	for _, seed := range []string{
		"kaffeehaus.de", "BÜCHER.de", "xn--bcher-kva.de", "a..b", "☃.de", "日本。de", "foo.co.uk", "1.2.3.4", "a.de:80",
		"http://a.de", "\x00", "a\u200db.de", "ß.de", "ﬁ.de", "⒈.de", "xn--a.de", "א.de", "a.xn--p1acf", ".", "ab--c.de", "\u0660\u06f0.de",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		name, err := ParseName(input, carried)
		if err != nil {
			if KindOf(err) == KindInternal || CodeOf(err) == "" {
				t.Fatalf("%q: the error has no code: %v", input, err)
			}
			return
		}
		if !carried(name.TLD()) || name.Label() == "" || len(name.Label()) > 63 || len(name.ASCII()) > 253 {
			t.Fatalf("%q became %q", input, name.ASCII())
		}
		for _, r := range name.Label() {
			if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' {
				t.Fatalf("%q became %q", input, name.ASCII())
			}
		}
		for _, form := range []string{name.ASCII(), name.String()} {
			again, err := ParseName(form, carried)
			if err != nil || again.ASCII() != name.ASCII() {
				t.Fatalf("%q became %q, and %q again became %q, %v", input, name.ASCII(), form, again.ASCII(), err)
			}
		}
	})
}

func FuzzParseQuery(f *testing.F) {
	for _, seed := range []string{"kaffeehaus", "foo.de", "FOO.co.uk", "bücher", "ａ", "foo.", ".de", "xn--bcher-kva", "a\u3002de"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		query, err := ParseQuery(input, carried)
		if err != nil {
			return
		}
		if query.Label == "" || len(query.Label) > 63 || strings.ContainsFunc(query.Label, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
		}) {
			t.Fatalf("%q became %+v", input, query)
		}
	})
}
