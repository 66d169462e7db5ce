package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tmuxmcp/server"
	"tmuxmcp/server/cli"
	"tmuxmcp/tmux/tmuxtest"
)

// run runs the command line outside any tmux.
func run(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "LIBTMUX_") || strings.HasPrefix(name, "TMUX_MCP_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("TMUX", "")
	t.Setenv("TMUX_PANE", "")
	var out, errs bytes.Buffer
	code = cli.Main(args, strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

func TestCommandLine(t *testing.T) {
	srv := tmuxtest.New(t)
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "a", "cat")
	socket := []string{"-S", srv.SocketPath(), "--tmux", srv.Binary()}
	for _, c := range []struct {
		args           string
		code           int
		stdout, stderr string
	}{
		{"--version", 0, "tmux-mcp ", ""},
		{"--help", 0, "claude mcp add tmux -- tmux-mcp", ""},
		{"tools", 0, "list_panes                   readonly", ""},
		{"tools --safety readonly --toolsets core", 0, "capture_pane", ""},
		{"tools --json", 0, `"inputSchema":{`, ""},
		{"tools --markdown", 0, "### list_panes", ""},
		{"call list_panes", 0, "[1 pane]\npane\tplace", ""},
		{"call --json list_panes", 0, `"pane_id":"%0"`, ""},
		{"--results json call list_panes", 0, `"pane_id":"%0"`, ""},
		{"--results xml call list_panes", 2, "", `no form of results "xml"; there are text, json`},
		{"--max-result 10 call list_panes", 2, "", "--max-result must be 1000 to 1000000 bytes"},
		{`call capture_pane {"pane_id":"%0"}`, 0, "[%0]", ""},
		{`call capture_pane {"pane_id":"%9"}`, 1, "", "Pane not found: %9"},
		{`call capture_pane {"pane":"%9"}`, 1, "", "pane is not an argument"},
		{"call lst_panes", 2, "", "near it are list_panes"},
		{"call zzzzzzzzz", 2, "", "tmux-mcp tools lists all\nSee tmux-mcp call --help"},
		{"__complete call run_", 0, "run_command\tRun Command", "ended"},
		{"__complete --safety r", 0, "readonly", "ended"},
		{"call list_panes {oops", 2, "", "not JSON"},
		{"doctor", 0, "socket    " + srv.SocketPath(), ""},
		{"completion bash", 0, "complete", ""},
		{"--safety chaos tools", 2, "", "--safety chaos"},
		{"--toolsets nonesuch tools", 2, "", "nonesuch"},
		{"--log-level loud tools", 2, "", "loud"},
		{"--transport pigeon tools", 2, "", "pigeon"},
		{"-L x tools", 2, "", "exclude each other"},
		{"frobnicate", 2, "", "frobnicate"},
		{"tools --frobnicate", 2, "", "frobnicate"},
		{"call", 2, "", "call takes the name of a tool"},
	} {
		code, stdout, stderr := run(t, "", append(socket, strings.Fields(c.args)...)...)
		if code != c.code || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) {
			t.Errorf("%s: code %d, stdout %.300q, stderr %q; want %d, %q, %q", c.args, code, stdout, stderr, c.code, c.stdout, c.stderr)
		}
		if strings.Contains(stderr, `"level"`) {
			t.Errorf("%s: the log is on standard error: %s", c.args, stderr)
		}
		if c.stderr == "" && stderr != "" || c.stdout == "" && stdout != "" {
			t.Errorf("%s: stdout %.300q, stderr %q: one of them should be silent", c.args, stdout, stderr)
		}
	}
}

func TestDoctorSaysWhatIsWrong(t *testing.T) {
	srv := tmuxtest.New(t)
	if code, out, _ := run(t, "", "-S", srv.SocketPath(), "--tmux", srv.Binary(), "doctor"); code != 0 || !strings.Contains(out, "none runs there") {
		t.Errorf("no server: code %d, %s", code, out)
	}
	if code, out, _ := run(t, "", "--tmux", "/nonexistent/tmux", "doctor"); code != 1 || !strings.Contains(out, "problem   find the tmux program") {
		t.Errorf("no tmux: code %d, %s", code, out)
	}
	if code, _, errs := run(t, "", "--tmux", "/nonexistent/tmux"); code != 1 || !strings.Contains(errs, "find the tmux program") {
		t.Errorf("a server without tmux: code %d, %s", code, errs)
	}
}

