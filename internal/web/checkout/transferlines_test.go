package checkout

import (
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

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
		if got := splitTransferLine(line); got.Domain != want[0] || got.code != want[1] {
			t.Errorf("%q became %q and %q", line, got.Domain, got.code)
		}
	}
	lines, problem := splitTransferLines("\ufeffDomain;Auth-Code\r\n\r\nkaffee.de;a\rtee.com;b\n")
	if problem != "" || len(lines) != 2 || lines[0].Domain != "kaffee.de" || lines[0].Number != 3 || lines[1].code != "b" {
		t.Errorf("%+v", lines)
	}
}

func TestCheckTransferLines_KeepsWhatCanBeCorrected(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, &fakeOrders{})
	entered, _ := splitTransferLines("https://www.tee.com/shop geheim\ntee.com geheim\nTEE.com anders\ngeheim-2 kaffee.com\n1;kakao.com;geheim\nkein-name x\nmilch.com\nzucker.com g\u00e4heim\n")
	h.unswap(entered)
	lines := h.checkTransferLines(append([]transferLine{{Domain: "falsch.com", ReasonKey: "reason.auth_code_wrong"}}, entered...))
	var got []string
	for _, line := range lines {
		got = append(got, line.Domain+" "+line.ReasonKey)
	}
	want := []string{
		"falsch.com reason.auth_code_wrong", "tee.com ", "tee.com transfer.duplicate", "kaffee.com ", "kakao.com transfer.swapped", " transfer.bad_name", "milch.com transfer.code_missing",
		"zucker.com transfer.code_malformed",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	var listed []string
	for _, line := range newListed(lines) {
		listed = append(listed, line.Name+" "+line.Code)
	}
	if !slices.Equal(listed, []string{"falsch.com ", "tee.com geheim", "kaffee.com geheim-2", "kakao.com ", "milch.com ", "zucker.com "}) {
		t.Errorf("stored: %q", listed)
	}
}

func TestTransferPage_ListStaysWithReasonsAndLinesOfOtherReleases(t *testing.T) {
	t.Parallel()
	orders := &fakeOrders{transfers: []order.ListedTransfer{
		{Name: "tee.com", TLD: ".com", Code: "geheim", Reason: "reason.transfer_locked"},
		{Name: "kaffee.com", TLD: ".com", Reason: "reason.of_another_release"},
		{Name: "milch.com", TLD: ".com", Code: "geheim", OK: true, Net: 1290, Gross: 1535},
	}}
	for _, page := range []string{"/umzug", "/portal/transfers"} {
		visit(t, orders, "erika", page, nil).wantPage(http.StatusOK, []string{"tee.com", "Diese Domain ist bei ihrem Anbieter für Umzüge gesperrt.", "Das hat nicht funktioniert.", "milch.com"}, []string{"geheim"})
	}
	visit(t, orders, "", "/umzug", nil).wantPage(http.StatusOK, []string{"Bitte melden Sie sich zuerst an."}, []string{"tee.com"})
}

func TestTransferPage_ExtensionWithoutLockAsksToRemoveNone(t *testing.T) {
	t.Parallel()
	both := &registrar.Error{Kind: registrar.KindInvalid, Code: provision.WrongCode, Err: refusal(registrar.KindConflict, provision.Locked)}
	orders := &fakeOrders{err: &order.ItemsRefused{Items: []order.RefusedItem{
		{Name: "tee.de", Kind: order.Transfer, Reason: refusal(registrar.KindConflict, provision.Locked)}, {Name: "kaffee.de", Kind: order.Transfer, Reason: both},
	}}}
	want := []string{"Die Registry lässt den Umzug dieser Domain zurzeit nicht zu. Gehört sie Ihnen", "Der Auth-Code ist falsch, und die Registry lässt den Umzug"}
	never := []string{"60 Tagen", "für Umzüge gesperrt"}
	visit(t, orders, "erika", "/umzug", form("lines", "tee.de geheim\nkaffee.de geheim")).wantPage(http.StatusUnprocessableEntity, want, never)
	visit(t, orders, "erika", "/umzug", nil).wantPage(http.StatusOK, want, never)
	visit(t, orders, "erika", "/umzug", form("lines", "")).wantPage(http.StatusUnprocessableEntity, want, never) // a code that was dropped keeps its reason
}

