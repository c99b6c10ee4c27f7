package lookup

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestCheck_DisagreementsAreLoggedAndCountedWithoutName(t *testing.T) {
	for _, test := range []struct {
		rule        string
		rdap, whois *fakeSource
		dns         fakeDNS
		want        Availability
		source      Source
		times       int
	}{
		{"RDAP has none, WHOIS has one", sourceWithState(NotFound), sourceWithState(Registered), failingDNS, Taken, SourceWHOIS, 1},
		{"RDAP and WHOIS have none, the DNS has nameservers", sourceWithState(NotFound), sourceWithState(Undecided), delegatedDNS, Taken, SourceDNS, 1},
		{"RDAP has none, WHOIS one and the DNS nameservers", sourceWithState(NotFound), sourceWithState(Registered), delegatedDNS, Taken, SourceWHOIS, 1},
		{"WHOIS says free, the DNS has nameservers", unlistedSource, sourceWithState(Free), delegatedDNS, Unknown, "", 1},
		{"RDAP failed, WHOIS has one", sourceWithFault(registrar.FaultBroken), sourceWithState(Registered), delegatedDNS, Taken, SourceWHOIS, 0},
		{"all agree", sourceWithState(NotFound), sourceWithState(Free), undelegatedDNS, Available, SourceRDAP, 0},
	} {
		t.Run(test.rule, func(t *testing.T) {
			var log bytes.Buffer
			counted := 0
			engine := newEngine(t, Config{
				RDAP: test.rdap, WHOIS: test.whois, DNS: test.dns, Logger: slog.New(slog.NewJSONHandler(&log, nil)),
				OnDisagreement: func(tld string) {
					if counted++; tld != ".de" {
						t.Errorf("counted for %s", tld)
					}
				},
			})
			answer, err := engine.Check(t.Context(), "kaffeehaus.de")
			if err != nil || answer.Availability != test.want || answer.Source != test.source {
				t.Errorf("got %+v, %v", answer, err)
			}
			if logged := strings.Count(log.String(), "sources disagree"); logged != test.times || counted != test.times {
				t.Errorf("logged %d and counted %d times", logged, counted)
			}
			if strings.Contains(log.String(), "kaffeehaus") {
				t.Errorf("log: %s", log.String())
			}
		})
	}
}
