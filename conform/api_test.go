package conform

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/report"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// apiRequest returns a request for a script of layer api with the command of an adapter.
func apiRequest(t *testing.T, script string, api ...string) child.Request {
	t.Helper()
	targets, err := ownTarget(testserver.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	temp := shortTemp(t)
	dir := filepath.Join(temp, "1")
	if err := child.MakeDirs(dir); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "01-test.txtar")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		os.RemoveAll(dir)
		nothingLeft(t, temp)
	})
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return child.Request{Dir: dir, File: file, Layer: report.APILayer, Target: targets[0], Timeout: unhurried, API: api, APIDir: here}
}

// shellAdapter returns the command of an adapter in shell, where answer prints the members of an
// answer to $line, a verb's request.
func shellAdapter(answer string) []string {
	return []string{"/bin/sh", "-c", `n=0
while IFS= read -r line; do
	n=$((n + 1))
	printf '{"jsonrpc":"2.0","id":%s,' $n
	case $line in
	*'"method":"describe"'*) printf '"result":{"protocol":1,"name":"shell","version":"9"}}\n' ;;
	*'"method":"open"'*) opened=$line; printf '"result":{}}\n' ;;
	*) ` + answer + `; printf '}\n' ;;
	esac
done`}
}

// A script is played over any adapter, and by package tmux as one.
func TestAdapterOfScript(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	own := []string{exe, APIArg}
	const session = "tmux new-session -d -n one 'exec sleep 600'\n"
	for _, test := range []struct {
		name, script string
		api          []string
		status       report.Status
		outcome      report.Outcome
		reason       string
	}{
		{"package tmux", session + "api show @0\njson window_name one\njson window_zoomed_flag false\napi fields window_name pane_id nonesuch client_name\njson missing '[\"nonesuch\",\"client_name\"]'\n",
			own, report.Pass, "", ""},
		// It reaches the script's server by the tmux on PATH, which needs no socket.
		{"tmux on PATH", session + "api display x\njson value 'one  '\n",
			shellAdapter(`printf '"result":{"value":"%s %s %s"}' "$(tmux display-message -p '#{window_name}')" "$TMUX" "$TMUX_PANE"`), report.Pass, "", ""},
		{"a server of its own", "api display x\ntmux list-windows -F '#{window_name}'\nstdout ^mine$\n",
			shellAdapter(`tmux -f /dev/null new-session -d -n mine 'exec sleep 600'; printf '"result":{"value":""}'`), report.Pass, "", ""},
		{"variables", "api display x\nstdout '\"value\": \".*/bin/tmux '$SOCKET' '$VERSION'\"'\n",
			shellAdapter(`printf '"result":{"value":"%s %s %s"}' "$MCP_CONFORM_TMUX" "$MCP_CONFORM_SOCKET" "$MCP_CONFORM_VERSION"`), report.Pass, "", ""},
		{"open", "api display x\nstdout '\"value\": \".*/bin/tmux '$SOCKET' '$VERSION'\"'\n",
			shellAdapter(`printf '"result":{"value":"%s"}' "$(echo "$opened" | sed 's/.*"socket":"\([^"]*\)","tmux":"\([^"]*\)","version":"\([^"]*\)".*/\2 \1 \3/')"`), report.Pass, "", ""},
		{"an error", "! api display x\njson error.message 'no x'\nstderr '^no x$'\n",
			shellAdapter(`printf '"error":{"code":1,"message":"no x"}'`), report.Pass, "", ""},
		{"warnings", "api display x\nstderr '^beware$'\n",
			shellAdapter(`printf '"result":{"value":"","warnings":["beware"]}'`), report.Pass, "", ""},
		{"not offered", "api display x\n",
			shellAdapter(`printf '"error":{"code":-32601,"message":"no Server.display"}'`), report.NotOffered, report.Outcome(report.NotOffered), "no Server.display"},
		{"looked up by the adapter", "! api display x\njson error.message 'none of the list'\n",
			shellAdapter(`printf '"error":{"code":-32001,"message":"none of the list"}'`), report.NotOffered, report.Outcome(report.NotOffered), "looked up by the adapter: none of the list"},
		{"an id without its sign", "api show %0\njson pane_id %0\n",
			shellAdapter(`printf '"result":{"row":{"pane_id":"0"}}'`), report.Fail, report.Blocked, "schema: show: - at '/result/row/pane_id': '0' does not match pattern '^(%[0-9]+)?$'"},
		{"a session's id without its sign", "api list sessions\njson 0.session_id $0\n",
			shellAdapter(`printf '"result":{"rows":[{"session_id":"0","window_id":null}]}'`), report.Fail, report.Blocked, "schema: list: - at '/result/rows/0/session_id': '0' does not match pattern '^([$][0-9]+)?$'"},
		{"schema", "api display x\n",
			shellAdapter(`printf '"result":{"value":1}'`), report.Fail, report.Blocked, "schema: display: - at '/result/value': got number, want string"},
		{"at fault", "api display x\n",
			shellAdapter(`printf '"error":{"code":-32603,"message":"KeyError"}'`), report.Errored, "", "the adapter failed: KeyError"},
		{"crash", "api display x\n",
			shellAdapter(`echo lost my way >&2; exit 3`), report.Fail, report.Crashed, "display: the adapter ended when asked for display: exit status 3: lost my way"},
		{"no adapter", "api display x\n",
			[]string{"/bin/sh", "-c", "echo no module >&2; exit 1"}, report.Errored, "", "the adapter ended when asked for describe: exit status 1: no module"},
		{"misused", "api display\n", own, report.Errored, "", "usage: api display [ID] FORMAT, not []"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m, err := child.Converse(t.Context(), scriptProcess(t), apiRequest(t, test.script, test.api...))
			if err != nil {
				t.Fatal(err)
			}
			c, outcome := m.Cell, report.Outcome("")
			if len(c.Claims) > 0 {
				outcome = c.Claims[0].Outcome
			}
			if c.Status != test.status || !strings.Contains(c.Reason, test.reason) || outcome != test.outcome {
				t.Errorf("got %s %q %+v, want %s %s %q\n%s", c.Status, c.Reason, c.Claims, test.status, test.outcome, test.reason, m.Log)
			}
		})
	}
}