func TestTransferPage_LocksAreExplainedOnce(t *testing.T) {
	t.Parallel()
	orders := &fakeOrders{transfers: []order.ListedTransfer{
		{Name: "tee.com", TLD: ".com", Code: "x", Reason: "reason.transfer_locked"},
		{Name: "kaffee.com", TLD: ".com", Code: "x", Reason: "reason.transfer_locked"},
		{Name: "milch.com", TLD: ".com", Reason: "reason.auth_code_wrong_locked"},
	}}
	for _, page := range []string{"/umzug", "/portal/transfers"} {
		if text := visit(t, orders, "erika", page, nil).text(); strings.Count(text, "60 Tagen") != 1 || strings.Count(text, "für Umzüge gesperrt") != 2 {
			t.Errorf("%s: %s", page, text)
		}
	}
	orders.transfers = []order.ListedTransfer{{Name: "tee.com", TLD: ".com", Reason: "transfer.code_missing"}}
	visit(t, orders, "erika", "/umzug", nil).wantPage(http.StatusOK, []string{"tee.com"}, []string{"60 Tagen"})
}

func TestTransferPage_AnnouncesIdentityCheckAboveTheLimit(t *testing.T) {
	t.Parallel()
	for limit, announced := range map[registrar.Cents]bool{1535: false, 1534: true} {
		orders := &fakeOrders{verifyOver: limit, transfers: []order.ListedTransfer{{Name: "eins.com", TLD: ".com", OK: true, Net: 1290}}}
		got := visit(t, orders, "erika", "/umzug", nil)
		if announced {
			got.wantPage(http.StatusOK, []string{"weisen Sie vor der Zahlung einmal Ihre Identität nach", "Ausweis oder Pass"}, nil)
		} else {
			got.wantPage(http.StatusOK, []string{"eins.com"}, []string{"Ihre Identität nach"})
		}
	}
}

func TestTransferPage_SwappedLineReplacesItsStoredOne(t *testing.T) {
	t.Parallel()
	orders := &fakeOrders{transfers: []order.ListedTransfer{{Name: "tee.com", TLD: ".com", Reason: "transfer.code_missing"}, {Name: "kaffee.com", TLD: ".com", Reason: "transfer.code_missing"}}}
	visit(t, orders, "erika", "/umzug", form("lines", "geheim tee.com"))
	if at := slices.IndexFunc(orders.transfers, func(l order.ListedTransfer) bool { return l.Name == "tee.com" }); len(orders.transfers) != 2 || orders.transfers[at].Code != "geheim" {
		t.Errorf("the list is %+v", orders.transfers)
	}
}

func TestTransferPage_TypedCodesAndLinesSurviveEveryButton(t *testing.T) {
	t.Parallel()
	for button, test := range map[string]struct {
		value string
		want  []string
	}{
		"remove": {"tee.com", []string{"milch.com geheim", "kaffee.com neu", "zucker.com code"}},
		"only":   {"1", []string{"kaffee.com neu", "tee.com ", "zucker.com code"}},
		"":       {"", []string{"kaffee.com neu", "milch.com geheim", "tee.com ", "zucker.com code"}},
	} {
		orders := &fakeOrders{
			transfers: []order.ListedTransfer{
				{Name: "tee.com", TLD: ".com", Reason: "transfer.code_missing"},
				{Name: "kaffee.com", TLD: ".com", Reason: "transfer.code_missing"},
				{Name: "milch.com", TLD: ".com", Code: "geheim", OK: true, Net: 1290, Gross: 1535},
			},
			view: order.View{Order: order.Order{ID: "ord_1", Items: []order.Item{{Name: "milch.com"}}}},
		}
		visit(t, orders, "erika", "/umzug", form(button, test.value, "code.kaffee.com", "neu", "lines", "zucker.com code"))
		var kept []string
		for _, line := range orders.transfers {
			kept = append(kept, line.Name+" "+line.Code)
		}
		slices.Sort(kept)
		slices.Sort(test.want)
		if !slices.Equal(kept, test.want) {
			t.Errorf("%q: %q", button, kept)
		}
	}
}

