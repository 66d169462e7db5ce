package runner

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestFate has each phase of a job at an age, in minutes.
func TestFate(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, c := range map[string]struct {
		phase                   Phase
		age                     int
		resting, attended, gone bool
		want                    fate
	}{
		"may still begin":              {phase: Waiting, age: 9, want: stays},
		"never began":                  {phase: Waiting, age: 11, want: goes},
		"never began, attended":        {phase: Waiting, age: 11, attended: true, want: goes},
		"runs for long":                {phase: Running, age: 600, want: stays},
		"runs, attended, no server":    {phase: Running, attended: true, gone: true, want: stays},
		"no server":                    {phase: Running, gone: true, want: goes},
		"ended":                        {phase: Ended, age: 59, want: ends},
		"ended, attended":              {phase: Ended, attended: true, want: ends},
		"ended long ago":               {phase: Ended, age: 61, want: goes},
		"ended, no server":             {phase: Ended, gone: true, want: goes},
		"lost":                         {phase: Lost, age: 59, want: ends},
		"lost, attended":               {phase: Lost, age: 59, attended: true, gone: true, want: stays},
		"lost long ago, attended":      {phase: Lost, age: 61, attended: true, want: goes},
		"resting, just written":        {phase: Waiting, resting: true, want: stays},
		"resting, just written, ended": {phase: Ended, resting: true, want: stays},
		"resting for a minute":         {phase: Waiting, age: 1, resting: true, want: goes},
	} {
		at := now.Add(-time.Duration(c.age) * time.Minute)
		j := &Job{At: at, Resting: c.resting}
		if got := j.fate(now, State{Phase: c.phase, At: at}, c.attended, c.gone); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestExcess(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, c := range []struct {
		sizes []int64 // from the newest to the oldest
		most  int64
		left  int
	}{
		{nil, 0, 0},
		{[]int64{5, 5}, 10, 2},
		{[]int64{5, 5, 1}, 10, 2},
		{[]int64{11, 1, 1}, 10, 0}, // an older one that would fit does not stay
		{[]int64{0, 1}, 0, 1},
		{slices.Repeat([]int64{1}, mostEnded+2), mostBytes, mostEnded},
	} {
		var all []remains
		for i, size := range c.sizes {
			all = append(all, remains{"", now.Add(-time.Duration(i) * time.Second), size})
		}
		slices.Reverse(all)
		more := excess(all, c.most)
		if len(more) != len(c.sizes)-c.left {
			t.Errorf("%v, %d: %d go, want %d", c.sizes, c.most, len(more), len(c.sizes)-c.left)
		}
		for i, r := range more {
			if !r.at.Equal(now.Add(-time.Duration(c.left+i) * time.Second)) {
				t.Errorf("%v, %d: the one at %v goes", c.sizes, c.most, r.at)
			}
		}
	}
}

// TestAbandoned has directories in which no job can be read.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, c := range map[string]struct {
		age   time.Duration
		files map[string]time.Duration // and their ages
		job   string
		want  bool
	}{
		"being created":                   {age: time.Minute},
		"never filled":                    {age: beginsIn + time.Minute, want: true},
		"being removed":                   {files: map[string]time.Duration{"o0": 0}, want: true},
		"being described":                 {files: map[string]time.Duration{"job": writtenIn / 2}},
		"never described":                 {age: time.Minute, files: map[string]time.Duration{"job": time.Minute}, want: true},
		"of another machine":              {age: time.Hour, files: map[string]time.Duration{"job": time.Hour}, job: "{}"},
		"of another machine, which works": {age: 2 * foreignFor, files: map[string]time.Duration{"job": 2 * foreignFor, "o0": time.Hour}, job: "{}"},
		"of another machine, long ago":    {age: 2 * foreignFor, files: map[string]time.Duration{"job": 2 * foreignFor}, job: "{}", want: true},
	} {
		dir := t.TempDir()
		for file, age := range c.files {
			text := ""
			if file == "job" {
				text = c.job
			}
			ok(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
			ok(t, os.Chtimes(filepath.Join(dir, file), time.Time{}, now.Add(-age)))
		}
		if got := abandoned(dir, c.age, now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
