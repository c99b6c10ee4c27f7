package catalog

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const header = "tld,register,renew,transfer,restore,min_years,max_years,popular,requires,verify,rdap,whois\n"

func TestShipped_IsValidAndRoundTrips(t *testing.T) {
	list, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	if list.Len() != 490 {
		t.Errorf("the shipped list has %d extensions, want 490", list.Len())
	}
	de, ok := list.Extension(".de")
	if !ok || de.Register != 690 || de.Renew != 590 || de.Transfer != 590 || !de.Popular || de.WHOIS != "whois.denic.de" {
		t.Errorf(".de is %+v", de)
	}
	if ai, _ := list.Extension(".ai"); ai.MinYears != 2 {
		t.Errorf(".ai is sold for %d years, want 2", ai.MinYears)
	}
	var out bytes.Buffer
	if err := list.Write(&out); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), shippedCSV) {
		t.Error("the export of the shipped list differs from the list")
	}
	again, err := Parse(&out)
	if err != nil {
		t.Fatal(err)
	}
	if changes := list.Diff(again); len(changes) != 0 {
		t.Errorf("importing the export changes %v", changes)
	}
	for _, ext := range again.All() {
		if ext.RDAPPinned {
			t.Errorf("%s is pinned, although its RDAP URL is the shipped one", ext.TLD)
		}
	}
}

func TestParse_ReportsProblemWithLine(t *testing.T) {
	const good = ".de,6.90,5.90,5.90,17.90,1,1,yes,,,https://rdap.denic.de/,whois.denic.de\n"
	for _, test := range []struct{ name, csv, want string }{
		{"header", "tld,price\n", "line 1: the first line must be"},
		{"empty", "", "line 1: the first line must be"},
		{"no rows", header, "line 2: the list has no rows"},
		{"price", header + good + ".com,12.9,12.90,12.90,49.90,1,10,,,,,\n", `line 3, register: "12.9" is not a price`},
		{"negative price", header + ".com,-12.90,12.90,12.90,49.90,1,10,,,,,\n", "line 2, register"},
		{"years", header + ".com,12.90,12.90,12.90,49.90,0,10,,,,,\n", "line 2, min_years"},
		{"years order", header + ".com,12.90,12.90,12.90,49.90,5,2,,,,,\n", "line 2, min_years: 5 is more than max_years 2"},
		{"flag", header + ".com,12.90,12.90,12.90,49.90,1,10,true,,,,\n", `line 2, popular: "true" is neither empty nor yes`},
		{"requires", header + ".com,12.90,12.90,12.90,49.90,1,10,,EU presence,,,\n", "line 2, requires"},
		{"no dot", header + "com,12.90,12.90,12.90,49.90,1,10,,,,,\n", `line 2, tld: "com" must begin with a dot`},
		{"upper case", header + ".COM,12.90,12.90,12.90,49.90,1,10,,,,,\n", "line 2, tld"},
		{"unicode", header + ".рус,12.90,12.90,12.90,49.90,1,10,,,,,\n", "line 2, tld"},
		{"duplicate", header + good + good, "line 3, tld: .de is already in line 2"},
		{"rdap http", header + ".com,12.90,12.90,12.90,49.90,1,10,,,,http://rdap.example/,\n", "line 2, rdap"},
		{"rdap slash", header + ".com,12.90,12.90,12.90,49.90,1,10,,,,https://rdap.example/x,\n", "must end with a slash"},
		{"rdap password", header + ".com,12.90,12.90,12.90,49.90,1,10,,,,https://a:b@rdap.example/,\n", "line 2, rdap"},
		{"whois", header + ".com,12.90,12.90,12.90,49.90,1,10,,,,,whois example\n", "line 2, whois"},
		{"whois port", header + ".com,12.90,12.90,12.90,49.90,1,10,,,,,whois.example:99999\n", "line 2, whois"},
		{"fields", header + ".com,12.90\n" + good, "line 2: a row has 12 fields"},
		{"quotes", header + `"` + good, "line"},
	} {
		t.Run(test.name, func(t *testing.T) {
			list, err := Parse(strings.NewReader(test.csv))
			var problems Problems
			if list != nil || !errors.As(err, &problems) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, %v; want a problem with %q", list, err, test.want)
			}
		})
	}
}

func TestParse_ReportsAllProblems(t *testing.T) {
	_, err := Parse(strings.NewReader(header + "com,1,12.90,12.90,49.90,1,10,,,,,\n.net,x\n.org,13.90,13.90,13.90,y,1,10,,,,,\n"))
	var problems Problems
	if !errors.As(err, &problems) || len(problems) != 4 {
		t.Fatalf("got %v, want four problems", err)
	}
	for i, line := range []int{2, 2, 3, 4} {
		if problems[i].Line != line {
			t.Errorf("problem %d is in line %d, want %d", i, problems[i].Line, line)
		}
	}
}

func TestParse_RejectsOversizedFile(t *testing.T) {
	_, err := Parse(strings.NewReader(header + strings.Repeat("x", MaxBytes+10)))
	if err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("got %v", err)
	}
}

func TestParse_AcceptsByteOrderMark(t *testing.T) {
	if _, err := Parse(strings.NewReader("\ufeff" + header + ".de,6.90,5.90,5.90,17.90,1,1,yes,,,,\n")); err != nil {
		t.Error(err)
	}
}

