package account

import (
	"strings"
	"testing"
)

func TestParseEmail_AcceptsDeliverableAddresses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ typed, address, key string }{
		{"ada@example.org", "ada@example.org", "ada@example.org"},
		{" Ada.B+x@Example.ORG ", "Ada.B+x@example.org", "ada.b+x@example.org"},
		{"ada@bücher.example", "ada@xn--bcher-kva.example", "ada@xn--bcher-kva.example"},
		{"o'neil@a-b.example", "o'neil@a-b.example", "o'neil@a-b.example"},
		{"", "", ""},
		{"ada", "", ""},
		{"@example.org", "", ""},
		{"ada@", "", ""},
		{"ada@localhost", "", ""},
		{"ada@192.0.2.1", "", ""},
		{"ada@[192.0.2.1]", "", ""},
		{"a@b@example.org", "", ""},
		{"Ada <ada@example.org>", "", ""},
		{`"a b"@example.org`, "", ""},
		{".ada@example.org", "", ""},
		{"a..b@example.org", "", ""},
		{"ada@exa mple.org", "", ""},
		{"ada\r\nBcc: x@example.org", "", ""},
		{"ada@example.org\nx", "", ""},
		{"ädä@example.org", "", ""},
		{strings.Repeat("a", 65) + "@example.org", "", ""},
		{"a@" + strings.Repeat("b.", 126) + "org", "", ""},
	} {
		address, key, err := parseEmail(c.typed)
		if address != c.address || key != c.key || (err == nil) != (c.address != "") {
			t.Errorf("%q: got %q, %q, %v", c.typed, address, key, err)
		}
	}
}