func TestTransferPage_HolderIsChosenForAllLines(t *testing.T) {
	t.Parallel()
	visit(t, &fakeOrders{}, "erika", "/umzug", nil).wantPage(http.StatusOK, []string{"Inhaber nach dem Umzug", "auch wenn dort heute jemand anderes steht"}, nil)
	for chosen, want := range map[string]string{"": "", "own": "", "hld_1": "hld_1"} {
		orders := &fakeOrders{}
		visit(t, orders, "erika", "/umzug", form("lines", "tee.com geheim\nkaffee.com geheim", "holder", chosen))
		if len(orders.asked.Items) != 2 || orders.asked.Items[0].Holder != want || orders.asked.Items[1].Holder != want {
			t.Errorf("%q: %+v", chosen, orders.asked.Items)
		}
	}
}

func TestTransferPage_QuotesWrongDomainsButNoCodes(t *testing.T) {
	t.Parallel()
	visit(t, &fakeOrders{}, "erika", "/umzug", form("lines", "falsch..de geheim-1\ngeheim-2 x\nab._c1 geheim-3\n-tee-.com geheim-4")).wantPage(http.StatusUnprocessableEntity,
		[]string{"<q>falsch..de</q>", "<q>-tee-.com</q>", "Zeile 2", "Zeile 3"}, []string{"geheim", "ab._c1"})
}

func TestTransferPage_CountsIdenticalLines(t *testing.T) {
	t.Parallel()
	visit(t, &fakeOrders{}, "erika", "/umzug", form("lines", "tee.com geheim\ntee.com geheim\ntee.com geheim\nkaffee.com")).wantPage(http.StatusUnprocessableEntity,
		[]string{"ausgelassen: 2."}, nil)
}

func TestTransfers_ImpossibleOnesAreNotToDo(t *testing.T) {
	t.Parallel()
	orders := &fakeOrders{transfers: []order.ListedTransfer{
		{Name: "tee.com", TLD: ".com", Reason: "transfer.code_missing"}, {Name: "frei.com", TLD: ".com", Reason: "reason.not_registered"},
	}}
	visit(t, orders, "erika", "/portal/transfers", nil).wantPage(http.StatusOK, []string{"Für Sie zu tun (1 Domain)", "Umzug nicht möglich (1)", "frei.com"}, nil)
}

func TestTransfers_DomainThatIsHereIsNotToDo(t *testing.T) {
	t.Parallel()
	held := transferLine{name: registrar.NewName("tee", ".com"), Domain: "tee.com", ReasonKey: newTestHandler(t, &fakeOrders{}).reasonKey(order.Transfer, registrar.NameHeld)}
	if counts := order.CountListed(newListed([]transferLine{held})); held.Correctable() || counts.Impossible != 1 || counts.Waiting() != 0 {
		t.Errorf("%s: %+v", held.ReasonKey, counts)
	}
}

func TestTransferLines_FileThatIsNoTextIsRefusedAsAWhole(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{"a spreadsheet": "PK\x03\x04\x14\x00\x06", "bytes": "a.de;b\x00", "a document": "%PDF-1.7"} {
		if _, readable := decodeText([]byte(file)); readable {
			t.Errorf("%s is read", name)
		}
	}
}

func TestTransferLines_HeadersAreNoLines(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"sep=;\nDomain;Auth-Code\n", "Auth-Code,Domain\n", "SEP=,\n\nDomainname,Code\n"} {
		lines, problem := splitTransferLines(text + "kaffee.de;a")
		if problem != "" || len(lines) != 1 || lines[0].Domain != "kaffee.de" {
			t.Errorf("%q: %+v", text, lines)
		}
	}
	if got := splitTransferLine(`" kaffee.de ";" geheim "`); got.Domain != "kaffee.de" || got.code != "geheim" {
		t.Errorf("%+v", got)
	}
}

