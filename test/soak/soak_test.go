package main

import (
	"strings"
	"testing"
	"time"
)

func TestAnAnswerAgainstTheTruthIsKept(t *testing.T) {
	yes, no := true, false
	for _, test := range []struct {
		q         question
		status    int
		available *bool
		wrong     bool
	}{
		{question{taken: true}, 200, &yes, true},
		{question{taken: true}, 200, &no, false},
		{question{taken: true}, 200, nil, false},
		{question{free: true}, 200, &no, true},
		{question{free: true}, 200, &yes, false},
		{question{}, 200, &yes, true},
		{question{free: true}, 502, nil, false},
		{question{free: true}, 500, nil, true},
		{question{free: true}, 429, nil, true},
	} {
		o := outcome{answers: map[string]int{}}
		o.judge(test.q, test.status, test.available)
		if (len(o.wrong) > 0) != test.wrong {
			t.Errorf("%+v: wrong is %v", test, o.wrong)
		}
	}
}

func TestTheReportBreaksOnEveryPromise(t *testing.T) {
	good := outcome{answers: map[string]int{"free": 1, "taken": 1}, took: []time.Duration{time.Second, time.Second}}
	quiet := state{goroutines: 20, files: 10, heap: 10 << 20}
	for name, test := range map[string]struct {
		seen  outcome
		after state
		want  bool
	}{
		"all kept":    {good, quiet, true},
		"undecided":   {outcome{took: good.took, answers: map[string]int{"null": 2}}, quiet, false},
		"wrong":       {outcome{answers: good.answers, took: good.took, wrong: []string{"google: called free"}}, quiet, false},
		"late":        {outcome{answers: good.answers, took: []time.Duration{7 * time.Second}}, quiet, false},
		"goroutines":  {good, state{goroutines: 40, files: 10, heap: 10 << 20}, false},
		"connections": {good, state{goroutines: 20, files: 30, heap: 10 << 20}, false},
		"bytes":       {good, state{goroutines: 20, files: 10, heap: 30 << 20}, false},
	} {
		var out strings.Builder
		if got := report(&out, settings{scenario: scenarios[0]}, test.seen, quiet, test.after); got != test.want {
			t.Errorf("%s: %v\n%s", name, got, out.String())
		}
	}
}
