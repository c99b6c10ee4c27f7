package main

import (
	"strings"
	"testing"
	"time"
)

func TestRecordCheck_KeepsContradictions(t *testing.T) {
	yes, no := true, false
	for _, test := range []struct {
		q         probe
		status    int
		available *bool
		wrong     bool
	}{
		{probe{taken: true}, 200, &yes, true},
		{probe{taken: true}, 200, &no, false},
		{probe{taken: true}, 200, nil, false},
		{probe{free: true}, 200, &no, true},
		{probe{free: true}, 200, &yes, false},
		{probe{}, 200, &yes, true},
		{probe{free: true}, 502, nil, false},
		{probe{free: true}, 500, nil, true},
		{probe{free: true}, 429, nil, true},
	} {
		o := outcome{answers: map[string]int{}}
		o.recordCheck(test.q, test.status, test.available)
		if (len(o.wrong) > 0) != test.wrong {
			t.Errorf("%+v: wrong is %v", test, o.wrong)
		}
	}
}

func TestReport_FailsOnEveryViolation(t *testing.T) {
	good := outcome{answers: map[string]int{"free": 1, "taken": 1}, took: []time.Duration{time.Second, time.Second}}
	quiet := resources{goroutines: 20, files: 10, heap: 10 << 20}
	for name, test := range map[string]struct {
		seen  outcome
		after resources
		want  bool
	}{
		"all passed":  {good, quiet, true},
		"undecided":   {outcome{took: good.took, answers: map[string]int{"null": 2}}, quiet, false},
		"wrong":       {outcome{answers: good.answers, took: good.took, wrong: []string{"google: called free"}}, quiet, false},
		"late":        {outcome{answers: good.answers, took: []time.Duration{7 * time.Second}}, quiet, false},
		"goroutines":  {good, resources{goroutines: 40, files: 10, heap: 10 << 20}, false},
		"connections": {good, resources{goroutines: 20, files: 30, heap: 10 << 20}, false},
		"bytes":       {good, resources{goroutines: 20, files: 10, heap: 30 << 20}, false},
	} {
		var out strings.Builder
		if got := report(&out, settings{scenario: scenarios[0]}, test.seen, quiet, test.after); got != test.want {
			t.Errorf("%s: %v\n%s", name, got, out.String())
		}
	}
}
