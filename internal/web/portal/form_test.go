package portal

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

func TestErrorMessage_RefusedNameserversAreNamed(t *testing.T) {
	t.Parallel()
	frame, err := ui.New(ui.Config{BaseURL: "https://domains.example", Sessions: noSessions{}, Address: func(*http.Request) netip.Addr { return netip.Addr{} }})
	if err != nil {
		t.Fatal(err)
	}
	views, err := frame.LoadTemplates(templateFS, texts, domainTexts, nameserverTexts)
	if err != nil {
		t.Fatal(err)
	}
	h := &Handler{templates: views}
	refusal := domainchange.Change{Kind: domainchange.Nameservers, Failure: registrar.EPPMissing, Desired: domainchange.DesiredState{
		Nameservers: []domainchange.Nameserver{{Name: "ns1.tee.de"}, {Name: "ns2.tee.de"}},
	}}
	refused := &registrar.Error{Kind: registrar.KindConflict, Code: registrar.EPPMissing, Err: refusedChange{refusal}}
	for language, want := range map[string]string{
		ui.German:  "Die Registry kennt einen der Nameserver nicht. Gewünscht: ns1.tee.de, ns2.tee.de",
		ui.English: "The registry doesn't know one of the nameservers. Requested: ns1.tee.de, ns2.tee.de",
	} {
		if got := h.errorMessage(&ui.Request{Language: language}, "problem.epp_missing", refused); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	refusal.Desired.RefusedServers = []string{"ns2.tee.de"}
	refused.Err = refusedChange{refusal}
	if got := h.errorMessage(&ui.Request{Language: ui.German}, "problem.epp_missing", refused); got != "Die Registry kennt einen der Nameserver nicht. Das betrifft: ns2.tee.de" {
		t.Errorf("the registry has named one: %q", got)
	}
	wrong := &registrar.Error{Kind: registrar.KindInvalid, Err: &domainchange.InputLine{Number: 2, Text: "ns1,ns2"}}
	if got := h.errorMessage(&ui.Request{Language: ui.English}, "problem.bad_nameserver", wrong); got == "" || got[:6] != "Line 2" {
		t.Errorf("a wrong line: %q", got)
	}
}
