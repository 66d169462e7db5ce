package conform

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/report"
	"tmuxmcp/tmux/tmuxtest"
)

// apiRequest returns a request for a script of layer api with the command of an adapter.
func apiRequest(t *testing.T, script string, api ...string) child.Request {
	t.Helper()
	targets, err := ownTarget(tmuxtest.Binary(t))
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
	const session = "tmux new-session -d -n one 'exec sleep 600'\n"
	for _, test := range []struct {
		name, script string
		api          []string
		status       report.Status
		outcome      report.Outcome
		reason       string
	}{
		{"package tmux", session + "api show @0\njson window_name one\njson window_zoomed_flag false\napi fields window_name pane_id nonesuch\njson missing '[\"nonesuch\"]'\n",
			[]string{exe, APIArg}, report.Pass, "", ""},
		{"package tmux in process", session + "api show @0\njson window_name one\napi fields window_name pane_id nonesuch client_name\njson missing '[\"nonesuch\",\"client_name\"]'\n",
			nil, report.Pass, "", ""},
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
		{"schema", "api display x\n",
			shellAdapter(`printf '"result":{"value":1}'`), report.Fail, report.Blocked, "schema: display: - at '/result/value': got number, want string"},
		{"at fault", "api display x\n",
			shellAdapter(`printf '"error":{"code":-32603,"message":"KeyError"}'`), report.Errored, "", "the adapter failed: KeyError"},
		{"crash", "api display x\n",
			shellAdapter(`echo lost my way >&2; exit 3`), report.Fail, report.Crashed, "display: the adapter ended when asked for display: exit status 3: lost my way"},
		{"no adapter", "api display x\n",
			[]string{"/bin/sh", "-c", "echo no module >&2; exit 1"}, report.Errored, "", "the adapter ended when asked for describe: exit status 1: no module"},
		{"misused", "api display\n", nil, report.Errored, "", "usage: api display [ID] FORMAT, not []"},
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

// What an adapter does not offer is found before the run.
func TestAskAPI(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		api  []string
		is   string
		want map[string]string
		err  string
	}{
		{"package tmux", []string{exe, APIArg}, "package tmux", nil, ""},
		{"one verb", shellAdapter(`case $line in
			*'"method":"display"'*) printf '"result":{"value":""}' ;;
			*'"pending"'*) printf '"result":{"value":""}' ;;
			*'"method":"reset"'*) printf '"error":{"code":1,"message":"oh"}' ;;
			*) printf '"error":{"code":-32601,"message":"only display"}' ;;
			esac`), "shell",
			map[string]string{"get": "", "list": "", "search": "", "send_keys": "", "run_shell": "", "new_session": "", "select_window": "", "last_window": "", "command": ""}, ""},
		{"none", []string{"/bin/sh", "-c", "echo no module >&2; exit 1"}, "", nil, "the adapter ended when asked for describe: exit status 1: no module"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := apiRequest(t, "", test.api...)
			r.Ask = child.AskAPI
			m, err := child.Converse(t.Context(), scriptProcess(t), r)
			if err != nil {
				t.Fatal(err)
			}
			name := ""
			if m.Described != nil {
				name = m.Described.Name
			}
			missing := len(m.NotOffered) == len(test.want)
			for verb := range test.want {
				missing = missing && m.NotOffered[verb] == "only display"
			}
			if name != test.is || !missing || m.Err != test.err {
				t.Errorf("got %q, %v, %s; want %q, %v, %s", name, m.NotOffered, m.Err, test.is, test.want, test.err)
			}
		})
	}
}

// where is the line that a reason begins with.
var where = regexp.MustCompile(`^[^:]*:[0-9]+`)

// The protocol loses nothing: the scripts come out the same when package tmux is asked over it.
func TestScriptsOverProtocol(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range lastingSuites(t) {
		if !slices.Contains(g.Layers(), report.APILayer) {
			continue
		}
		script := g.Script(report.APILayer)
		t.Run(g.Name, func(t *testing.T) {
			t.Parallel()
			var outcomes [2]string
			for i, api := range [][]string{nil, {exe, APIArg}} {
				m, err := child.Converse(t.Context(), scriptProcess(t), apiRequest(t, string(script), api...))
				if err != nil {
					t.Fatal(err)
				}
				outcomes[i] = string(m.Cell.Status) + " " + where.FindString(m.Cell.Reason)
				for _, c := range m.Cell.Claims {
					outcomes[i] += " " + string(c.Outcome)
				}
			}
			if outcomes[0] != outcomes[1] {
				t.Errorf("in process %s, over the protocol %s", outcomes[0], outcomes[1])
			}
		})
	}
}
