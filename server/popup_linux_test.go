package server_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/server"
	"tmuxmcp/tmux"
)

// In a popup tmux sets TMUX and no TMUX_PANE.
func TestDoctorInPopup(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "a")
	testserver.Attach(t, srv, "a", 80, 24)
	testserver.Wait(t, srv, "=a:", "client", func() bool { return testserver.Run(t, srv, "list-clients") != "" })
	doctor := func(socket string) (text string, d server.Diagnosis) {
		out := filepath.Join(t.TempDir(), "out")
		run := tmux.ShellQuote(program()) + " -S " + tmux.ShellQuote(socket) + " --tmux " + tmux.ShellQuote(srv.Binary())
		testserver.Run(t, srv, "display-popup", "-E", run+" doctor >"+out+"; "+run+" doctor --json >"+out+".json; :")
		read := func(path string) []byte {
			var raw []byte
			testserver.Wait(t, srv, "=a:", path, func() bool { raw, _ = os.ReadFile(path); return len(raw) > 0 })
			return raw
		}
		text = string(read(out))
		testserver.Wait(t, srv, "=a:", "JSON", func() bool { return json.Unmarshal(read(out+".json"), &d) == nil })
		return text, d
	}
	text, d := doctor(srv.SocketPath())
	if d.Caller.Place != "popup" || d.Caller.Socket != "" || !strings.Contains(strings.Join(strings.Fields(text), " "), "caller in a popup of this server") {
		t.Errorf("%+v\n%s", d.Caller, text)
	}
	other := testserver.New(t)
	session(t, other, "b")
	text, d = doctor(other.SocketPath())
	if d.Caller.Place != "popup" || d.Caller.Socket != srv.SocketPath() || !strings.Contains(strings.Join(strings.Fields(text), " "), "caller in a popup of "+srv.SocketPath()) {
		t.Errorf("%+v\n%s", d.Caller, text)
	}
}