// TestDoctorJSON: one document, whatever is wrong, and the exit code of the text.
func TestDoctorJSON(t *testing.T) {
	srv := tmuxtest.New(t)
	socket := []string{"-S", srv.SocketPath(), "--tmux", srv.Binary()}
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "a", "cat")
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "b", "cat")
	version := strings.TrimSpace(strings.TrimPrefix(tmuxtest.Run(t, srv, "display-message", "-p", "tmux #{version}"), "tmux "))
	broken := filepath.Join(t.TempDir(), "tmux")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	// Anybody may look into this directory of sockets, so that it is refused.
	exposed := filepath.Join(t.TempDir(), fmt.Sprintf("tmux-%d", os.Getuid()))
	t.Setenv("TMUX_TMPDIR", filepath.Dir(exposed))
	if err := errors.Join(os.Mkdir(exposed, 0o700), os.Chmod(exposed, 0o755), os.WriteFile(filepath.Join(exposed, "work"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(t.TempDir(), "none", "s")
	fresh := filepath.Join(t.TempDir(), "s")
	for name, c := range map[string]struct {
		args     []string
		code     int
		has      map[string]any // dotted paths
		hasNot   []string
		findings []string // kinds
	}{
		"a server": {append(socket, "--toolsets", "core", "--safety", "readonly"), 0, map[string]any{
			"version": 1.0, "tmux": srv.Binary(), "tmux_version": version, "socket": srv.SocketPath(), "server.version": version, "server.sessions": 2.0,
			"caller.place": "outside", "tier": "readonly", "toolsets.0": "core",
		}, []string{"caller.pane", "caller.socket"}, nil},
		"none runs":     {[]string{"-S", fresh, "--tmux", srv.Binary()}, 0, map[string]any{"toolsets.0": "all", "socket": fresh}, []string{"server"}, nil},
		"no tmux":       {[]string{"--tmux", "no-such-tmux"}, 1, map[string]any{"findings.0.hint": "install tmux, or say where it is with --tmux", "tools": 0.0}, []string{"tmux", "socket", "tier"}, []string{"cannot-start"}},
		"a broken tmux": {[]string{"-S", fresh, "--tmux", broken}, 1, map[string]any{"tmux": broken, "tier": "mutating"}, []string{"tmux_version"}, []string{"version-unknown", "server-unreachable"}},
		"no directory":  {[]string{"-S", none, "--tmux", srv.Binary()}, 1, nil, []string{"server"}, []string{"no-directory-for-socket"}},
		"a refused one": {[]string{"-L", "work", "--tmux", srv.Binary()}, 1, map[string]any{"tmux_version": version}, []string{"server"}, []string{"server-unreachable"}},
	} {
		code, out, errs := run(t, "", append(c.args, "doctor", "--json")...)
		textCode, _, _ := run(t, "", append(c.args, "doctor")...)
		if code != c.code || textCode != c.code || errs != "" {
			t.Errorf("%s: code %d, in words %d, standard error %q; want %d", name, code, textCode, errs, c.code)
		}
		var d any
		if err := json.Unmarshal([]byte(out), &d); err != nil {
			t.Errorf("%s: %v in %s", name, err, out)
			continue
		}
		for path, want := range c.has {
			if got := at(d, path); got != want {
				t.Errorf("%s: %s is %v, want %v, in %s", name, path, got, want, out)
			}
		}
		for _, path := range c.hasNot {
			if got := at(d, path); got != nil {
				t.Errorf("%s: %s is %v", name, path, got)
			}
		}
		var kinds []string
		findings, _ := at(d, "findings").([]any)
		for i := range findings {
			kinds = append(kinds, fmt.Sprint(at(findings[i], "kind")))
		}
		if findings == nil || !slices.Equal(kinds, c.findings) {
			t.Errorf("%s: findings %v, want %v, in %s", name, kinds, c.findings, out)
		}
	}
	if code, out, errs := run(t, "", "--safety", "chaos", "doctor", "--json"); code != 2 || out != "" || !strings.Contains(errs, "--safety chaos") {
		t.Errorf("a wrong flag: code %d, %q, %q", code, out, errs)
	}
	if code, out, _ := run(t, "", "doctor", "--json", "extra"); code != 2 || out != "" {
		t.Errorf("an extra word: code %d, %q", code, out)
	}
	if _, out, _ := run(t, "", "__complete", "doctor", "--j"); !strings.HasPrefix(out, "--json\t") {
		t.Errorf("completion: %q", out)
	}
}

// at is a value in a JSON document.
func at(v any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		if list, ok := v.([]any); ok {
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(list) {
				return nil
			}
			v = list[i]
			continue
		}
		object, _ := v.(map[string]any)
		v = object[key]
	}
	return v
}

// TestDoctorJSONInAPane: what the agent's own pane is.
func TestDoctorJSONInAPane(t *testing.T) {
	srv, other := tmuxtest.New(t), tmuxtest.New(t)
	program := filepath.Join(t.TempDir(), "tmux-mcp")
	if out, err := exec.Command("go", "build", "-o", program, "tmuxmcp/cmd/tmux-mcp").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	tmuxtest.Run(t, srv, "new-session", "-d", "cat") // else the server ends with the first pane
	for _, c := range []struct{ socket, place, of string }{{srv.SocketPath(), "here", ""}, {other.SocketPath(), "elsewhere", srv.SocketPath()}} {
		file := filepath.Join(t.TempDir(), "out")
		tmuxtest.Run(t, srv, "new-session", "-d", fmt.Sprintf("%s --tmux %s -S %s doctor --json >%s.part; mv %s.part %s", program, srv.Binary(), c.socket, file, file, file))
		var d server.Diagnosis
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			b, err := os.ReadFile(file)
			if err == nil {
				if err := json.Unmarshal(b, &d); err != nil {
					t.Fatalf("%v in %s", err, b)
				}
				break
			}
			if time.Now().After(deadline) {
				t.Fatal(err)
			}
		}
		if d.Caller == nil || d.Caller.Place != c.place || d.Caller.Pane == "" || d.Caller.Socket != c.of {
			t.Errorf("from a pane of %s, on %s: the caller is %+v, want it %s", srv.SocketPath(), c.socket, d.Caller, c.place)
		}
	}
}

