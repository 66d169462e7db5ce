package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/server"
	"tmuxmcp/tmux"
)

// Another user's tmux server gets nothing through any tool, however a client or the
// environment names its socket, and the refusal says whose it is.
func TestAnotherUsersServerGetsNothing(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "su")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	uid := strconv.Itoa(os.Getuid())
	socket, planted := filepath.Join(dir, "tmux-"+uid, "default"), filepath.Join(dir, "planted")
	foreign := testserver.NewForeign(t, socket, "/etc/hosts", planted)
	plain := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LANG=C.UTF-8"}
	his := append(plain, "TMUX_TMPDIR="+dir)
	own := append(plain, "TMUX_TMPDIR="+t.TempDir())
	extra, _ := json.Marshal(map[string]any{"extra_socket_paths": []string{socket}})
	for _, way := range []tmux.Transport{tmux.TransportAuto, tmux.TransportNative, tmux.TransportExec} {
		for _, c := range []struct {
			what, tool, args string
			env              []string
			cfg              server.Config
		}{
			{"the default socket", "list_sessions", "{}", his, server.Config{}},
			{"the default socket, to write", "create_session", "{}", his, server.Config{}},
			{"a socket name of the configuration", "list_panes", "{}", his, server.Config{SocketName: "default"}},
			{"a socket path of the configuration", "get_server_info", "{}", own, server.Config{SocketPath: socket}},
			{"TMUX", "capture_pane", "{}", append(own, "TMUX="+socket+",1,0", "TMUX_PANE=%0"), server.Config{}},
			{"a socket name of the call", "list_sessions", `{"socket_name": "default"}`, his, server.Config{SocketPath: filepath.Join(dir, "none")}},
			{"all sockets", "list_servers", "{}", his, server.Config{}},
			{"an extra socket", "list_servers", string(extra), own, server.Config{}},
		} {
			cfg, _, err := server.FromEnv(c.env)
			if err != nil {
				t.Fatal(err)
			}
			cfg.Tmux, cfg.Transport = testserver.Binary(t), way
			if c.cfg.SocketName != "" || c.cfg.SocketPath != "" {
				cfg.SocketName, cfg.SocketPath = c.cfg.SocketName, c.cfg.SocketPath
			}
			s := newServer(t, cfg)
			res, err := s.Call(testserver.Context(t), c.tool, json.RawMessage(c.args))
			if err != nil {
				t.Fatal(err)
			}
			// A list of servers leaves it out, and says so.
			if text := server.Text(res); res.IsError == (c.tool == "list_servers") || !strings.Contains(text, "65534") || !strings.Contains(text, filepath.Dir(socket)) {
				t.Errorf("%s, %s: %s", way, c.what, text)
			}
			if c.tool != "list_servers" && !strings.Contains(c.args, "socket") {
				var out bytes.Buffer
				if server.Doctor(context.Background(), cfg, &out) || !strings.Contains(out.String(), "65534") {
					t.Errorf("%s, %s: doctor finds no problem:\n%s", way, c.what, &out)
				}
			}
		}
	}
	time.Sleep(200 * time.Millisecond) // for bytes that must not come
	if n := foreign.Received(); n != 0 {
		t.Errorf("the other user's server was sent %d bytes", n)
	}
	if _, err := os.Stat(planted); err == nil {
		t.Error("the other user's server made a file")
	}
}