func TestTransferLines_HeaderSaysWhichColumnsAreRead(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Domainname;Ablaufdatum;Auth-Code\nkaffee.de;01.12.2026;geheim",
		"domain,expiry,auth code\nkaffee.de,2026-12-01,geheim",
		"Domain expiration date,Domain Name,Status,EPP code\n2026-12-01,kaffee.de,active,geheim",
		"Auth-Code;Domain\ngeheim;kaffee.de",
		`"Domain Name","TLD","Auth code expiry","Auth Code (EPP)"` + "\n" + `"kaffee.de","de","2026-12-01","geheim"`,
		"Domain\tInhaber\tAuthInfo\nkaffee.de\t\tgeheim",
		"sep=;\nName;Kunde, Ort;Passwort\nkaffee.de;Erika, Bonn;geheim",
		"Schlüssel;Domain\ngeheim;kaffee.de",
		"Domain | Ende | Auth-Code\nkaffee.de | 2026 | geheim",
		"Domain;Ende;Auth-Code\nkaffee.de geheim", // a row of another form
	} {
		lines, problem := splitTransferLines(text)
		if problem != "" || len(lines) != 1 || lines[0].Domain != "kaffee.de" || lines[0].code != "geheim" {
			t.Errorf("%q: %+v %s", text, lines, problem)
		}
	}
	for _, text := range []string{"Domain;Ablaufdatum;Status\nkaffee.de;01.12.2026;aktiv", "Domain,Expires\nkaffee.de,2026-12-01"} {
		if lines, problem := splitTransferLines(text); problem != transferNoCodes || lines != nil {
			t.Errorf("%q: %+v %q", text, lines, problem)
		}
	}
	if lines, _ := splitTransferLines("kaffee.de;auth-code\ntee.de;code"); len(lines) != 2 {
		t.Errorf("a line is taken for a header: %+v", lines)
	}
}

func TestTransferPage_TableWithoutCodesOrRowsChangesNothing(t *testing.T) {
	t.Parallel()
	stored := order.ListedTransfer{Name: "tee.com", TLD: ".com", Code: "alt", OK: true, Net: 1290}
	orders := &fakeOrders{transfers: []order.ListedTransfer{stored}}
	visit(t, orders, "erika", "/umzug", form("lines", "Domain;Ablauf;Status\nkaffee.com;2026-12-01;aktiv")).wantPage(http.StatusUnprocessableEntity, []string{"Die erste Zeile nennt keine Spalte „Auth-Code“.", "tee.com"}, []string{"kaffee.com"})
	for _, file := range []string{"", "\ufeff\r\n", "Domain;Auth-Code\r\n;\r\n"} {
		sendFile(t, orders, file).wantPage(http.StatusUnprocessableEntity, []string{"Die Datei enthält keine Domain.", "tee.com"}, nil)
	}
	if !slices.Equal(orders.transfers, []order.ListedTransfer{stored}) {
		t.Errorf("the list is %+v", orders.transfers)
	}
	visit(t, orders, "erika", "/umzug", form("lines", "kaffee.com;2026-12-01;geheim")).wantPage(http.StatusUnprocessableEntity, []string{"steht hier ein Datum"}, nil)
}

// sendFile enters a file into the list of transfers.
func sendFile(t *testing.T, orders *fakeOrders, content string) response {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	file, err := form.CreateFormFile("file", "domains.csv")
	if err == nil {
		_, err = file.Write([]byte(content))
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, base+"/umzug", &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.AddCookie(&http.Cookie{Name: "__Host-dotkontor", Value: "erika"})
	return send(t, orders, r)
}

func TestTransferLines_SpreadsheetFileInWindows1252(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{"Windows-1252": "Domain;Code\r\nk\xe4se-gr\xfc\xdfe.de;a\xa7b\r\n", "UTF-8": "\ufeffDomain;Code\nkäse-grüße.de;a§b\n", "UTF-16": utf16Text("Domain\tCode\r\nkäse-grüße.de\ta§b\r\n")} {
		text, readable := decodeText([]byte(file))
		lines, problem := splitTransferLines(text)
		if !readable || problem != "" || len(lines) != 1 || lines[0].Domain != "käse-grüße.de" || lines[0].code != "a§b" {
			t.Errorf("%s: %+v", name, lines)
		}
	}
}

func TestTransferReason_UndecidedNameSaysWhatTransferNeeds(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, &fakeOrders{})
	if got := h.templates.Text("de", h.reasonKey(order.Transfer, provision.Undecided)); !strings.Contains(got, "registriert ist") {
		t.Errorf("transfer: %s", got)
	}
	if got := h.templates.Text("de", h.reasonKey(order.Register, provision.Undecided)); !strings.Contains(got, "frei ist") {
		t.Errorf("registration: %s", got)
	}
}

