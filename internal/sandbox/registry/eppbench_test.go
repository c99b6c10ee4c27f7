package registry

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkEPPCheck50 checks batches of 50 names on one connection.
func BenchmarkEPPCheck50(b *testing.B) {
	benchmarkCheck(b, "")
}

// BenchmarkEPPCheck50Fee also requests the fees.
func BenchmarkEPPCheck50Fee(b *testing.B) {
	benchmarkCheck(b, `<fee:check xmlns:fee="urn:ietf:params:xml:ns:epp:fee-1.0"><fee:command name="create"/></fee:check>`)
}

func benchmarkCheck(b *testing.B, ext string) {
	r := startWorld(b, Options{})
	s := logIn(b, r, "dotkontor")
	var names strings.Builder
	for i := range 50 {
		fmt.Fprintf(&names, "<:name>kaffee-%d.com</:name>", i)
	}
	command := objectCommand("domain", "check", names.String())
	for b.Loop() {
		if s.do(command, ext).code != "1000" {
			b.Fatal("the check failed")
		}
	}
	b.ReportMetric(50*float64(b.N)/b.Elapsed().Seconds(), "names/s")
}

// BenchmarkEPPSingle sends sequential commands on one connection.
func BenchmarkEPPSingle(b *testing.B) {
	for title, command := range map[string]func(int) string{
		"check":  func(int) string { return objectCommand("domain", "check", `<:name>kaffee.com</:name>`) },
		"info":   func(int) string { return domainCommand("info", "google.com") },
		"create": func(i int) string { return domainCreate(fmt.Sprintf("neu-%d.com", i)) },
	} {
		b.Run(title, func(b *testing.B) {
			r := startWorld(b, Options{Data: b.TempDir()})
			s := logIn(b, r, "dotkontor")
			i := 0
			for b.Loop() {
				if i++; s.do(command(i)).code != "1000" {
					b.Fatal("the command failed")
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commands/s")
		})
	}
}
