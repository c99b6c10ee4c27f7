package epp

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func TestRequest_RegistryAutoRenewalIsNoRefusal(t *testing.T) {
	t.Parallel()
	from := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		expires time.Time
		asked   bool
		answer  int // result code of the renewal
		want    registrar.Code
		sent    int
	}{
		"renewed":                           {expires: from, answer: 1000, sent: 1},
		"renewed before":                    {expires: from.AddDate(1, 0, 0), asked: true, answer: CodeValueRange},
		"not renewed yet":                   {expires: from, asked: true, answer: 1000, sent: 1},
		"auto-renewed between two commands": {expires: from.AddDate(1, 0, 0), answer: CodeValueRange, sent: 1},
		"refused and unchanged":             {expires: from, answer: CodeValueRange, want: ResultValue, sent: 1},
		"locked":                            {expires: from, answer: 2304, want: ResultStatusProhibits, sent: 1},
		"no funds in our account":           {expires: from, answer: 2104, want: provision.Billing, sent: 1},
		"moved by some months":              {expires: from.AddDate(0, 3, 0), answer: CodeValueRange, want: ResultValue, sent: 1},
	} {
		sent := 0
		f := &fakeServer{handle: func(r *Node) reply {
			if objectOf(r).Local == "renew" {
				sent++
				return reply{xml: responseXML(test.answer, tridOf(r), `<d:renData xmlns:d="`+nsDomain+`"><d:name>alt.test</d:name><d:exDate>2028-03-01T12:00:00Z</d:exDate></d:renData>`, "")}
			}
			return reply{xml: responseXML(1000, tridOf(r), `<d:infData xmlns:d="`+nsDomain+`"><d:name>alt.test</d:name><d:roid>X-1</d:roid><d:clID>ClientX</d:clID><d:exDate>`+
				test.expires.Format(time.RFC3339)+`</d:exDate></d:infData>`, "")}
		}}
		outcome, err := NewProvisioner(f.client(t, nil), nil).Request(t.Context(), provision.Request{
			Kind: provision.Renew, Name: "alt.test", TLD: ".test", Years: 1, From: from, Transaction: "prv_1-d", MaybeSent: test.asked,
		})
		if registrar.CodeOf(err) != test.want || sent != test.sent {
			t.Errorf("%s: %v after %d commands", name, err, sent)
		}
		if err == nil && !outcome.Expires.Equal(from.AddDate(1, 0, 0)) {
			t.Errorf("%s: until %s", name, outcome.Expires)
		}
	}
}

func TestOutcome_PendingRenewalIsDecidedByExpiry(t *testing.T) {
	t.Parallel()
	from := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		info    string
		pending bool
		want    registrar.Code
	}{
		"done":    {info: `<d:clID>ClientX</d:clID><d:exDate>2028-03-01T12:00:00Z</d:exDate>`},
		"pending": {info: `<d:status s="pendingRenew"/><d:clID>ClientX</d:clID><d:exDate>2027-03-01T12:00:00Z</d:exDate>`, pending: true},
		"denied":  {info: `<d:clID>ClientX</d:clID><d:exDate>2027-03-01T12:00:00Z</d:exDate>`, want: registrar.RegistryDenied},
	} {
		f := &fakeServer{handle: func(r *Node) reply {
			return reply{xml: responseXML(1000, tridOf(r), `<d:infData xmlns:d="`+nsDomain+`"><d:name>alt.test</d:name><d:roid>X-1</d:roid>`+test.info+`</d:infData>`, "")}
		}}
		outcome, err := NewProvisioner(f.client(t, nil), nil).Outcome(t.Context(), provision.Request{
			Kind: provision.Renew, Name: "alt.test", TLD: ".test", Years: 1, From: from,
		})
		if registrar.CodeOf(err) != test.want || outcome.Pending != test.pending {
			t.Errorf("%s: %+v, %v", name, outcome, err)
		}
	}
}