func TestDoctorSeesThatNoServerCanStart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	if code, out, _ := run(t, "", "--tmux", tmuxtest.Binary(t), "-S", dir+"/s", "doctor"); code != 1 || !strings.Contains(out, "problem   there is no directory "+dir) {
		t.Errorf("no directory: code %d, %s", code, out)
	}
	if code, out, errs := run(t, "", "--tmux", "no-such-tmux", "doctor"); code != 1 || !strings.Contains(out+errs, "with --tmux") {
		t.Errorf("not on PATH: code %d, %s%s", code, out, errs)
	}
}

// TestWarningsNameTheVariableThatIsSet: libtmux-mcp's names are honoured too.
func TestWarningsNameTheVariableThatIsSet(t *testing.T) {
	srv := tmuxtest.New(t)
	for _, name := range []string{"LIBTMUX_SAFETY", "TMUX_MCP_SAFETY"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMUX", "")
			t.Setenv("TMUX_PANE", "")
			t.Setenv(name, "weird")
			var out, errs bytes.Buffer
			code := cli.Main([]string{"-S", srv.SocketPath(), "--tmux", srv.Binary(), "doctor"}, strings.NewReader(""), &out, &errs)
			if want := "tmux-mcp: " + name + " is none of readonly, mutating, destructive: the server is readonly\n"; code != 0 || errs.String() != want || !strings.Contains(out.String(), "tier      readonly") {
				t.Errorf("code %d, standard error %q, want %q; %s", code, errs.String(), want, out.String())
			}
		})
	}
}

