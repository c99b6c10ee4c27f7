package main

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets scripts run this very program as "dotkontor".
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"dotkontor": func() {
			os.Exit(run(context.Background(), os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
		},
	})
}

func TestCommandLines(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true})
}

func TestChaosMayStandAlone(t *testing.T) {
	for _, test := range []struct{ given, want []string }{
		{[]string{"sandbox", "--chaos"}, []string{"sandbox", "--chaos", "0.2"}},
		{[]string{"sandbox", "--chaos", "--listen", "x"}, []string{"sandbox", "--chaos", "0.2", "--listen", "x"}},
		{[]string{"sandbox", "--chaos", "0.5"}, []string{"sandbox", "--chaos", "0.5"}},
		{[]string{"sandbox", "--chaos=0.5"}, []string{"sandbox", "--chaos=0.5"}},
		{[]string{"serve"}, []string{"serve"}},
	} {
		if got := giveChaosAShare(test.given); !slices.Equal(got, test.want) {
			t.Errorf("%v became %v, want %v", test.given, got, test.want)
		}
	}
}
