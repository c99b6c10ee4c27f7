package checkout

import (
	"net/http"
	"slices"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
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
		if domain, code := splitTransferLine(line); domain != want[0] || code != want[1] {
			t.Errorf("%q became %q and %q", line, domain, code)
		}
	}
	lines, ok := splitTransferLines("\ufeffDomain;Auth-Code\r\n\r\nkaffee.de;a\rtee.com;b\n")
	if !ok || len(lines) != 2 || lines[0].Domain != "kaffee.de" || lines[0].Number != 3 || lines[1].code != "b" {
		t.Errorf("%+v", lines)
	}
}

func TestCheckTransferLines_KeepsWhatCanBeCorrected(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, &fakeOrders{})
	entered, _ := splitTransferLines("https://www.tee.com/shop geheim\ntee.com geheim\nTEE.com anders\ngeheim-2 kaffee.com\nkein-name x\nmilch.com\nzucker.com g\u00e4heim\n")
	lines := h.checkTransferLines(append([]transferLine{{Domain: "falsch.com", ReasonKey: "reason.auth_code_wrong"}}, entered...))
	var got []string
	for _, line := range lines {
		got = append(got, line.Domain+" "+line.ReasonKey)
	}
	want := []string{
		"falsch.com reason.auth_code_wrong", "tee.com ", "tee.com transfer.duplicate", "kaffee.com transfer.swapped", " transfer.bad_name", "milch.com transfer.code_missing",
		"zucker.com transfer.code_malformed",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	var listed []string
	for _, line := range newListed(lines) {
		listed = append(listed, line.Name+" "+line.Code)
	}
	if !slices.Equal(listed, []string{"falsch.com ", "tee.com geheim", "kaffee.com ", "milch.com ", "zucker.com "}) {
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
		visit(t, orders, "erika", page, nil).wantPage(http.StatusOK, []string{"tee.com", "Diese Domain ist gesperrt.", "Das hat nicht funktioniert.", "milch.com"}, []string{"geheim"})
	}
	visit(t, orders, "", "/umzug", nil).wantPage(http.StatusOK, []string{"Bitte melden Sie sich zuerst an."}, []string{"tee.com"})
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
	visit(t, orders, "erika", "/portal/transfers", nil).wantPage(http.StatusOK, []string{"Für Sie zu tun (1)", "Umzug nicht möglich (1)", "frei.com"}, nil)
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
