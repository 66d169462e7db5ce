package report

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiff(t *testing.T) {
	upgraded := func(r *Report) *Report {
		r.Targets[1] = Target{Name: "3.7c", Version: "3.7c"}
		for i := range r.Cells {
			if r.Cells[i].Tmux == "3.6a" {
				r.Cells[i].Tmux = "3.7c"
			}
		}
		return r
	}
	known := func(r *Report) *Report {
		r.Cells[0].Known = &Known{Reason: "x"}
		return r
	}
	native := func(r *Report) *Report {
		for i := range r.Cells {
			r.Cells[i].Transport = "native"
		}
		return r
	}
	for _, tt := range []struct {
		name  string
		a, b  *Report
		worse bool
		want  string
	}{
		{"nothing", resultsReport("PF"), resultsReport("PF"), false, "2 the same\n"},
		{"a failure", resultsReport("PP", "PP"), resultsReport("PP", "PF"), true,
			"Worse\n  gap 2, layer api, tmux 3.6a (): pass -> fail: why\n\n1 worse, 3 the same\n"},
		{"a failure less", resultsReport("FP"), resultsReport("PP"), false, "Better\n  gap 1, layer api, tmux old (): fail -> pass: why\n\n1 better, 1 the same\n"},
		{"another transport", resultsReport("PP"), native(resultsReport("FP")), true, "Worse\n  gap 1, layer api, tmux old, native (): pass -> fail: why\n\n1 worse, 1 the same\n"},
		{"flaky", resultsReport("PP"), resultsReport("~P"), true, "Worse\n  gap 1, layer api, tmux old (): pass -> flaky: why\n\n1 worse, 1 the same\n"},
		{"known to fail", resultsReport("FP"), known(resultsReport("FP")), false, "Better\n  gap 1, layer api, tmux old (): fail -> fail, known: why\n\n1 better, 1 the same\n"},
		{"not known any more", known(resultsReport("FP")), resultsReport("FP"), true, "Worse\n  gap 1, layer api, tmux old (): fail, known -> fail: why\n\n1 worse, 1 the same\n"},
		{"not for this version", resultsReport("PP"), resultsReport("-P"), false, "Changed\n  gap 1, layer api, tmux old (): pass -> n/a: why\n\n1 changed, 1 the same\n"},
		{"a new tmux in the place of another", resultsReport("PP"), upgraded(resultsReport("PF")), true,
			"Worse\n  gap 1, layer api, tmux 3.6a -> 3.7c (): pass -> fail: why\n\n1 worse, 1 the same\n"},
		{"more gaps", resultsReport("PP"), resultsReport("PP", "PF"), true,
			"Worse\n  gap 2, layer api, tmux 3.6a (): fail: why\n\nNew\n  gap 2, layer api, tmux old (): pass: why\n\n1 worse, 1 new, 2 the same\n"},
		{"fewer gaps", resultsReport("PP", "F-"), resultsReport("PP"), false,
			"Gone\n  gap 2, layer api, tmux old (): fail\n  gap 2, layer api, tmux 3.6a (): n/a\n\n2 gone, 2 the same\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Compare(tt.a, tt.b)
			var buf bytes.Buffer
			if err := WriteDiff(&buf, d, Style{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, buf.String()); diff != "" || d.Worse() != tt.worse {
				t.Errorf("worse: %v (-want +got):\n%s", d.Worse(), diff)
			}
			text, err := json.Marshal(d)
			if err != nil || bytes.Contains(text, []byte("null")) {
				t.Errorf("%v: %s", err, text)
			}
		})
	}
}
