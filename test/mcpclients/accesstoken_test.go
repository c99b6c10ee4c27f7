package mcpclients

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/dotkontor/dotkontor/test/testkit/nodejs"
)

// domainsOutput is the output of a client that lists a customer's domains.
type domainsOutput struct {
	Structured struct {
		Domains []struct{ Domain, Status string }
	}
	IsError bool
	Orders  map[string]orderOutput
}

// orderOutput is the compared part of an order.
type orderOutput struct {
	IsError                       bool
	OrderID, Status, Code, Reason string
	PaymentURL                    string `json:"payment_url"`
	Items                         []struct {
		Code        string
		Alternative *struct{ Tool string }
	}
	Orders  []orderOutput
	Domains []struct{ ManageURL string }
	Total   int
	Limit   int
}

func TestStockClients_ListDemoDomainsWithDemoToken(t *testing.T) {
	t.Parallel()
	program := nodejs.Program(t, packages)
	s := startSandboxWithDemo(t)
	endpoint, token := s.endpoint, s.token
	folder := sdkFolder(t)
	for _, test := range []struct{ name, script, mode, url string }{
		{"sdk 1", "sdk1.mjs", "", endpoint},
		{"sdk 2 begins with initialize", "sdk2.mjs", "legacy", endpoint},
		{"sdk 2 discovers", "sdk2.mjs", "auto", endpoint},
		{"sdk 1 at the login address", "sdk1.mjs", "", endpoint + "/login"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, err := runClient(t, program, filepath.Join(folder, test.script), test.url, test.mode, token)
			if err != nil {
				t.Fatal(err)
			}
			var output domainsOutput
			if err := json.Unmarshal([]byte(out), &output); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			output.mustListDemoDomains(t, out)
			output.mustOrderAndCancel(t, out)
		})
	}
	t.Run("a wrong token", func(t *testing.T) {
		if out, err := runClient(t, program, filepath.Join(folder, "sdk1.mjs"), endpoint, "", token+"x"); err == nil {
			t.Errorf("accepted: %s", out)
		}
	})
	t.Run("inspector", func(t *testing.T) {
		out, err := runClient(t, program, nodejs.ModulePath(t, "@modelcontextprotocol/inspector/clients/launcher/build/index.js"),
			"--cli", endpoint, "--transport", "http", "--header", "Authorization: Bearer "+token,
			"--method", "tools/call", "--tool-name", "list_my_domains")
		if err != nil {
			t.Fatal(err)
		}
		var output struct {
			StructuredContent json.RawMessage
			IsError           bool
		}
		if err := json.Unmarshal([]byte(out), &output); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		var listed domainsOutput
		listed.IsError = output.IsError
		if err := json.Unmarshal(output.StructuredContent, &listed.Structured); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		listed.mustListDemoDomains(t, out)
		out, err = runClient(t, program, nodejs.ModulePath(t, "@modelcontextprotocol/inspector/clients/launcher/build/index.js"),
			"--cli", endpoint, "--transport", "http", "--header", "Authorization: Bearer "+token,
			"--method", "tools/call", "--tool-name", "list_orders", "--tool-arg", "status=canceled", "--tool-arg", "limit=1")
		if err != nil {
			t.Fatal(err)
		}
		var orders struct{ StructuredContent orderOutput }
		if err := json.Unmarshal([]byte(out), &orders); err != nil || len(orders.StructuredContent.Orders) != 1 || orders.StructuredContent.Total < 1 {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

func (o domainsOutput) mustOrderAndCancel(t *testing.T, out string) {
	t.Helper()
	made, status, listed := o.Orders["made"], o.Orders["status"], o.Orders["listed"]
	for what, right := range map[string]bool{
		"rejected": o.Orders["rejected"].IsError && len(o.Orders["rejected"].Items) == 1 && o.Orders["rejected"].Items[0].Code == "name_taken" &&
			o.Orders["rejected"].Items[0].Alternative != nil,
		"made":     !made.IsError && made.Status == "awaiting_payment" && made.PaymentURL != "",
		"status":   !status.IsError && status.PaymentURL == made.PaymentURL && status.Status == made.Status,
		"listed":   !listed.IsError && listed.Total == 1 && len(listed.Orders) == 1 && listed.Orders[0].OrderID == made.OrderID,
		"canceled": !o.Orders["canceled"].IsError && o.Orders["canceled"].Status == "canceled",
		"again":    !o.Orders["again"].IsError && o.Orders["again"].Status == "canceled" && o.Orders["again"].PaymentURL == "",
		"unknown":  o.Orders["unknown"].IsError && o.Orders["unknown"].Code == "not_found",
		"page":     !o.Orders["page"].IsError && len(o.Orders["page"].Domains) == 1 && o.Orders["page"].Domains[0].ManageURL != "" && o.Orders["page"].Limit == 1,
		"badDate":  o.Orders["badDate"].IsError && o.Orders["badDate"].Code == "invalid_input",
	} {
		if !right {
			t.Errorf("%s is wrong: %s", what, out)
		}
	}
}

func (o domainsOutput) mustListDemoDomains(t *testing.T, out string) {
	t.Helper()
	states := make(map[string]bool)
	for _, domain := range o.Structured.Domains {
		states[domain.Status] = true
	}
	if o.IsError || len(states) != 6 {
		t.Errorf("got %s", out)
	}
}
