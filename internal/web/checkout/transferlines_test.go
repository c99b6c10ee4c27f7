package checkout

import "testing"

func TestTransferLines_AcceptCommonForms(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][2]string{
		"kaffee.de geheim":                {"kaffee.de", "geheim"},
		"kaffee.de\tge,he;im":             {"kaffee.de", "ge,he;im"},
		"kaffee.de,geheim,Notiz":          {"kaffee.de", "geheim"},
		"kaffee.de; geheim ;":             {"kaffee.de", "geheim"},
		"kaffee.de ; geheim":              {"kaffee.de", "geheim"},
		`"kaffee.de","ge""he,im","Notiz"`: {"kaffee.de", `ge"he,im`},
		`kaffee.de "ge heim"`:             {"kaffee.de", "ge heim"},
		"kaffee.de":                       {"kaffee.de", ""},
		"kaffee.de,":                      {"kaffee.de", ""},
		`"kaffee.de`:                      {`"kaffee.de`, ""},
	} {
		if domain, code := splitTransferLine(line); domain != want[0] || code != want[1] {
			t.Errorf("%q became %q and %q", line, domain, code)
		}
	}
	lines, ok := splitTransferLines("\ufeffDomain;Auth-Code\r\n\r\nkaffee.de;a\rtee.com;b\n")
	if !ok || len(lines) != 2 || lines[0].Domain != "kaffee.de" || lines[0].Number != 3 || lines[1].code != "b" {
		t.Errorf("%+v", lines)
	}
}
