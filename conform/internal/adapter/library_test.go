package adapter

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

// Package tmux, as an adapter, answers every call. The requests are as their schema says.
func TestLibrary(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	testserver.Run(t, srv, "new-session", "-d", "-x", "80", "-y", "24", "-s", "a<b>&c", "-n", "first", "echo ERROR 42; exec sleep 600")
	testserver.Run(t, srv, "new-window", "-d", "-n", "zwei Wörter", "exec sleep 600")
	testserver.Run(t, srv, "set-buffer", "-b", "some buffer", "text\x01")
	testserver.WaitScreen(t, srv, "%0", "ERROR")
	version, err := srv.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a, err := Start(t.Context(), Config{Words: []string{exe}, Env: append(os.Environ(), "ADAPTER_TEST_LIBRARY=1"), Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}()
	if a.Described != *PackageTmux() {
		t.Errorf("it describes itself as %+v", a.Described)
	}
	if err := Open(t.Context(), a, srv.Binary(), srv.SocketPath(), version.String()); err != nil {
		t.Fatal(err)
	}
	requests := requestSchema(t)
	for _, line := range []string{
		"info", "show $0", "show @1", "show %0", "show %9", "show nobody", "show server",
		"list panes", "list panes 0", "list panes -in $0", "list panes -in @1", "list panes -in server", "list panes -in $9",
		"list windows #{==:#{window_index},1}", "list windows -in $0", "list windows -in @0",
		"list sessions", "list clients", "list buffers", "list buffers 0", "list clients -in $0",
		"display #{version}", "display @1 #{window_name}", "display @9 x", "display %0 ''", "display server x",
		"search error ignore-case", "search nowhere", "search ERR.R regexp", "search E* glob",
		"send-keys %1 -R -N 2", "send-keys %9 x", "capture %0", "pending %0", "reset %1",
		"run-shell echo a; exit 3", "run-shell -c / -E pwd",
		"select-window $0 1", "last-window $0", "select-window $0 x", "select-window $0 9",
		"command @0 list-panes -F #{pane_id}", "command @0 rename-window -t @1 x", "command %0 nonesuch", "command server x",
		"type @0 window_zoomed_flag", "type @0 nonesuch", "type @0 window_name", "fields window_zoomed_flag nonesuch",
		"new-session a<b>&c",
	} {
		c, err := Parse(words(line))
		if err != nil {
			t.Fatal(err)
		}
		targets := []string{"server", "%0", "@0", "$0"}
		for i, r := range c.Requests(targets) {
			message, err := envelope{ID: json.RawMessage("1"), Method: r.Method, Params: r.Params}.encode()
			if err != nil {
				t.Fatal(err)
			}
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(message))
			if err != nil {
				t.Fatal(err)
			}
			if err := requests.Validate(value); err != nil {
				t.Errorf("%s: request %d is not as the schema says: %v", line, i, err)
			}
		}
		answer, err := c.Do(t.Context(), a, targets)
		if failure := new(Failure); errors.As(err, &failure) || err == nil && answer.JSON == "" {
			t.Errorf("%s: no answer: %v", line, err)
		}
	}
}

func requestSchema(t *testing.T) *jsonschema.Schema {
	raw, err := json.Marshal(RequestSchema())
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("requests.json", document); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("requests.json")
}

// Each kind of objects is listed where tmux can list it, and refused elsewhere.
func TestListing(t *testing.T) {
	t.Parallel()
	const session, window = tmux.SessionID("$1"), tmux.WindowID("@2")
	for _, test := range []struct {
		kind, within string
		want         tmux.Lister
	}{
		{"panes", "", tmux.ListPanes{All: true, Filter: "f", Format: "F"}},
		{"panes", "server", tmux.ListPanes{All: true, Filter: "f", Format: "F"}},
		{"panes", "$1", tmux.ListPanes{Target: session, Session: true, Filter: "f", Format: "F"}},
		{"panes", "@2", tmux.ListPanes{Target: window, Filter: "f", Format: "F"}},
		{"windows", "server", tmux.ListWindows{All: true, Filter: "f", Format: "F"}},
		{"windows", "$1", tmux.ListWindows{Target: session, Filter: "f", Format: "F"}},
		{"windows", "@2", nil},
		{"sessions", "", tmux.ListSessions{Filter: "f", Format: "F"}},
		{"sessions", "$1", nil},
		{"buffers", "", tmux.ListBuffers{Filter: "f", Format: "F"}},
		{"buffers", "$1", nil},
		{"buffers", "@2", nil},
		{"clients", "server", tmux.ListClients{Filter: "f", Format: "F"}},
		{"clients", "$1", tmux.ListClients{Target: session, Filter: "f", Format: "F"}},
		{"clients", "@2", nil},
		{"horses", "", nil},
	} {
		got, err := listing(params{Kind: test.kind, Within: test.within, Filter: "f", Format: "F"})
		if got != test.want {
			t.Errorf("%s within %q: %+v, want %+v", test.kind, test.within, got, test.want)
		}
		if refused := "no list of " + test.kind + " within " + test.within; test.want == nil && (err == nil || err.Error() != refused) || test.want != nil && err != nil {
			t.Errorf("%s within %q: %v", test.kind, test.within, err)
		}
	}
}

// An adapter that is asked wrongly says so.
func TestLibraryMisuse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ method, params, want string }{
		{"nonesuch", `{}`, "no method nonesuch"},
		{"display", `{"format":"x"}`, "display before open"},
		{"display", `{"format":"x","nonesuch":1}`, `json: unknown field "nonesuch"`},
		{"display", `[]`, "json: cannot unmarshal array"},
	} {
		_, err := new(Library).Handle(t.Context(), test.method, json.RawMessage(test.params))
		if err == nil || err.Code >= 0 || !strings.HasPrefix(err.Message, test.want) {
			t.Errorf("%s %s: %v, want %s", test.method, test.params, err, test.want)
		}
	}
	var out bytes.Buffer
	if err := Serve(new(Library), strings.NewReader("{\n"), &out); err != nil || !strings.HasPrefix(out.String(), `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`) {
		t.Errorf("%v, %s", err, out.String())
	}
}

// Serve answers to what is no describe too before it is opened.
func TestServe(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	in := `{"jsonrpc":"2.0","id":1,"method":"describe","params":{"protocol":1}}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"nonesuch","params":{}}` + "\n"
	if err := Serve(new(Library), strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if _, err := readAnswer([]byte(lines[0]), 1); err != nil {
		t.Error(err)
	}
	if _, err := readAnswer([]byte(lines[1]), 2); err == nil || err.Error() != "no method nonesuch" {
		t.Error(err)
	}
}

// What JSON cannot carry as a text, and a list of nothing.
func TestResults(t *testing.T) {
	t.Parallel()
	text, _ := textResult("\xff\n", nil)
	list, _ := rowsResult[int](nil, nil)
	for want, r := range map[string]result{`{"base64":"/wo="}`: text, `{"rows":[]}`: list} {
		if got, err := json.Marshal(r); err != nil || string(got) != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
}
