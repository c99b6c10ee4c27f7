package whois

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

// summary formats a record in one line: created updated expires | nameservers |
// status | registrar.
func summary(r *lookup.Record) string {
	if r == nil {
		return "no record"
	}
	date := func(t time.Time) string {
		switch {
		case t.IsZero():
			return "-"
		case t.Equal(t.Truncate(24 * time.Hour)):
			return t.Format(time.DateOnly)
		}
		return t.Format(time.RFC3339)
	}
	return fmt.Sprintf("%s %s %s | %s | %s | %s", date(r.Created), date(r.Updated), date(r.Expires),
		strings.Join(r.Nameservers, " "), strings.Join(r.Status, ", "), r.Registrar)
}

func TestRecord_SampleRecords(t *testing.T) {
	t.Parallel()
	for _, c := range sampleRecords {
		got, code := classify([]byte(c.answer), c.name)
		if code != "" || got.State != lookup.Registered {
			t.Errorf("%s: state %d, fault %q", c.family, got.State, code)
			continue
		}
		if s := summary(got.Record); s != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.family, s, c.want)
		}
	}
}

// The sample records have the canary in every personal field. It must not leak with
// other line ends, without indentation, or without empty lines either.
func TestRecord_PersonalDataNeverLeaks(t *testing.T) {
	t.Parallel()
	changes := map[string]func(string) string{
		"as is":            func(s string) string { return s },
		"in capitals":      strings.ToUpper,
		"CR LF":            func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"further in":       func(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") },
		"no empty lines":   func(s string) string { return strings.ReplaceAll(s, "\n\n", "\n") },
		"more empty lines": func(s string) string { return strings.ReplaceAll(s, "\n\n", "\n\n\n\n") },
		"twice":            func(s string) string { return s + "\n" + s },
		"no indentation": func(s string) string {
			lines := strings.Split(s, "\n")
			for i := range lines {
				lines[i] = strings.TrimSpace(lines[i])
			}
			return strings.Join(lines, "\n")
		},
	}
	canaries := 0
	for _, c := range sampleRecords {
		if !strings.Contains(c.answer, canary) {
			t.Errorf("%s has no canary", c.family)
		}
		canaries += strings.Count(c.answer, canary)
		for how, change := range changes {
			got, _ := classify([]byte(change(c.answer)), c.name)
			if s := summary(got.Record); strings.Contains(strings.ToLower(s), canary) {
				t.Errorf("%s, %s: the canary is in %s", c.family, how, s)
			}
			if got.State == lookup.Free {
				t.Errorf("%s, %s: called free", c.family, how)
			}
		}
	}
	if canaries < 100 {
		t.Errorf("only %d canaries", canaries)
	}
}

func TestRecord_PersonalFieldsAreDropped(t *testing.T) {
	t.Parallel()
	for _, key := range []string{
		"Registrant", "Registrant Name", "Registrant Organization", "Registrant Street", "Registrant Phone", "Registrant Email", "Holder", "holder-c", "Owner", "owner-name",
		"Admin Name", "Admin Organization", "admin-c", "Administrative Contact", "Tech Name", "tech-c", "Technical Contact", "Billing Name", "Billing Contact", "Contact", "person", "descr", "org",
		"Organization", "name", "address", "phone", "e-mail", "fax-no", "Titular", "Nombre", "Organizacion", "remarks", "role", "Registrar Abuse Contact Email", "Registrar Technical Contact", "Reseller", "등록인", "책임자",
	} {
		for _, shape := range []string{"%s: %s\n", "%s:\n    %s\n", "%s\n    %s\n", "[%s] %s\n", "%s.......: %s\n", "\n%s:\n%s\n", "%s\t%s\n"} {
			answer := "Domain Name: kranich-47.com\nRegistrar URL: http://example.net\nName Server: ns1.example.net\nDNSSEC: unsigned\n" +
				fmt.Sprintf(shape, key, canary+" 2001-02-03 "+canary+".example.net")
			got, _ := classify([]byte(answer), "kranich-47.com")
			if s := summary(got.Record); strings.Contains(s, canary) || strings.Contains(s, "2001") {
				t.Errorf("%s in the shape %q: %s", key, shape, s)
			}
		}
	}
}

// Status and registrar name are the closest to free text.
func TestRecord_StatusAndRegistrarLeakNoPersonalData(t *testing.T) {
	t.Parallel()
	for _, lines := range []string{
		"Status:\nMax zzkanarie\n", "Status: Max zzkanarie\n", "Status:\n    Max zzkanarie\n", "Status:\n\nzzkanarie\n", "[Status]\nzzkanarie\n", "Domain Status: ok, zzkanarie\n", "Status: zzkanarie - ok\n", "Estado:\nzzkanarie\nzzkanarie\n",
		"Registered by: Max zzkanarie\n", "Registrado por: Max zzkanarie\n", "Registered by:\n    Max zzkanarie\n", "registro por:\nzzkanarie\n",
		"Registrar: Example GmbH, Tel 030 123456 zzkanarie\n", "Registrar: Example GmbH Phone +49.30123456, zzkanarie\n", "Registrar:\n    Example GmbH, 030-123456 zzkanarie\n",
	} {
		answer := "Domain Name: kranich-47.com\nCreation Date: 2020-01-02\nName Server: ns1.example.net\n" + lines
		got, code := classify([]byte(answer), "kranich-47.com")
		if s := summary(got.Record); got.State != lookup.Registered || strings.Contains(s, canary) || strings.Contains(s, "123456") {
			t.Errorf("%q: fault %q, %s", lines, code, s)
		}
	}
	got, _ := classify([]byte("Domain Name: kranich-47.com\nCreation Date: 2020-01-02\nRegistrar: Example GmbH, Tel 030 123456\nStatus:\nactive\nFlags:\n  clientHold\n"), "kranich-47.com")
	if s := summary(got.Record); s != "2020-01-02 - - |  | clientHold | Example GmbH" {
		t.Error(s)
	}
}

func TestParseDate_KnownFormats(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"2020-03-04":                            "2020-03-04T00:00:00Z",
		"2020-03-04T05:06:07Z":                  "2020-03-04T05:06:07Z",
		"2020-03-04T05:06:07.89Z":               "2020-03-04T05:06:07.89Z",
		"2020-03-04T05:06:07":                   "2020-03-04T05:06:07Z",
		"2020-03-04T05:06:07+02:00":             "2020-03-04T05:06:07+02:00",
		"2020-03-04T05:06:07-0800":              "2020-03-04T05:06:07-08:00",
		"2020-03-04 05:06:07+02":                "2020-03-04T05:06:07+02:00",
		"2020-03-04 05:06:07 UTC":               "2020-03-04T05:06:07Z",
		"2020-03-04 05:06:07 CLST":              "2020-03-04T05:06:07-03:00",
		"2020-03-04 05:06:07 MSK":               "2020-03-04T05:06:07+03:00",
		"2020-03-04 05:06:07 (UTC+8)":           "2020-03-04T05:06:07+08:00",
		"2020-03-04 05:06:07 (GMT+0:00)":        "2020-03-04T05:06:07Z",
		"2020/03/04 05:06:07 (JST)":             "2020-03-04T05:06:07+09:00",
		"2020/03/04":                            "2020-03-04T00:00:00Z",
		"2020.03.04 05:06:07":                   "2020-03-04T05:06:07Z",
		"2020. 03. 04.":                         "2020-03-04T00:00:00Z",
		"2020-Mar-04.":                          "2020-03-04T00:00:00Z",
		"20200304":                              "2020-03-04T00:00:00Z",
		"20200304 #4711":                        "2020-03-04T00:00:00Z",
		"20200304050607":                        "2020-03-04T05:06:07Z",
		"20200304 05:06:07":                     "2020-03-04T05:06:07Z",
		"04-Mar-2020":                           "2020-03-04T00:00:00Z",
		"4-mar-2020 05:06:07 UTC":               "2020-03-04T05:06:07Z",
		"4.3.2020":                              "2020-03-04T00:00:00Z",
		"04.03.2020 05:06:07":                   "2020-03-04T05:06:07Z",
		"4 March 2020":                          "2020-03-04T00:00:00Z",
		"4th March 2020":                        "2020-03-04T00:00:00Z",
		"Wednesday, 4th March 2020":             "2020-03-04T00:00:00Z",
		"4 de marzo de 2020":                    "2020-03-04T00:00:00Z",
		"March 4 2020":                          "2020-03-04T00:00:00Z",
		"March 4, 2020":                         "2020-03-04T00:00:00Z",
		"March  4 2020":                         "2020-03-04T00:00:00Z",
		"Wed Mar 4 2020":                        "2020-03-04T00:00:00Z",
		"Wed Mar  4 05:06:07 2020":              "2020-03-04T05:06:07Z",
		"Wed Mar 04 05:06:07 GMT 2020":          "2020-03-04T05:06:07Z",
		"Wed, 04 Mar 2020 05:06:07 +0100":       "2020-03-04T05:06:07+01:00",
		"05:06:07 04-Mar-2020":                  "2020-03-04T05:06:07Z",
		"someone@example.net 20200304":          "2020-03-04T00:00:00Z",
		"31/12/2020":                            "2020-12-31T00:00:00Z",
		"12/31/2020":                            "2020-12-31T00:00:00Z",
		"05/05/2020":                            "2020-05-05T00:00:00Z",
		"31-12-2020":                            "2020-12-31T00:00:00Z",
		"04/03/2020":                            "",
		"04-03-2020":                            "",
		"31.31.2020":                            "",
		"30.02.2020":                            "",
		"2020-02-30":                            "",
		"2020-13-01":                            "",
		"0000-00-00 00:00:00":                   "",
		"1019-01-01":                            "",
		"2020-03-04T25:06:07Z":                  "2020-03-04T00:00:00Z",
		"before Aug-1996":                       "",
		"Before 2001":                           "",
		"Aug-1996":                              "",
		"Thu Aug 2003 09:32:17":                 "",
		"2020":                                  "",
		"202003041":                             "",
		"see www.example.net":                   "",
		"":                                      "",
		"Not Disclosed":                         "",
		"2020-03-04abc":                         "",
		"20/03/04":                              "",
		"99999999999999999999999999999999999/1": "",
	} {
		got, ok := parseDate(value, orderUnknown)
		if want == "" {
			if ok {
				t.Errorf("%q is read as %s", value, got)
			}
			continue
		}
		if !ok || got.Format(time.RFC3339Nano) != want {
			t.Errorf("%q: %s, want %s", value, got.Format(time.RFC3339Nano), want)
		}
	}
}

func TestRecord_AmbiguousDayMonthOrderIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rule, name, answer, want string }{
		{"no hint", "kranich-47.xyz", "Created: 04/03/2020\n", "-"},
		{"another date of the response decides", "kranich-47.xyz", "Created: 04/03/2020\nExpires: 31/03/2030\n", "2020-03-04"},
		{"another date shows the other order", "kranich-47.xyz", "Created: 04/03/2020\nExpires: 03/31/2030\n", "2020-04-03"},
		{"the field decides", "kranich-47.xyz", "Created (dd/mm/yyyy): 04/03/2020\n", "2020-03-04"},
		{"the country decides", "kranich-47.fr", "Created: 04/03/2020\n", "2020-03-04"},
	} {
		got, _ := classify([]byte("Domain: "+c.name+"\nStatus: active\nRegistrar: Example\n"+c.answer), c.name)
		if s, _, _ := strings.Cut(summary(got.Record), " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.rule, s, c.want)
		}
	}
}

func TestRecord_StatusesUseRFC5731Spelling(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"client transfer prohibited": "clientTransferProhibited",
		"CLIENTTRANSFERPROHIBITED https://icann.org/epp#clientTransferProhibited": "clientTransferProhibited",
		"client-hold":                       "clientHold",
		"serverDeleteProhibited (LOCKDOWN)": "serverDeleteProhibited",
		"OK":                                "ok",
		"ok - Normal state.":                "ok",
		"Registered until expiry date.":     "registered until expiry date",
		"connect":                           "connect",
		"":                                  "",
		"2020-01-01":                        "",
		"ends @ example":                    "",
		strings.Repeat("long ", 20):         "",
	} {
		if got, _ := statusWord(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

func TestRegistrarName_DropsContactData(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		" Example \t Registrar GmbH ":      "Example Registrar GmbH",
		"Example (R123-LRMS)":              "Example (R123-LRMS)",
		"Ex\u202eample\x01":                "Example",
		"someone@example.net":              "",
		"+49 30 123456":                    "",
		"http://www.example.net":           "",
		"www.example.net":                  "",
		"REDACTED FOR PRIVACY":             "",
		"n/a":                              "",
		"1960000001":                       "1960000001",
		strings.Repeat("ä", 2*maxKeyBytes): strings.Repeat("ä", lookup.MaxRegistrarRunes),
	} {
		if got, _ := registrarName(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

func TestServerNames_ExtractsHosts(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"NS1.Example.NET.":                       "ns1.example.net",
		"ns1.example.net 192.0.2.1 2001:db8::1":  "ns1.example.net",
		"ns1.example.net (192.0.2.1)":            "ns1.example.net",
		"ns1.example.net [OK]":                   "ns1.example.net",
		"ns1.example.net,ns2.example.net":        "ns1.example.net ns2.example.net",
		"ns1.example.net. not.defined.":          "ns1.example.net",
		"ns1.example.net | IPv4: 192.0.2.1":      "ns1.example.net",
		"- ns1.example.net":                      "ns1.example.net",
		"192.0.2.1":                              "",
		"see www.example.net":                    "",
		"NS123-HANDLE":                           "",
		"someone@example.net":                    "",
		"ns1.büro.example":                       "ns1.xn--bro-hoa.example",
		"kranich-47.de":                          "",
		strings.Repeat("x", 64) + ".example.net": "",
	} {
		if got := strings.Join(serverNames(value, "kranich-47.de"), " "); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

func TestRecord_NationalEncodings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, registrar, want string }{
		{"kranich-47.com", "M\xfcller \x96 Co", "Müller – Co"},
		{"kranich-47.com", "Müller", "Müller"},
		{"kranich-47.tr", "Bili\xfeim", "Bilişim"},
		{"kranich-47.pl", "\xa3\xf3d\xbc", "Łódź"},
		{"kranich-47.ru", "\xd0\xe5\xe3\xe8\xf1\xf2\xf0", "Регистр"},
		{"kranich-47.ru", "\xf2\xc5\xc7\xc9\xd3\xd4\xd2", "Регистр"},
		{"kranich-47.kr", "\xc8\xc4\xc0\xcc\xc1\xee", "후이즈"},
		{"kranich-47.jp", "\x1b$BEPO?\x1b(B", "登録"},
		{"kranich-47.cn", "\xd7\xa2\xb2\xe1", "注册"},
	} {
		got, code := classify([]byte("Domain: "+c.name+"\nRegistrar: "+c.registrar+"\nCreated: 2020-01-01\n"), c.name)
		if code != "" || got.Record == nil || got.Record.Registrar != c.want {
			t.Errorf("%s: fault %q, %s, want %s", c.name, code, summary(got.Record), c.want)
		}
	}
}

// checkRecord checks the invariants of every record.
func checkRecord(t *testing.T, r *lookup.Record) {
	t.Helper()
	if r == nil {
		return
	}
	if len(r.Nameservers) > lookup.MaxNameservers || len(r.Status) > lookup.MaxStatuses || len([]rune(r.Registrar)) > lookup.MaxRegistrarRunes {
		t.Errorf("exceeds the limits: %s", summary(r))
	}
	for _, host := range r.Nameservers {
		if again, err := registrar.ParseHost(host); err != nil || again != host || !strings.Contains(host, ".") {
			t.Errorf("nameserver %q", host)
		}
	}
	if slices.Contains(r.Status, "") || len(slices.Compact(slices.Sorted(slices.Values(r.Nameservers)))) != len(r.Nameservers) {
		t.Errorf("an empty status or a nameserver twice: %s", summary(r))
	}
	for _, text := range append([]string{r.Registrar}, r.Status...) {
		if strings.ContainsFunc(text, unicode.IsControl) || strings.Contains(text, "@") || strings.TrimSpace(text) != text {
			t.Errorf("text %q", text)
		}
	}
	for _, at := range []time.Time{r.Created, r.Updated, r.Expires} {
		if !at.IsZero() && (at.Year() < minYear || at.Year() > maxYear) {
			t.Errorf("date %s", at)
		}
	}
}
