package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
	"tmuxmcp/tmux"
)

// scene is what a first attempt starts from, and what its last answer says if the task is
// done.
type scene struct {
	// Start runs in pane %0, in its own directory; bash if empty. Shows is on the screen
	// when the attempt begins.
	Start, Shows string
	Runs         string // a program that has begun then
	Tool         string // that must be installed
	// More is typed into pane %0; what follows runs in further panes.
	More      []string
	Before    string // is on the screen before the last call, which would be too quick for a busy shell
	Says, Not string
	File, Has string // and what a file has then
	Patience  int    // seconds that a call waits at most, if that is bounded
}

// bashPane starts a shell as if for a user who types commands.
const bashPane = "exec env PS1='$ ' bash --norc --noprofile"

// TestFirstAttempts plays calls that were written from the tool list and the instructions
// alone, before any answer was seen: see testdata/first-attempts.json. Each does its task,
// with the files of testdata/first-attempts.
func TestFirstAttempts(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/first-attempts.json")
	if err != nil {
		t.Fatal(err)
	}
	var attempts []struct {
		ID, Task string
		Scene    scene
		Calls    []struct {
			Tool      string
			Arguments json.RawMessage
		}
	}
	if err := json.Unmarshal(b, &attempts); err != nil {
		t.Fatal(err)
	}
	for i, a := range attempts {
		if !testtool.Full && i%3 != 0 {
			continue
		}
		t.Run(a.ID, func(t *testing.T) {
			t.Parallel()
			s := a.Scene
			if s.Tool != "" {
				testtool.Path(t, s.Tool)
			}
			srv, dir := s.set(t)
			cfg := configFor(srv)
			cfg.Results, cfg.WaitMax = server.ResultsText, time.Duration(s.Patience)*time.Second
			p := serve(t, cfg)
			p.reads = true
			var answers []string
			for i, c := range a.Calls {
				if i == len(a.Calls)-1 && s.Before != "" {
					testserver.WaitScreen(t, srv, "%0", s.Before)
				}
				res := p.tool(c.Tool, filled(string(c.Arguments), answers))
				answers = append(answers, res.text())
				if res.IsError || saysMissed.MatchString(res.text()) {
					t.Errorf("call %d fails: %s", i, res.text())
				}
			}
			last := answers[len(answers)-1]
			if !strings.Contains(last, s.Says) && strings.Contains(last, " quiet after ") {
				// A busy machine was silent for longer than the agent waits: it looks
				// again.
				testserver.WaitScreen(t, srv, "%0", strings.TrimPrefix(s.Says, "\n"))
				last = p.tool("capture_pane", `{"pane_id":"%0"}`).text()
				answers = append(answers, last)
			}
			if !strings.Contains(last, s.Says) || s.Not != "" && strings.Contains(last, s.Not) {
				t.Errorf("%s\nthe last answer does not have %q:\n%s", a.Task, s.Says, strings.Join(answers, "\n\n"))
			}
			if s.File != "" {
				if b, err := os.ReadFile(filepath.Join(dir, s.File)); err != nil || string(b) != s.Has {
					t.Errorf("the file %s has %q %v, want %q", s.File, b, err, s.Has)
				}
			}
		})
	}
}

// set creates the panes of a scene, in a directory with the scripts.
func (s scene) set(t *testing.T) (srv *tmux.Server, dir string) {
	t.Helper()
	srv, dir = testserver.New(t), t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/first-attempts")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "lines"), []byte(rowsTo(500)), 0o600); err != nil {
		t.Fatal(err)
	}
	quietFish(t, srv)
	start := s.Start
	if start == "" {
		start = bashPane
	}
	testserver.Run(t, srv, "new-session", "-d", "-s", "work", "-x", "100", "-y", "30", "-c", dir, start)
	switch s.Start {
	case "":
		waitPrompt(t, srv, "%0")
	case "exec cat":
		s.Runs = "cat"
	}
	for i, line := range s.More {
		if i > 0 { // in panes of their own
			start := line
			if start == "" {
				start = bashPane
			}
			if pane := testserver.Run(t, srv, "new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "work:", "-c", dir, start); line == "" {
				waitPrompt(t, srv, pane)
			}
		} else if line != "" {
			testserver.Run(t, srv, "send-keys", "-t", "%0", "-l", line)
			testserver.Run(t, srv, "send-keys", "-t", "%0", "Enter")
		}
	}
	if s.Runs != "" {
		runs(t, srv, "%0", s.Runs)
	}
	if s.Shows != "" {
		testserver.WaitScreen(t, srv, "%0", strings.TrimSuffix(s.Shows, " "))
	}
	return srv, dir
}

func rowsTo(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "row %d\n", i+1)
	}
	return b.String()
}

// saysMissed matches what results say if lines_missed is true.
var saysMissed = regexp.MustCompile(`(?m)^\[.*(lines may have been missed|output may be incomplete)`)

var placeholder = regexp.MustCompile(`<(job|pane)_id(?::(\d+)(?:\.(\d+))?)?>`)

// filled inserts the ids from earlier answers into arguments.
func filled(args string, answers []string) string {
	ids := map[string]*regexp.Regexp{"job": regexp.MustCompile(`job ([a-z0-9]{13})\b`), "pane": regexp.MustCompile(`%\d+`)}
	return placeholder.ReplaceAllStringFunc(args, func(name string) string {
		m := placeholder.FindStringSubmatch(name)
		call, row := len(answers)-1, 0
		if m[2] != "" {
			call, _ = strconv.Atoi(m[2])
		}
		row, _ = strconv.Atoi(m[3])
		found := ids[m[1]].FindAllString(answers[call], -1)
		found = slices.Compact(found)
		if row >= len(found) {
			return name
		}
		return strings.TrimPrefix(found[row], "job ")
	})
}
