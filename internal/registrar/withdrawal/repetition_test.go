package withdrawal

import (
	"testing"
	"time"
)

func TestWithoutRepetitions_NothingElseIsLeftOut(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	notice := Notice{ID: "dcl_2", Kind: Termination, Ground: Ordinary, Contract: "tee.de", At: at}
	with := func(change func(*Notice)) Notice {
		other := notice
		other.ID = "dcl_1"
		change(&other)
		return other
	}
	for name, test := range map[string]struct {
		other Notice
		shown bool
	}{
		"open for longer":      {with(func(*Notice) {}), false},
		"sent later":           {with(func(n *Notice) { n.ID = "dcl_3" }), true},
		"handled since":        {with(func(n *Notice) { n.ID, n.DoneAt = "dcl_3", at }), false},
		"handled before":       {with(func(n *Notice) { n.DoneAt = at.Add(-time.Second) }), true},
		"about another domain": {with(func(n *Notice) { n.Contract = "kaffee.de" }), true},
		"of another kind":      {with(func(n *Notice) { n.Kind = Withdrawal }), true},
		"on another ground":    {with(func(n *Notice) { n.Ground = Extraordinary }), true},
		"as of another day":    {with(func(n *Notice) { n.End = "2026-12-31" }), true},
	} {
		shown := false
		for _, n := range WithoutRepetitions([]Notice{notice, test.other}, func(n Notice) string { return n.Contract }) {
			shown = shown || n.ID == notice.ID
		}
		if shown != test.shown {
			t.Errorf("%s: shown is %t", name, shown)
		}
	}
}