// The tmux on an adapter's PATH is also one that is a script and finds its program beside itself,
// as Debian's is in the cache.
func TestAdapterOfTmuxScript(t *testing.T) {
	t.Parallel()
	r := apiRequest(t, "tmux new-session -d -n one 'exec sleep 600'\napi display x\njson value one\n",
		shellAdapter(`printf '"result":{"value":"%s"}' "$(tmux display-message -p '#{window_name}')"`)...)
	dir := t.TempDir()
	if err := os.Symlink(r.Target.Path, filepath.Join(dir, "real")); err != nil {
		t.Fatal(err)
	}
	r.Target.Path = filepath.Join(dir, "tmux")
	if err := testtool.WriteProgram(r.Target.Path, []byte("#!/bin/sh\nexec \"${0%/*}/real\" \"$@\"\n")); err != nil {
		t.Fatal(err)
	}
	m, err := child.Converse(t.Context(), scriptProcess(t), r)
	if err != nil || m.Cell.Status != report.Pass {
		t.Errorf("%v %+v", err, m.Cell)
	}
}

// What an adapter does not offer is found before the run.
func TestAskAPI(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	own := []string{exe, APIArg}
	for _, test := range []struct {
		name  string
		api   []string
		names []string
		is    string
		none  bool
		err   string
	}{
		{"package tmux", own, []string{"list"}, "package tmux", false, ""},
		{"it offers what is asked for", shellAdapter(`case $line in
			*'"method":"list"'*) printf '"result":{"rows":[]}' ;;
			*) printf '"error":{"code":-32601,"message":"only display"}' ;;
			esac`), []string{"search", "list"}, "shell", false, ""},
		{"one verb", shellAdapter(`case $line in
			*'"method":"display"'*) printf '"result":{"value":""}' ;;
			*'"pending"'*) printf '"result":{"value":""}' ;;
			*'"method":"reset"'*) printf '"error":{"code":1,"message":"oh"}' ;;
			*) printf '"error":{"code":-32601,"message":"only display"}' ;;
			esac`), []string{"get", "capture"}, "shell", false, ""},
		{"it offers nothing that is asked for", shellAdapter(`printf '"error":{"code":-32601,"message":"only display"}'`),
			[]string{"search", "list"}, "shell", true, ""},
		{"the wrapper's own error", shellAdapter(`printf '"error":{"code":1,"message":"oh"}'`), []string{"reset"}, "shell", false, ""},
		{"it ends when asked", shellAdapter(`exit 3`), []string{"reset"}, "shell", false, ""},
		{"nothing is asked for", shellAdapter(`printf '"error":{"code":-32601,"message":"none"}'`), nil, "shell", false, ""},
		{"none", []string{"/bin/sh", "-c", "echo no module >&2; exit 1"}, nil, "", false, "the adapter ended when asked for describe: exit status 1: no module"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := apiRequest(t, "", test.api...)
			r.Ask, r.Names = child.AskAPI, test.names
			m, err := child.Converse(t.Context(), scriptProcess(t), r)
			if err != nil {
				t.Fatal(err)
			}
			name := ""
			if m.Described != nil {
				name = m.Described.Name
			}
			if name != test.is || m.OffersNone != test.none || m.Err != test.err {
				t.Errorf("got %q, %v, %s; want %q, %v, %s", name, m.OffersNone, m.Err, test.is, test.none, test.err)
			}
		})
	}
}

// failing has claims that are not true: of answers of each form, errors, and what is not offered.
const failing = `tmux new-session -d -x 80 -y 24 -n one 'exec sleep 3600'
api show @0
json window_name two
claim 'a row'
api list windows
json 0.window_name two
claim 'rows'
api display @0 '#{window_name} <&> \x01'
json value two
claim 'a text'
api send-keys %0 -R
json value two
claim 'nothing'
api last-window '$0'
claim 'an error'
! api select-window '$0' 0
claim 'no error'
api fields window_name nonesuch
json missing []
claim 'a field'
api list sessions -in @0
claim 'not offered'
api command %0 display-message -p '#{window_name}'
json value two
claim 'a command'
`

// A claim about any answer of package tmux can fail, and the rest of the script goes on.
func TestFailingClaims(t *testing.T) {
	t.Parallel()
	for _, transport := range []tmux.Transport{tmux.TransportExec, tmux.TransportNative} {
		t.Run(string(transport), func(t *testing.T) {
			t.Parallel()
			r := mustRun(t, Options{Gaps: []*Gap{gapOf(t, report.APILayer, failing)}, Layers: []report.Layer{report.APILayer}, Transport: transport})
			c := r.Cells[0]
			if len(c.Claims) != 9 || c.Transport != string(transport) {
				t.Fatalf("%d claims, by %s", len(c.Claims), c.Transport)
			}
			for i, cl := range c.Claims {
				if want := map[string]report.Outcome{"not offered": report.Outcome(report.NotOffered)}[cl.Text]; cl.Outcome != cmp.Or(want, report.Open) || cl.Evidence == nil {
					t.Errorf("claim %d: %+v", i+1, cl)
				}
			}
		})
	}
}
