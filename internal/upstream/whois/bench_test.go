package whois

import (
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

// hostile are responses of the maximum size, each designed to keep one part of the
// parser busy.
var hostile = map[string]string{
	"phrases":     "no match no match no match not not\n",
	"throttle":    "quota rate limit number maximum allowed queries lookups requests connections\n",
	"long lines":  strings.Repeat("the domain not limit ", 45) + "\n",
	"hosts":       "a.b.c.d.e.f.g.h.i.j.k.l a.b a.b\n",
	"statuses":    "Status: client server add renew x\n",
	"domains":     "Domain: a.b.c d.e.f g.h.i\n",
	"dates":       "Created: Wed Mar 04 05:06:07 XYZ 20x0\n",
	"nameservers": "Name Server: ns1.büro.example\n",
	"keys":        "a key that expires and is created and updated (really/not): x\n",
	"short":       "x\n",
	"headings":    "Registrar\n",
	"semicolons":  "Status: " + strings.Repeat("a;", 400) + "\n",
}

func hostileAnswer(line string) []byte {
	head := ""
	if strings.Contains(line, "Name Server") || strings.Contains(line, "Created") || strings.Contains(line, ";") {
		head = "Domain Name: kranich-47.xyz\nRegistrar: Example\nName Server: ns1.example.net\nRegistrant: X\n"
	}
	return []byte(head + strings.Repeat(line, (maxAnswerBytes-len(head))/len(line)))
}

func BenchmarkHostileAnswers(b *testing.B) {
	for rule, line := range hostile {
		raw := hostileAnswer(line)
		b.Run(rule, func(b *testing.B) {
			for b.Loop() {
				classify(raw, "kranich-47.xyz")
			}
		})
	}
}

func BenchmarkOrdinaryAnswers(b *testing.B) {
	b.Run("record", func(b *testing.B) {
		raw := []byte(sampleRecords[0].answer)
		for b.Loop() {
			classify(raw, sampleRecords[0].name)
		}
	})
	b.Run("free with terms", func(b *testing.B) {
		raw := []byte("Domain not found.\n\nTerms of Use: " + strings.Repeat("Access to this information is provided to assist persons, and not to\nenable high volume queries; no limit may be exceeded at any time.\n", 30))
		for b.Loop() {
			classify(raw, "kranich-47.xyz")
		}
	})
}

// Time proves nothing on a busy machine, so this only shows that no hostile
// response decides anything.
func TestClassify_HostileAnswerIsNeverFree(t *testing.T) {
	t.Parallel()
	for rule, line := range hostile {
		got, _ := classify(hostileAnswer(line), "kranich-47.xyz")
		if got.State == lookup.Free {
			t.Errorf("%s: called free", rule)
		}
		checkRecord(t, got.Record)
	}
}