// TestAReaderThatHasSeenEnough: as head does.
func TestAReaderThatHasSeenEnough(t *testing.T) {
	srv := tmuxtest.New(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	var errs bytes.Buffer
	if cli.Main([]string{"-S", srv.SocketPath(), "--tmux", srv.Binary(), "tools"}, strings.NewReader(""), w, &errs); errs.Len() > 0 {
		t.Errorf("it complains: %s", errs.String())
	}
}

func TestAuditLogIsAppended(t *testing.T) {
	srv := tmuxtest.New(t)
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "a", "cat")
	log := filepath.Join(t.TempDir(), "audit")
	for range 2 {
		if code, _, errs := run(t, "", "-S", srv.SocketPath(), "--tmux", srv.Binary(), "--audit-log", log, "call", "list_panes", `{"session_name":"a"}`); code != 0 {
			t.Fatal(errs)
		}
	}
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(string(b)), "\n"); len(lines) != 2 || !json.Valid([]byte(lines[1])) || !strings.Contains(lines[1], `"tool":"list_panes"`) {
		t.Errorf("the log is %s", b)
	}
	info, err := os.Stat(log)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the log's mode is %v, %v", info.Mode(), err)
	}
}

func TestEnvironmentThatContradictsItselfStopsTheStart(t *testing.T) {
	// A flag decides, so that the contradiction does not matter.
	for _, flag := range []string{"", "-L x"} {
		t.Setenv("LIBTMUX_SOCKET", "a")
		t.Setenv("LIBTMUX_SOCKET_PATH", "/b")
		t.Setenv("TMUX", "")
		var out, errs bytes.Buffer
		code := cli.Main(append(strings.Fields(flag), "--tmux", "/bin/true", "tools"), strings.NewReader(""), &out, &errs)
		if flag == "" && (code != 2 || !strings.Contains(errs.String(), "both set")) {
			t.Errorf("code %d, %s", code, errs.String())
		}
		if flag != "" && code != 0 {
			t.Errorf("with %s: code %d, %s", flag, code, errs.String())
		}
	}
}

// TestASocketFlagStaysOutOfTheEnvironment: what a tmux server inherits from the
// program that started it says nothing of a socket when a flag named the socket.
func TestASocketFlagStaysOutOfTheEnvironment(t *testing.T) {
	srv := tmuxtest.New(t)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("TMUX", "")
	t.Setenv("TMUX_PANE", "")
	t.Setenv("LIBTMUX_SOCKET", "other")
	t.Setenv("TMUX_MCP_SOCKET_PATH", "/other")
	t.Setenv("TMUX_MCP_WAIT_MAX_SECONDS", "7")
	var out, errs bytes.Buffer
	args := []string{"-S", srv.SocketPath(), "--tmux", srv.Binary(), "call", "create_session", `{"session_name":"a"}`}
	if code := cli.Main(args, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("code %d, %s", code, errs.String())
	}
	inherited := tmuxtest.Run(t, srv, "show-environment", "-g")
	if !strings.Contains(inherited, "TMUX_MCP_WAIT_MAX_SECONDS=7") {
		t.Errorf("the environment is not that of the program: %s", inherited)
	}
	for _, name := range []string{"TMUX_MCP_SOCKET", "LIBTMUX_SOCKET"} {
		if strings.Contains(inherited, name) {
			t.Errorf("the tmux server inherited %s:\n%s", name, inherited)
		}
	}
}

// TestOutOfThePlugin: a client of Agent Plugins starts the server in the plugin's
// directory. Sessions do not start there, but at home.
func TestOutOfThePlugin(t *testing.T) {
	home, plugin, project := t.TempDir(), t.TempDir(), t.TempDir()
	for _, c := range []struct{ root, dir, want string }{
		{plugin, plugin, home},
		{plugin, project, project},
		{"", project, project},
		{plugin + "/none", project, project},
	} {
		srv := tmuxtest.New(t)
		t.Chdir(c.dir)
		t.Setenv("HOME", home)
		t.Setenv("PLUGIN_ROOT", c.root)
		call := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"create_session","arguments":{"session_name":"a"}}}
`
		code, out, errs := run(t, call, "-S", srv.SocketPath(), "--tmux", srv.Binary())
		if code != 0 || !strings.Contains(out, `"id":2`) {
			t.Fatalf("code %d: %s%s", code, out, errs)
		}
		if got := tmuxtest.Run(t, srv, "display-message", "-p", "-t", "a:", "#{session_path}"); strings.TrimSpace(got) != c.want {
			t.Errorf("PLUGIN_ROOT=%s in %s: the session starts in %q, want %s", c.root, c.dir, got, c.want)
		}
	}
}
