package sandbox

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
)

func TestSandboxTransfer_RefusalOfTheRegistryIsPrinted(t *testing.T) {
	t.Parallel()
	folder, now := t.TempDir(), time.Now().UTC()
	world, err := registry.Start(registry.Options{Zones: []registry.Zone{{TLD: ".org"}}, Data: folder, Seeds: []registry.SeedDomain{{
		Name: "fest.org", Registrar: registry.ProductName, Created: now.AddDate(-1, 0, 0), Expires: now.AddDate(1, 0, 0), Statuses: []string{"clientTransferProhibited"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer world.Close()
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"request", "fest.org"}, cli.ExitError, "sandbox transfer: "},
		{[]string{"cancel", "fest.org"}, cli.ExitError, "not your transfer"},
		{[]string{"request", "niemand.org"}, cli.ExitError, "no such domain"},
		{[]string{"reject", "fest.org"}, cli.ExitError, "not your transfer"},
		{[]string{"request"}, cli.ExitUsage, ""},
	} {
		var out, errOut bytes.Buffer
		code := cli.Run(t.Context(), &grammar{}, append([]string{"sandbox", "--data", folder, "transfer"}, test.args...), nil, strings.NewReader(""), &out, &errOut)
		if code != test.code || !strings.Contains(errOut.String(), test.says) {
			t.Errorf("transfer %v: %d %s", test.args, code, errOut.String())
		}
	}
}

func TestSandboxFunds_SetShowAndTopUp(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	world, err := registry.Start(registry.Options{Zones: []registry.Zone{{TLD: ".org"}}, Data: folder})
	if err != nil {
		t.Fatal(err)
	}
	defer world.Close()
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{nil, cli.ExitOK, "not paid in advance"},
		{[]string{"topup", "5.00"}, cli.ExitError, "sandbox funds: "},
		{[]string{"set", "100.5"}, cli.ExitError, "not an amount like 12.90"},
		{[]string{"set", "100.00"}, cli.ExitOK, "balance 100.00 EUR, low below 20.00 EUR"},
		{[]string{"topup", "50"}, cli.ExitOK, "balance 150.00 EUR"},
		{[]string{"show"}, cli.ExitOK, "balance 150.00 EUR"},
	} {
		var out, errOut bytes.Buffer
		code := cli.Run(t.Context(), &grammar{}, append([]string{"sandbox", "--data", folder, "funds"}, test.args...), nil, strings.NewReader(""), &out, &errOut)
		if code != test.code || !strings.Contains(out.String()+errOut.String(), test.says) {
			t.Errorf("funds %v: %d %s%s", test.args, code, out.String(), errOut.String())
		}
	}
}
