package caller

import (
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"

	"tmuxmcp/tmux"
)

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
	noPane := map[string]string{"TMUX": "/tmp/s,3,0"}
	below := lost
	below.Below = true
	popup := below
	popup.Popup = true
	for _, c := range []struct {
		name  string
		env   map[string]string
		above []ancestor
		want  Caller
	}{
		{"outside tmux", nil, []ancestor{self, client(nil), shell(nil)}, Caller{}},
		{"in a pane", in("%5", 3), []ancestor{self, client(in("%5", 3)), shell(in("%5", 3)), server}, Caller{Pane: "%5", Socket: "/tmp/s", Server: 3, Below: true}},
		{"a client without the variables", nil, []ancestor{self, client(nil), shell(in("%5", 3)), server}, Caller{Pane: "%5", Socket: "/tmp/s", Server: 3, Below: true}},
		{"variables of another pane", in("%1", 3), []ancestor{self, client(in("%1", 3)), shell(in("%5", 3)), server}, Caller{Pane: "%5", Socket: "/tmp/s", Server: 3, Below: true}},
		{"a pane that cannot be read", in("%5", 3), []ancestor{self, client(nil), shell(nil), server}, Caller{Pane: "%5", Socket: "/tmp/s", Server: 3, Below: true}},
		{"a pane that nothing names", map[string]string{"TMUX": "/tmp/s,3,0"}, []ancestor{self, client(nil), shell(nil), server}, below},
		{"a popup", noPane, []ancestor{self, client(noPane), shell(noPane), server}, popup},
		{"a popup of a client without the variables", nil, []ancestor{self, client(nil), shell(noPane), server}, popup},
		{"a daemon", in("%5", 3), []ancestor{self, client(in("%5", 3))}, lost},
		{"a daemon that passes nothing on", nil, []ancestor{self, client(in("%5", 3))}, lost},
		{"nothing can be read", in("%5", 3), nil, Caller{Socket: "/tmp/s", Server: 3, Lost: true}},
		{"one empty variable", map[string]string{"TMUX": ""}, []ancestor{self, client(in("%5", 3)), shell(in("%5", 3)), server}, Caller{Pane: "%5", Socket: "/tmp/s", Server: 3, Below: true}},
		{"empty variables", map[string]string{"TMUX": "", "TMUX_PANE": ""}, []ancestor{self, client(in("%5", 3)), shell(in("%5", 3)), server}, Caller{Outside: true}},
	} {
		if got := callerOf(c.env, c.above); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
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
	running := tmux.Process{PID: 7, Here: true}
	for _, c := range []struct {
		name      string
		who       Caller
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
		{"a pane of nothing known", Caller{Lost: true}, nil, true},
		{"the process", Caller{Socket: filepath.Join(dir, "gone"), Server: running.PID, Lost: true}, nil, true},
		{"one that ran there before", Caller{Socket: server, Server: running.PID + 1, Lost: true}, nil, true},
		{"another process, whose socket is gone", Caller{Socket: filepath.Join(dir, "gone"), Server: running.PID + 1, Lost: true}, nil, false},
		{"another process, a socket of the same name", Caller{Socket: filepath.Join(dir, "elsewhere", "sock"), Server: running.PID + 1, Lost: true}, nil, false},
	} {
		srv, err := tmux.New(tmux.Config{Binary: "/bin/true", SocketPath: server})
		if err != nil {
			t.Fatal(err)
		}
		here, err := c.who.On(t.Context(), srv)
		if err != nil {
			t.Fatal(err)
		}
		if got := here.Is("%0"); !reflect.DeepEqual(got, c.annotated) {
			t.Errorf("%s: is_caller is %v", c.name, got)
		}
		if got := here.Possible(running); got != c.guarded {
			t.Errorf("%s: guarded is %t", c.name, got)
		}
	}
}

func ptr[T any](v T) *T { return &v }
