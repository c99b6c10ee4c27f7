package epp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
)

func benchNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("some-name-%03d.test", i)
	}
	return names
}

// BenchmarkCheckOf50 measures encoding a check and parsing its response, without a
// server or network.
func BenchmarkCheckOf50(b *testing.B) {
	names := benchNames(50)
	for _, test := range []struct {
		name string
		fee  FeeCommand
	}{{"plain", FeeCommand{}}, {"fee", FeeCommand{Name: "create", Years: 1}}} {
		b.Run(test.name, func(b *testing.B) {
			has := services{nsFee: true}
			var w Writer
			frame, err := checkCall(names, test.fee, PriorityLookup, "bench-1").encode(&w, has, nil)
			if err != nil {
				b.Fatal(err)
			}
			request, err := parseDocument(frame[headerOctets:])
			if err != nil {
				b.Fatal(err)
			}
			document := []byte(respondPriced(request).xml)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := checkCall(names, test.fee, PriorityLookup, "bench-1").encode(&w, has, nil); err != nil {
					b.Fatal(err)
				}
				a, err := parseResponse(document)
				if err != nil {
					b.Fatal(err)
				}
				if got := readCheckResults(a); len(got) != len(names) {
					b.Fatal(len(got))
				}
			}
			b.ReportMetric(float64(len(names)*b.N)/b.Elapsed().Seconds(), "names/s")
		})
	}
}

// BenchmarkParseDocument measures one response, in both parsers.
func BenchmarkParseDocument(b *testing.B) {
	document := []byte(responseXML(1000, "dk-1", `<d:creData xmlns:d="`+nsDomain+`"><d:name>a.test</d:name><d:crDate>2026-11-15T00:00:00.0Z</d:crDate><d:exDate>2027-11-15T00:00:00.0Z</d:exDate></d:creData>`, ""))
	b.Run("plain", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if parsePlain(document) == nil {
				b.Fatal("it is not plain")
			}
		}
	})
	b.Run("any", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := parseAny(document); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkClient measures the pool over one connection to a server that responds
// at once.
func BenchmarkClient(b *testing.B) {
	b.Run("single commands", func(b *testing.B) {
		f := &fakeServer{handle: respondOK}
		c := f.client(b, func(a *Account) { a.MaxConnections = 1 })
		for b.Loop() {
			if _, err := c.UpdateDomain(b.Context(), UpdateDomain{Name: "a.test"}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commands/s")
	})
	b.Run("batched names", func(b *testing.B) {
		f := &fakeServer{handle: respondCheck}
		c := f.client(b, func(a *Account) { a.MaxConnections = 1 })
		b.SetParallelism(200)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := c.CheckDomains(b.Context(), CheckDomains{Names: []string{"some-name.test"}, Priority: PriorityLookup}); err != nil {
					b.Error(err)
				}
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "names/s")
	})
	b.Run("checks of 50", func(b *testing.B) {
		f := &fakeServer{handle: respondCheck}
		c := f.client(b, func(a *Account) { a.MaxConnections = 1 })
		names := benchNames(50)
		for b.Loop() {
			if _, err := c.CheckDomains(b.Context(), CheckDomains{Names: names, Priority: PriorityLookup}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(names)*b.N)/b.Elapsed().Seconds(), "names/s")
	})
}

func BenchmarkWriter(b *testing.B) {
	var w Writer
	q := CreateDomain{Name: "a.test", Years: 1, Nameservers: []domainchange.Nameserver{{Name: "ns1.test"}, {Name: "ns2.test"}}, AuthInfo: strings.Repeat("x", 16)}
	cmd := &call{Command: Command{Verb: "create", Object: "domain"}, trid: "bench-1", body: q.write}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := cmd.encode(&w, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}