func TestParse_PinsChangedRDAPAddress(t *testing.T) {
	list, err := Parse(strings.NewReader(header +
		".com,12.90,12.90,12.90,49.90,1,10,,,,https://rdap.verisign.com/com/v1/,\n" +
		".net,14.90,14.90,14.90,70.90,1,10,,,,https://rdap.gateway.example/,\n" +
		".org,13.90,13.90,13.90,49.90,1,10,,,,-,\n" +
		".dev,14.90,14.90,14.90,60.90,1,10,,,,,\n" +
		".zz,1.00,1.00,1.00,1.00,1,10,,,,https://rdap.nic.zz/,\n"))
	if err != nil {
		t.Fatal(err)
	}
	for tld, want := range map[string]struct {
		rdap   string
		pinned bool
	}{
		".com": {"https://rdap.verisign.com/com/v1/", false},
		".net": {"https://rdap.gateway.example/", true},
		".org": {"", true}, // a dash: no RDAP
		".dev": {"", false},
		".zz":  {"https://rdap.nic.zz/", true},
	} {
		if ext, _ := list.Extension(tld); ext.RDAP != want.rdap || ext.RDAPPinned != want.pinned {
			t.Errorf("%s: %q, pinned %v; want %+v", tld, ext.RDAP, ext.RDAPPinned, want)
		}
	}
	var out strings.Builder
	if err := list.Write(&out); err != nil || !strings.Contains(out.String(), ".org,13.90,13.90,13.90,49.90,1,10,,,,-,\n") {
		t.Errorf("export lost the dash: %v\n%s", err, out.String())
	}
}

func TestDiff_ListsEveryChange(t *testing.T) {
	parse := func(rows string) *Catalog {
		list, err := Parse(strings.NewReader(header + rows))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	before := parse(".aa,1.00,1.00,1.00,1.00,1,10,,,,,\n.bb,1.00,1.00,1.00,1.00,1,10,,,,,\n")
	after := parse(".bb,2.00,1.00,1.00,1.00,1,10,yes,,,,\n.cc,1.00,1.00,1.00,1.00,1,10,,,,,\n")
	want := []Change{
		{TLD: ".aa", Old: ".aa,1.00,1.00,1.00,1.00,1,10,,,,,"},
		{TLD: ".bb", Field: "register", Old: "1.00", New: "2.00"},
		{TLD: ".bb", Field: "popular", Old: "", New: "yes"},
		{TLD: ".cc", New: ".cc,1.00,1.00,1.00,1.00,1,10,,,,,"},
	}
	got := before.Diff(after)
	if len(got) != len(want) {
		t.Fatalf("got %v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("change %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestLive_ReplaceSwapsWholeList(t *testing.T) {
	shipped, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	live := NewLive(shipped)
	if _, ok := live.Extension(".com"); !ok {
		t.Error(".com is missing")
	}
	small, err := Parse(strings.NewReader(header + ".de,9.90,5.90,5.90,17.90,1,1,yes,,,,\n"))
	if err != nil {
		t.Fatal(err)
	}
	live.Replace(small)
	if _, ok := live.Extension(".com"); ok {
		t.Error(".com is still there")
	}
	if de, _ := live.Extension(".de"); de.Register != 990 {
		t.Errorf(".de costs %s", de.Register)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(header + ".de,6.90,5.90,5.90,17.90,1,1,yes,,,https://rdap.denic.de/,whois.denic.de\n"))
	f.Add([]byte(header + `"a"b,c`))
	f.Add([]byte("\ufeff" + header))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := Parse(bytes.NewReader(text))
		if (list == nil) == (err == nil) {
			t.Fatalf("want either a list or an error: %v, %v", list, err)
		}
		if list == nil {
			return
		}
		var out bytes.Buffer
		if err := list.Write(&out); err != nil {
			t.Fatal(err)
		}
		again, err := Parse(&out)
		if err != nil || len(list.Diff(again)) != 0 {
			t.Fatalf("written list does not parse: %v", err)
		}
	})
}

func TestLive_DecidesSalesOncePerList(t *testing.T) {
	t.Parallel()
	parse := func(rows string) *Catalog {
		list, err := Parse(strings.NewReader(header + rows))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	list := parse(".aa,1.00,1.00,1.00,1.00,1,10,,,,,\n.bb,1.00,1.00,1.00,1.00,1,10,,,,,\n")
	live := NewLive(list)
	if ext, _ := live.Extension(".aa"); ext.Sale.Decided {
		t.Error("sale decided without a decider")
	}
	asked := 0
	live.SetSaleDecider(func(ext registrar.Extension) registrar.Sale {
		asked++
		return registrar.Sale{Decided: true, NoRegistration: registrar.Code("no" + ext.TLD)}
	})
	for range 3 {
		if ext, _ := live.Extension(".bb"); !ext.Sale.Decided || ext.Sale.NoRegistration != "no.bb" || live.All()[0].Sale.NoRegistration != "no.aa" {
			t.Errorf("%+v", ext.Sale)
		}
	}
	live.Replace(parse(".cc,1.00,1.00,1.00,1.00,1,10,,,,,\n"))
	if ext, _ := live.Extension(".cc"); ext.Sale.NoRegistration != "no.cc" || asked != 3 {
		t.Errorf("%+v after %d decisions", ext.Sale, asked)
	}
	if len(list.Diff(parse(".aa,1.00,1.00,1.00,1.00,1,10,,,,,\n.bb,1.00,1.00,1.00,1.00,1,10,,,,,\n"))) != 0 || list.All()[0].Sale.Decided {
		t.Error("the original list was changed")
	}
}
