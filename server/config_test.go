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
		srv, err := s.sockets.Get(c.socketName)
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
	if srv, err := s.sockets.Get("other"); err != nil || srv.SocketPath() != named("other") {
		t.Errorf("without TMUX_TMPDIR: %v, %v", srv.SocketPath(), err)
	}
}

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
	for _, get := range []func() (*tmux.Server, error){
		func() (*tmux.Server, error) { return s.sockets.Get("") },
		func() (*tmux.Server, error) { return s.sockets.Get("work") },
		func() (*tmux.Server, error) { return s.sockets.At("/other/s") },
	} {
		srv, err := get()
		if err != nil {
			t.Fatal(err)
		}
		if want := filepath.Join(first, "tmux"); srv.Binary() != want {
			t.Errorf("socket %s is reached by %s, want %s", srv.SocketPath(), srv.Binary(), want)
		}
	}
}

// TestAgentRules: a path that is not absolute names no directory.
func TestAgentRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  []string
		want string
	}{
		{[]string{"XDG_CONFIG_HOME=/c", "HOME=/h"}, "/c/tmux-mcp/agents"},
		{[]string{"HOME=/h"}, "/h/.config/tmux-mcp/agents"},
		{[]string{"XDG_CONFIG_HOME=", "HOME=/h"}, "/h/.config/tmux-mcp/agents"},
		{[]string{"XDG_CONFIG_HOME=c", "HOME=/h"}, "/h/.config/tmux-mcp/agents"},
		{[]string{"XDG_CONFIG_HOME=c", "HOME="}, ""},
		{[]string{"HOME=h"}, ""},
		{nil, ""},
	} {
		if cfg, _, err := FromEnv(c.env); err != nil || cfg.AgentRules != c.want {
			t.Errorf("%q: %q %v, want %q", c.env, cfg.AgentRules, err, c.want)
		}
	}
}
