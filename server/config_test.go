package server

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

func TestEnvironment(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "variables.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		env, want, found := strings.Cut(strings.TrimSpace(line), " -> ")
		if !found {
			continue
		}
		variables := strings.Fields(strings.TrimPrefix(env, "(nothing)"))
		cfg, warnings, err := FromEnv(append(variables, "TMUX=", "TMUX_PANE="))
		field, value, _ := strings.Cut(want, " ")
		if field == "error" {
			if err == nil || !strings.Contains(err.Error(), value) || strings.Contains(err.Error(), "sekrit") {
				t.Errorf("%s: error %v, want one with %q", env, err, value)
			}
			continue
		}
		value, warns := strings.CutSuffix(value, " !")
		if got := fmt.Sprint(reflect.ValueOf(cfg).FieldByName(field)); err != nil || got != value {
			t.Errorf("%s: %s is %q, want %q: %v", env, field, got, value, err)
		}
		if (len(warnings) > 0) != warns {
			t.Errorf("%s: warns %q", env, warnings)
		}
	}
}

// TestEveryMisspeltVariableStopsTheStart derives misspellings from each variable.
func TestEveryMisspeltVariableStopsTheStart(t *testing.T) {
	t.Parallel()
	known := knownVariables()
	for _, name := range known {
		prefix := strings.TrimSuffix(name[:len(name)-1], strings.TrimPrefix(strings.TrimPrefix(name[:len(name)-1], "LIBTMUX_"), "TMUX_MCP_"))
		if prefix == "" {
			continue // another program's
		}
		stem := name[len(prefix):]
		for i := range len(stem) - 1 {
			for _, wrong := range []string{
				prefix + stem[:i] + stem[i+1:], prefix + stem[:i] + "X" + stem[i:], prefix + stem[:i] + stem[i+1:i+2] + stem[i:i+1] + stem[i+2:], prefix + strings.ToLower(stem),
			} {
				if slices.Contains(known, wrong) {
					continue
				}
				if _, _, err := FromEnv([]string{wrong + "=x", "TMUX=", "TMUX_PANE="}); err == nil || !strings.Contains(err.Error(), "unknown variable "+wrong+"; did you mean ") {
					t.Errorf("%s: %v", wrong, err)
				}
			}
		}
	}
}

func TestCallerFromVariables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tmux, pane string
		socket     string
		want       tmux.PaneID
	}{
		{"", "", "", ""},
		{"/tmp/tmux-0/default,123,0", "%5", "/tmp/tmux-0/default", "%5"},
		{"/tmp/a,b,7/s,123,0", "%5", "/tmp/a,b,7/s", "%5"},
		{"/tmp/x,1,2,123,0", "%5", "/tmp/x,1,2", "%5"},
		{"/tmp/s", "%5", "/tmp/s", "%5"},
		{"", "%5", "", "%5"},
		{"/tmp/s,1,0", "", "/tmp/s", ""},
		{"garbage", "five", "", ""},
		{",,", "%", "", ""},
	} {
		pane, socket, _ := paneVariables(map[string]string{"TMUX": c.tmux, "TMUX_PANE": c.pane})
		if pane != c.want || socket != c.socket {
			t.Errorf("TMUX=%q TMUX_PANE=%q: pane %q of %q, want %q of %q", c.tmux, c.pane, pane, socket, c.want, c.socket)
		}
	}
}