func TestTransfers_PagesCountDomainsInTheSameWay(t *testing.T) {
	t.Parallel()
	orders := &fakeOrders{transfers: []order.ListedTransfer{
		{Name: "eins.com", TLD: ".com", OK: true, Net: 1290},
		{Name: "zwei.com", TLD: ".com", Reason: "transfer.code_missing"},
		{Name: "frei.com", TLD: ".com", Reason: "reason.not_registered", Impossible: true},
	}}
	counts := "Domains auf Ihrer Umzugsliste: 1 bereit, 1 zu korrigieren, 1 nicht möglich."
	visit(t, orders, "erika", "/umzug", nil).wantPage(http.StatusOK, []string{counts}, []string{"Nicht übernommene Zeilen"})
	visit(t, orders, "erika", "/portal/transfers", nil).wantPage(http.StatusOK, []string{counts, "Für Sie zu tun (2 Domains)"}, nil)
}

func TestTransferPage_ReadyLinesShowTermAndWhatThePriceIncludes(t *testing.T) {
	t.Parallel()
	orders := &fakeOrders{transfers: []order.ListedTransfer{
		{Name: "eins.com", TLD: ".com", OK: true, Net: 1290}, {Name: "umsonst.at", TLD: ".at", OK: true},
	}}
	visit(t, orders, "erika", "/umzug", nil).wantPage(http.StatusOK, []string{
		"Brutto enthält 19\u00a0% Umsatzsteuer", `Restlaufzeit bleibt</td><td class="amount" data-label="Netto">0,00`, `data-label="Brutto">kostenlos</td>`,
	}, nil)
}

func TestTransferPage_KeepsWhatTheRegistrySaidIfItDoesNotRespond(t *testing.T) {
	t.Parallel()
	silent := registrar.Fault(registrar.FaultTimeout, "registry", nil)
	orders := &fakeOrders{
		transfers: []order.ListedTransfer{
			{Name: "milch.com", TLD: ".com", Code: "geheim", OK: true, Net: 1290, Gross: 1535},
			{Name: "tee.com", TLD: ".com", Code: "geheim", Reason: "reason.transfer_locked"},
			{Name: "kaffee.com", TLD: ".com", Code: "alt", OK: true, Net: 1290, Gross: 1535},
		},
		err: &order.ItemsUnquoted{Items: []order.RefusedItem{
			{Name: "milch.com", Reason: silent}, {Name: "tee.com", Reason: silent}, {Name: "kaffee.com", Reason: silent}, {Name: "zucker.com", Reason: silent},
		}},
	}
	visit(t, orders, "erika", "/umzug", form("code.kaffee.com", "neu", "lines", "zucker.com code"))
	want := map[string]order.ListedTransfer{
		"milch.com":  {OK: true, Gross: 1535},
		"tee.com":    {Reason: "reason.transfer_locked"},
		"kaffee.com": {Reason: "basket.unreachable"}, // with another code
		"zucker.com": {Reason: "basket.unreachable"},
	}
	for _, line := range orders.transfers {
		if got := (order.ListedTransfer{OK: line.OK, Reason: line.Reason, Gross: line.Gross}); got != want[line.Name] {
			t.Errorf("%s is %+v, want %+v", line.Name, got, want[line.Name])
		}
	}
	if len(orders.transfers) != len(want) {
		t.Errorf("the list is %+v", orders.transfers)
	}
}

func TestTransferPage_WrongCodeOfLockedDomainNamesBoth(t *testing.T) {
	t.Parallel()
	both := &registrar.Error{Kind: registrar.KindInvalid, Code: provision.WrongCode, Err: refusal(registrar.KindConflict, provision.Locked)}
	orders := &fakeOrders{err: &order.ItemsRefused{Items: []order.RefusedItem{
		{Name: "tee.com", Kind: order.Transfer, Reason: both}, {Name: "milch.com", Kind: order.Transfer, Reason: refusal(registrar.KindInvalid, provision.WrongCode)},
	}}}
	page := visit(t, orders, "erika", "/umzug", form("lines", "tee.com falsch\nmilch.com falsch"))
	page.wantPage(http.StatusUnprocessableEntity, []string{"Der Auth-Code ist falsch, und die Domain hat eine Umzugssperre.", "Der Auth-Code ist falsch."}, nil)
	for _, line := range orders.transfers {
		if line.Code != "" {
			t.Errorf("the wrong code of %s is stored", line.Name)
		}
	}
	orders.err = nil
	visit(t, orders, "erika", "/umzug", form()).wantPage(http.StatusUnprocessableEntity, []string{"Der Auth-Code ist falsch, und die Domain hat eine Umzugssperre."}, nil)
}

