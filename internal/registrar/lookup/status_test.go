package lookup

import "testing"

func TestParseStatus_AcceptsOnlyKnownStatuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"CLIENT transfer_prohibited": "clientTransferProhibited", "ok": "ok", " pending-delete ": "pendingDelete",
		"Connect": "connect", "In Redemption": "in redemption", "REGISTERED": "registered", "Activé": "activé", "granted": "granted",
		"Max Mustermann": "", "active Max Mustermann": "", "mustermann": "", "": "", " - ": "", "030 123456": "", "ok ok": "",
	} {
		if got, ok := ParseStatus(text); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %t; want %q", text, got, ok, want)
		}
	}
}

func TestCleanRegistrar_RemovesTrailingPhoneNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Example GmbH, Tel 030 123456":       "Example GmbH",
		"Example GmbH, Tel.: +49 30 123456":  "Example GmbH",
		"Example GmbH Phone: 1234567":        "Example GmbH",
		"Example GmbH (Telefon 030/1234567)": "Example GmbH",
		"Example GmbH, +49 (30) 123456":      "Example GmbH",
		"Example GmbH 030 123456, Berlin":    "Example GmbH",
		"Example Inc. (555) 123-4567":        "Example Inc.",
		"Example Inc. - 555-123-4567":        "Example Inc.",
		"Tel Aviv Domains Ltd":               "Tel Aviv Domains Ltd",
		"Phone Names Inc":                    "Phone Names Inc",
		"1API GmbH":                          "1API GmbH",
		"Example (R123-LRMS)":                "Example (R123-LRMS)",
		"Example 24 Ltd, 2000-2020":          "Example 24 Ltd, 2000-2020",
		"1960000001":                         "1960000001",
		"REG-0123456789":                     "REG-0123456789",
	} {
		if got := CleanRegistrar(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