func TestCallerNeedsProof(t *testing.T) {
	t.Parallel()
	in := func(pane string, server int) map[string]string {
		return map[string]string{"TMUX": "/tmp/s," + strconv.Itoa(server) + ",0", "TMUX_PANE": pane}
	}
	self := ancestor{pid: 9, program: "/bin/tmux-mcp"}
	client := func(env map[string]string) ancestor { return ancestor{8, "/bin/agent", env} }
	shell := func(env map[string]string) ancestor { return ancestor{7, "/bin/sh", env} }
	server := ancestor{pid: 3, program: "/bin/tmux"}
	lost := Caller{Socket: "/tmp/s", Server: 3, Lost: true, Client: "/bin/agent"}
	for _, c := range []struct {
		name  string
		env   map[string]string
		above []ancestor
		want  Caller
	}{
		{"outside tmux", nil, []ancestor{self, client(nil), shell(nil)}, Caller{}},
		{"in a pane", in("%5", 3), []ancestor{self, client(in("%5", 3)), shell(in("%5", 3)), server}, Caller{Pane: "%5", Socket: "/tmp/s", Server: 3}},
		{"a client without the variables", nil, []ancestor{self, client(nil), shell(in("%5", 3)), server}, Caller{Pane: "%5", Socket: "/tmp/s", Server: 3}},
		{"variables of another pane", in("%1", 3), []ancestor{self, client(in("%1", 3)), shell(in("%5", 3)), server}, Caller{Pane: "%5", Socket: "/tmp/s", Server: 3}},
		{"a pane that cannot be read", in("%5", 3), []ancestor{self, client(nil), shell(nil), server}, Caller{Pane: "%5", Socket: "/tmp/s", Server: 3}},
		{"a pane that nothing names", map[string]string{"TMUX": "/tmp/s,3,0"}, []ancestor{self, client(nil), shell(nil), server}, lost},
		{"a daemon", in("%5", 3), []ancestor{self, client(in("%5", 3))}, lost},
		{"a daemon that passes nothing on", nil, []ancestor{self, client(in("%5", 3))}, lost},
		{"nothing can be read", in("%5", 3), nil, Caller{Socket: "/tmp/s", Server: 3, Lost: true}},
		{"one empty variable", map[string]string{"TMUX": ""}, []ancestor{self, client(in("%5", 3)), shell(in("%5", 3)), server}, Caller{Pane: "%5", Socket: "/tmp/s", Server: 3}},
		{"empty variables", map[string]string{"TMUX": "", "TMUX_PANE": ""}, []ancestor{self, client(in("%5", 3)), shell(in("%5", 3)), server}, Caller{Outside: true}},
	} {
		if got := callerOf(c.env, c.above); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestSocketPrecedence(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	real, err := filepath.EvalSymlinks(tmp)
	if err != nil {
		t.Fatal(err)
	}
	named := func(name string) string { return filepath.Join(real, "tmux-"+strconv.Itoa(os.Getuid()), name) }
	for _, c := range []struct {
		env, socketName, want string
	}{
		{"", "", named("default")},
		{"", "call", named("call")},
		{"TMUX=/own/s,1,0", "", "/own/s"},
		{"TMUX=/own/s,1,0 LIBTMUX_SOCKET=env", "", named("env")},
		{"TMUX=/own/s,1,0 LIBTMUX_SOCKET_PATH=/env/path", "", "/env/path"},
		{"LIBTMUX_SOCKET_PATH=/env/path", "call", named("call")},
		{"TMUX=/own/s,1,0", "call", named("call")},
	} {
		env := append(strings.Fields(c.env), "TMUX_TMPDIR="+tmp, "TMUX_PANE=%1", "LIBTMUX_TMUX_BIN=/bin/true")
		if !strings.Contains(c.env, "TMUX=") {
			env = append(env, "TMUX=")
		}
		cfg, _, err := FromEnv(env)
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		srv, err := s.handle(c.socketName)
		if err != nil {
			t.Fatal(err)
		}
		if srv.SocketPath() != c.want {
			t.Errorf("%s, socket_name %q: %s, want %s", c.env, c.socketName, srv.SocketPath(), c.want)
		}
	}
	// A thinned-out environment: names lie beside the caller's own socket.
	cfg, _, err := FromEnv([]string{"TMUX=" + named("mine") + ",1,0", "TMUX_PANE=%1", "LIBTMUX_TMUX_BIN=/bin/true"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if srv, err := s.handle("other"); err != nil || srv.SocketPath() != named("other") {
		t.Errorf("without TMUX_TMPDIR: %v, %v", srv.SocketPath(), err)
	}
}

func TestCallerComparators(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	server := filepath.Join(dir, "sock")
	if err := os.Mkdir(filepath.Join(dir, "elsewhere"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sock", "other", "elsewhere/sock"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name      string
		caller    Caller
		annotated *bool
		guarded   bool
	}{
		{"no caller", Caller{}, nil, false},
		{"same", Caller{Pane: "%0", Socket: server}, ptr(true), true},
		{"through a symlink", Caller{Pane: "%0", Socket: filepath.Join(link, "sock")}, ptr(true), true},
		{"another pane", Caller{Pane: "%1", Socket: server}, ptr(false), true},
		{"another socket", Caller{Pane: "%0", Socket: filepath.Join(dir, "other")}, ptr(false), false},
		{"a socket that is gone, or renamed", Caller{Pane: "%0", Socket: filepath.Join(dir, "gone")}, ptr(false), true},
		{"a socket of the same name", Caller{Pane: "%0", Socket: filepath.Join(dir, "elsewhere", "sock")}, ptr(false), true},
		{"no socket known", Caller{Pane: "%0"}, ptr(false), true},
	} {
		s, err := New(Config{Tmux: "/bin/true", SocketPath: server, Caller: c.caller})
		if err != nil {
			t.Fatal(err)
		}
		srv := s.handles[""]
		own, err := s.callerPane(t.Context(), srv)
		if err != nil {
			t.Fatal(err)
		}
		if got := (&call{s: s, ownPane: own}).isCaller("%0"); !reflect.DeepEqual(got, c.annotated) {
			t.Errorf("%s: is_caller is %v", c.name, got)
		}
		if got := s.mayHurtCaller(srv); got != c.guarded {
			t.Errorf("%s: guarded is %t", c.name, got)
		}
	}
}

func ptr[T any](v T) *T { return &v }

// TestTheProgramIsFoundOnce: the tmux found at the start serves every socket, whatever is
// on PATH later.
func TestTheProgramIsFoundOnce(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	for _, dir := range []string{first, second} {
		if err := testtool.WriteProgram(filepath.Join(dir, "tmux"), []byte("#!/bin/sh\n")); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", first)
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", second)
	for _, name := range []string{"", "work"} {
		srv, err := s.handle(name)
		if err != nil {
			t.Fatal(err)
		}
		if want := filepath.Join(first, "tmux"); srv.Binary() != want || s.tmuxConfig().Binary != want {
			t.Errorf("socket %q is reached by %s and %s, want %s", name, srv.Binary(), s.tmuxConfig().Binary, want)
		}
	}
}
