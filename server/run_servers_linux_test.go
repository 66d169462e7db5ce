package server_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
)

// TestSeveralServersShareAPane: each of many calls of four independent servers returns its
// own output, complete or marked as incomplete, even if somebody else has a pipe.
func TestSeveralServersShareAPane(t *testing.T) {
	t.Parallel()
	transports(t, func(t *testing.T, flag string) {
		for _, piped := range []bool{false, true} {
			t.Run(fmt.Sprint("piped=", piped), func(t *testing.T) {
				t.Parallel()
				srv, other := shellPane(t, "bash")
				if piped {
					testserver.Run(t, srv, "set-option", "-g", "history-limit", "50000")
				}
				type asked struct {
					want  []string
					p     *peer
					reply <-chan reply
				}
				var all []asked
				for i := range 4 {
					p := start(t, srv, nil, flag)
					p.handshake("{}")
					for j := range testtool.Size(2, 8) {
						name := fmt.Sprintf("%d-%d", i, j)
						command := fmt.Sprintf("echo begin-%s; seq 1 20; echo end-%s; exit %d", name, name, j)
						c, _ := p.begin("tools/call", map[string]any{"name": "run_command", "arguments": map[string]any{"pane_id": "%0", "command": command, "timeout": 60}})
						all = append(all, asked{slices.Concat([]string{"begin-" + name}, numbers(1, 20), []string{"end-" + name, fmt.Sprint(j)}), p, c})
					}
				}
				if piped { // between some of the commands and in the middle of others
					for i := range 3 {
						other.tool("pipe_pane", args(t, "pane_id", "%0", "output_path", filepath.Join(t.TempDir(), fmt.Sprint("log", i))))
						other.tool("pipe_pane", `{"pane_id":"%0"}`)
					}
				}
				whole := 0
				for _, a := range all {
					res := a.p.toolResult("run_command", a.p.await(a.reply))
					if res.IsError {
						if !strings.Contains(res.text(), "other commands ran in pane %0") {
							t.Errorf("%s: %s", a.want[0], res.text())
						}
						continue
					}
					var got ran
					if err := json.Unmarshal(res.Structured, &got); err != nil {
						t.Fatal(err)
					}
					last := len(a.want) - 1
					if slices.Equal(got.Output, a.want[:last]) && got.status() == a.want[last] {
						whole++
					} else if !piped || !got.LinesMissed || got.status() != a.want[last] {
						t.Errorf("%s: %+v", a.want[0], got)
					}
				}
				if !piped && whole != len(all) {
					t.Errorf("%d of %d calls returned their output", whole, len(all))
				}
				t.Logf("%d of %d are whole", whole, len(all))
			})
		}
	})
}

// TestJobsFoundByAnotherServer: what another server has found while it ran can be asked for when
// its own server has answered.
func TestJobsFoundByAnotherServer(t *testing.T) {
	t.Parallel()
	srv, _ := shellPane(t, "bash")
	typist, other := start(t, srv, nil), start(t, srv, nil)
	typist.handshake("{}")
	other.handshake("{}")
	running := func() (id string) {
		t.Helper()
		testtool.Eventually(t, "the job is listed", func() bool {
			for _, job := range ok[rows](other, "list_jobs", `{}`).Result {
				if job["state"] == "running" {
					id = job["job_id"].(string)
				}
			}
			return id != ""
		})
		return id
	}
	answered := func(c <-chan reply) (got ran) {
		t.Helper()
		res := typist.toolResult("run_command", typist.await(c))
		if res.IsError || json.Unmarshal(res.Structured, &got) != nil {
			t.Fatal(res.text())
		}
		return got
	}
	for i := range testtool.Size(20, 200) {
		// The recorder of the last command is used again.
		typist.expect("%0", fmt.Sprint("echo ", i), fmt.Sprint(i))
		c, _ := typist.running("%0", "echo begun; exec sleep 1000")
		id := running()
		runs(t, srv, "%0", "sleep") // an interrupt of bash itself has another status
		cancelled := ok[ran](other, "cancel_job", `{"job_id":"`+id+`"}`)
		own := answered(c)
		for _, got := range []ran{cancelled, own, other.job(id), other.job(id, `"timeout":1`)} {
			if got.State != "ended" || got.status() != "130" || !slices.Equal(got.Output, own.Output) || got.LinesMissed {
				t.Errorf("cancelled, exit status %s, own output %q: %+v", got.status(), own.Output, got)
			}
		}
		g := newGate(t)
		c, _ = typist.running("%0", "echo begun; "+g.wait()+"; echo done; exit 5")
		id = running()
		waiting, _ := other.begin("tools/call", map[string]any{"name": "get_job", "arguments": map[string]any{"job_id": id, "timeout": 60}})
		g.open(t)
		own = answered(c)
		found := other.toolResult("get_job", other.await(waiting))
		var waited ran
		if found.IsError || json.Unmarshal(found.Structured, &waited) != nil {
			t.Fatal(found.text())
		}
		for _, got := range []ran{own, waited, other.job(id)} {
			if got.State != "ended" || got.status() != "5" || fmt.Sprint(got.Output) != "[begun done]" || got.LinesMissed {
				t.Errorf("%+v", got)
			}
		}
		if found := ok[rows](other, "list_jobs", `{}`).Result; len(found) != 2*(i+1) {
			t.Errorf("after %d jobs that were found and as many that were not, the jobs are %v", 2*(i+1), found)
		}
	}
}
