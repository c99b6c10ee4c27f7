package doctor

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/cli"
)

func examineWithToken(t *testing.T, base, token string) doctorReport {
	t.Helper()
	return runChecks(newProber(t.Context(), base, nil), tokenChecks(token), func(reportLine) {})
}

func TestDoctorToken_ReportNamesNoDomains(t *testing.T) {
	t.Parallel()
	report := examineWithToken(t, serveFake(t, newFake()), fakeToken)
	if !report.OK || len(checksWithStatus(report, cli.StatusOK)) != 3 {
		t.Errorf("got %v", report.Checks)
	}
	if text := toJSON(report); strings.Contains(text, "private-") || strings.Contains(text, fakeToken) {
		t.Errorf("the report contains customer data or the token: %s", text)
	}
}

func TestDoctorToken_FindsInvalidDomainEntries(t *testing.T) {
	t.Parallel()
	for fault, change := range map[string]func(domain map[string]any){
		"unknown status":    func(d map[string]any) { d["status"] = "ok" },
		"no date":           func(d map[string]any) { delete(d, "expiresAt") },
		"wrong date format": func(d map[string]any) { d["expiresAt"] = "01.01.2027" },
		"autoRenew as text": func(d map[string]any) { d["autoRenew"] = "yes" },
		"tld without a dot": func(d map[string]any) { d["tld"] = "de" },
		"no manageUrl":      func(d map[string]any) { delete(d, "manageUrl") },
	} {
		broken := proxy(newFake(), nil, func(p *proxied) {
			if !p.isCall("list_my_domains") {
				return
			}
			p.edit(func(reply map[string]any) {
				result, _ := reply["result"].(map[string]any)
				content, _ := result["structuredContent"].(map[string]any)
				list, _ := content["domains"].([]any)
				first, _ := list[0].(map[string]any)
				change(first)
			})
		})
		report := examineWithToken(t, serveFake(t, broken), fakeToken)
		if got := checksWithStatus(report, cli.StatusFail); !slices.Equal(got, []string{"list_my_domains works"}) {
			t.Errorf("%s: failed are %q", fault, got)
		}
	}
	if report := examineWithToken(t, serveFake(t, newFake()), "wrong"); report.OK {
		t.Error("an invalid token is not reported")
	}
}

func TestDoctorToken_FindsInconsistentPages(t *testing.T) {
	t.Parallel()
	for tool, field := range map[string]string{"list_my_domains": "domains", "list_orders": "orders"} {
		for fault, change := range map[string]func(page map[string]any){
			"wrong total": func(page map[string]any) { page["total"] = 7 },
			"no offset":   func(page map[string]any) { delete(page, "offset") },
			"wrong field": func(page map[string]any) { page["list"], page[field] = page[field], nil },
		} {
			broken := proxy(newFake(), nil, func(p *proxied) {
				if p.isCall(tool) {
					p.edit(func(reply map[string]any) {
						result, _ := reply["result"].(map[string]any)
						content, _ := result["structuredContent"].(map[string]any)
						if content != nil {
							change(content)
						}
					})
				}
			})
			report := examineWithToken(t, serveFake(t, broken), fakeToken)
			if got := checksWithStatus(report, cli.StatusFail); !slices.Equal(got, []string{tool + " works"}) {
				t.Errorf("%s, %s: failed are %q", tool, fault, got)
			}
		}
	}
}

func TestDoctorToken_NeverSentOverPlainHTTP(t *testing.T) {
	t.Parallel()
	var errOut strings.Builder
	code := cli.Run(t.Context(), &grammar{}, []string{"doctor", "--url", "http://domains.example", "--token", fakeToken}, nil, nil, io.Discard, &errOut)
	if code != cli.ExitUsage || !strings.Contains(errOut.String(), "https://") || strings.Contains(errOut.String(), fakeToken) {
		t.Errorf("exit code %d: %s", code, errOut.String())
	}
}