func TestTransferPage_LineWithUnknownExtensionStaysWithItsProblem(t *testing.T) {
	t.Parallel()
	orders := &fakeOrders{}
	const lines = "tee.unbekannt geheim\nmilch.com"
	visit(t, orders, "erika", "/umzug", form("lines", lines)).wantPage(http.StatusUnprocessableEntity, []string{"tee.unbekannt", "Diese Endung führen wir nicht."}, []string{"geheim"})
	visit(t, orders, "erika", "/umzug", form()).wantPage(http.StatusUnprocessableEntity, []string{"tee.unbekannt", "Diese Endung führen wir nicht."}, []string{`name="code.tee.unbekannt"`})
	visit(t, orders, "erika", "/umzug", form("remove", "milch.com")).wantRedirect("/umzug")
	visit(t, orders, "erika", "/umzug", nil).wantPage(http.StatusOK, []string{"tee.unbekannt", "Diese Endung führen wir nicht."}, []string{"milch.com"})
	visit(t, orders, "erika", "/portal/transfers", nil).wantPage(http.StatusOK, []string{"Umzug nicht möglich (1)", "tee.unbekannt"}, nil)
	visit(t, orders, "erika", "/umzug", form("remove", "tee.unbekannt")).wantRedirect("/umzug")
	if len(orders.transfers) != 0 {
		t.Errorf("left: %+v", orders.transfers)
	}
}

func TestTransferPage_UKSaysWhatToDoInsteadOfAskingForACode(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"tee.uk", "tee.uk code"} {
		visit(t, &fakeOrders{}, "erika", "/umzug", form("lines", line)).wantPage(http.StatusUnprocessableEntity,
			[]string{"Einen Auth-Code brauchen Sie hier nicht", "IPS-Tag", "Fragen Sie uns, bevor"}, []string{"Der Auth-Code fehlt.", `name="code.tee.uk"`})
	}
}

func TestTransfers_WhatNeedsAttentionComesFirstWithRefundedAmount(t *testing.T) {
	t.Parallel()
	orders := &fakeOrders{transfers: []order.ListedTransfer{
		{Name: "bereit.com", TLD: ".com", OK: true, Code: "x"}, {Name: "neu.com", TLD: ".com", Code: "x"}, {Name: "problem.com", TLD: ".com", Reason: "transfer.code_missing"},
	}, orders: []order.Order{{
		ID: "ord_1", Customer: "cus_1", Items: []order.Item{{ID: "itm_1", Name: "kaputt.com", Gross: 1535}, {ID: "itm_2", Name: "fertig.com", Gross: 1535}, {ID: "itm_3", Name: "laeuft.com", Gross: 1535}},
		Refunds: []order.Refund{{Item: "itm_1", Amount: 1535, Provider: "re_1", MadeAt: noon}},
	}}}
	h := newTestHandler(t, orders)
	h.Transfers = fakeTransfers{
		"":                    {{Name: "laeuft.com", TLD: ".com", State: provision.StatePending, Payment: "order:ord_1"}},
		provision.StateFailed: {{Name: "kaputt.com", TLD: ".com", State: provision.StateFailed, Failure: provision.WrongCode, Payment: "order:ord_1"}},
		provision.StateActive: {{Name: "fertig.com", TLD: ".com", State: provision.StateActive, Payment: "order:ord_1"}},
	}
	mux := http.NewServeMux()
	for _, r := range h.Routes() {
		mux.HandleFunc(r.Method+" "+r.Path, r.Handler)
	}
	orders.pages = mux
	text := visit(t, orders, "erika", "/portal/transfers", nil).text()
	last := -1
	for _, next := range []string{"problem.com", "neu.com", "bereit.com", "kaputt.com", "15,35 € erstattet", "laeuft.com", "fertig.com"} {
		at := strings.Index(text, next)
		if at <= last {
			t.Errorf("%q is missing or too early: %s", next, text)
		}
		last = at
	}
}

