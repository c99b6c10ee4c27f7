package sandbox

import (
	"slices"
	"testing"
)

func TestExpandChaosFlag_AddsDefault(t *testing.T) {
	for _, test := range []struct{ given, want []string }{
		{[]string{"sandbox", "--chaos"}, []string{"sandbox", "--chaos", "0.2"}},
		{[]string{"sandbox", "--chaos", "--listen", "x"}, []string{"sandbox", "--chaos", "0.2", "--listen", "x"}},
		{[]string{"sandbox", "--chaos", "0.5"}, []string{"sandbox", "--chaos", "0.5"}},
		{[]string{"sandbox", "--chaos=0.5"}, []string{"sandbox", "--chaos=0.5"}},
		{[]string{"serve"}, []string{"serve"}},
	} {
		if got := ExpandChaosFlag(test.given); !slices.Equal(got, test.want) {
			t.Errorf("%v became %v, want %v", test.given, got, test.want)
		}
	}
}
