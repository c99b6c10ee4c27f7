package epp

import (
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
)

// The frames follow the examples in Verisign's and Punktum dk's documents; the schema of the
// mapping is not among the published ones of the IETF, so xmllint does not validate them.
func TestBalance_ReadsThresholdsAndNegativeCredit(t *testing.T) {
	t.Parallel()
	greeting := strings.Replace(greetingXML(allServices), "<svcExtension>", "<objURI>"+nsBalance+"</objURI><svcExtension>", 1)
	data := func(inside string) string {
		return `<balance:infData xmlns:balance="` + nsBalance + `">` + inside + `</balance:infData>`
	}
	for name, test := range map[string]struct {
		data string
		want inbox.Balance
		fail bool
	}{
		"fixed": {
			data: data(`<balance:creditLimit>1000.00</balance:creditLimit><balance:balance>200.00</balance:balance>` +
				`<balance:availableCredit>800.00</balance:availableCredit><balance:creditThreshold><balance:fixed>500.00</balance:fixed></balance:creditThreshold>`),
			want: inbox.Balance{Limit: "1000.00", Available: "800.00", Threshold: "500.00", ThresholdType: inbox.FixedThreshold},
		},
		"percent": {
			data: data(`<balance:creditLimit>1000.00</balance:creditLimit><balance:availableCredit>800.00</balance:availableCredit>` +
				`<balance:creditThreshold><balance:percent>50</balance:percent></balance:creditThreshold>`),
			want: inbox.Balance{Limit: "1000.00", Available: "800.00", Threshold: "50", ThresholdType: inbox.PercentThreshold},
		},
		"negative":         {data: data(`<balance:availableCredit>-12.50</balance:availableCredit>`), want: inbox.Balance{Available: "-12.50"}},
		"no number":        {data: data(`<balance:availableCredit>much</balance:availableCredit>`), fail: true},
		"no available":     {data: data(`<balance:creditLimit>1000.00</balance:creditLimit>`), fail: true},
		"bad threshold":    {data: data(`<balance:availableCredit>1.00</balance:availableCredit><balance:creditThreshold><balance:fixed>x</balance:fixed></balance:creditThreshold>`), fail: true},
		"no data":          {fail: true},
		"of another space": {data: strings.ReplaceAll(data(`<balance:availableCredit>1.00</balance:availableCredit>`), nsBalance, "urn:example:other"), fail: true},
	} {
		f := &fakeServer{greeting: greeting, handle: func(r *Node) reply { return reply{xml: responseXML(1000, tridOf(r), test.data, "")} }}
		got, err := f.client(t, nil).Balance(t.Context())
		if got != test.want || (err != nil) != test.fail {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestBalance_IsNotSentUnlessAnnounced(t *testing.T) {
	t.Parallel()
	f := &fakeServer{handle: func(r *Node) reply {
		t.Errorf("sent %s", verbOf(r))
		return reply{xml: responseXML(1000, tridOf(r), "", "")}
	}}
	if _, err := f.client(t, nil).Balance(t.Context()); registrar.KindOf(err) != registrar.KindUnsupported {
		t.Errorf("got %v", err)
	}
}