// fakeTransfers are transfers by how they ended.
type fakeTransfers map[provision.State][]provision.Item

func (f fakeTransfers) ListTransfers(_ context.Context, _ string, ended provision.State, _, _ int) ([]provision.Item, error) {
	return f[ended], nil
}

func (f fakeTransfers) CountTransfers(context.Context, string) (map[provision.State]int, error) {
	counts := make(map[provision.State]int)
	for _, items := range f {
		for _, item := range items {
			counts[item.State]++
		}
	}
	return counts, nil
}

func (fakeTransfers) ListTransferMessages(context.Context, string, int) ([]inbox.Transfer, error) {
	return nil, nil
}

// utf16Text is a text as Excel stores "Unicode text".
func utf16Text(text string) string {
	b := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		b = append(b, byte(unit), byte(unit>>8))
	}
	return string(b)
}

func TestTransferPage_AddedLinesStayOnTheListUntilCheckoutIsChosen(t *testing.T) {
	t.Parallel()
	orders := &fakeOrders{
		transfers: []order.ListedTransfer{{Name: "eins.com", TLD: ".com", Code: "x", OK: true, Net: 1290}},
		view:      order.View{Order: order.Order{Items: []order.Item{{Name: "eins.com", Net: 1290}, {Name: "zwei.com", Net: 1290}}}},
	}
	visit(t, orders, "erika", "/umzug", form("lines", "zwei.com geheim", "stay", "1")).wantRedirect("/umzug")
	if !orders.asked.DryRun || len(orders.transfers) != 2 || !orders.transfers[1].OK {
		t.Errorf("dry run %t, the list is %+v", orders.asked.DryRun, orders.transfers)
	}
	visit(t, orders, "erika", "/umzug", nil).wantPage(http.StatusOK, []string{"Mit diesen 2 zur Kasse", `name="stay" value="1"`, "Sie bestellen damit noch nichts."}, nil)
	visit(t, &fakeOrders{}, "erika", "/umzug", nil).wantPage(http.StatusOK, []string{"Prüfen und zur Kasse"}, []string{`name="stay"`, "Sie bestellen damit noch nichts."})
}

func TestTransferPage_LinesThatOnlyExceedAnOrderAreNotToCorrect(t *testing.T) {
	t.Parallel()
	orders := &fakeOrders{}
	var lines []string
	for i := range order.MaxPortalItems + 2 {
		name := fmt.Sprintf("viele-%d.com", i)
		lines = append(lines, name+" geheim")
		orders.view.Order.Items = append(orders.view.Order.Items, order.Item{Name: name, Net: 1290})
	}
	counts := []string{"100 bereit, 0 zu korrigieren, 0 nicht möglich.", "die nicht in dieselbe Bestellung passen: 2."}
	visit(t, orders, "erika", "/umzug", form("lines", strings.Join(lines, "\n"))).wantPage(http.StatusUnprocessableEntity, append(counts, "Liste leeren"), nil)
	visit(t, orders, "erika", "/portal/transfers", nil).wantPage(http.StatusOK, append(counts, "Alle 102 Zeilen anzeigen"), nil)
	visit(t, orders, "erika", "/umzug", form("clear", "1")).wantRedirect("/umzug")
	if len(orders.transfers) != 0 {
		t.Errorf("%d lines are left", len(orders.transfers))
	}
}

func TestTransferLines_LineWithoutCodeLeavesTheCodeOfAnother(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		listed []order.ListedTransfer
		lines  string
	}{
		"pasted twice": {nil, "tee.com\ntee.com geheim"},
		"listed":       {[]order.ListedTransfer{{Name: "tee.com", TLD: ".com", Code: "geheim"}}, "tee.com"},
	} {
		orders := &fakeOrders{transfers: test.listed}
		visit(t, orders, "erika", "/umzug", form("lines", test.lines, "stay", "1"))
		if len(orders.transfers) != 1 || orders.transfers[0].Code != "geheim" || orders.transfers[0].Reason != "" {
			t.Errorf("%s: the list is %+v", name, orders.transfers)
		}
	}
}
