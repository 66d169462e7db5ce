package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tmuxmcp/internal/test/cases"
	"tmuxmcp/internal/test/testtool"
)

// A modelClient is an agent CLI whose model is a stand-in, a case of testdata/models.txtar.
type modelClient struct {
	name string // of the program, and in the figures
	api  api
	// files are the files that it needs below its home, args its arguments there, and env
	// additional variables. In them {URL} is the stand-in's, {SERVER} the MCP server's
	// program, and {HOME} the home.
	files map[string]string
	args  []string
	env   []string
	// typed is how it is run for a user, if it can ask one. keys are what the user then
	// presses, in order, each once a regular expression matches the screen.
	typed []string
	keys  [][2]string
	// install are shell commands to run first in the home, if any.
	install string
	// loads is set if the client holds back tools until its model searches for them.
	loads bool
	// settings are the settings of the case.
	settings cases.Case
}

func modelClients(t *testing.T) (all []modelClient) {
	t.Helper()
	loaded := cases.Load(t, "testdata/models.txtar", "like", "api", "args", "env", "typed", "key", "loads",
		"agent", "first", "shell", "dialog", "spaces")
	for _, c := range loaded {
		if like := slices.IndexFunc(loaded, func(other cases.Case) bool { return other.Name == c.One("like") }); like >= 0 {
			c.Texts = loaded[like].Texts
			for name, values := range loaded[like].Settings {
				if c.Settings[name] == nil {
					c.Settings[name] = values
				}
			}
		}
		m := modelClient{
			name: c.Name, files: c.Texts, args: strings.Fields(c.One("args")), env: c.Settings["env"],
			typed: strings.Fields(c.One("typed")), loads: c.One("loads") == "true", settings: c,
			api: served[c.One("api")],
		}
		for _, key := range c.Settings["key"] {
			screen, key, _ := strings.Cut(key, " => ")
			m.keys = append(m.keys, [2]string{screen, key})
		}
		all = append(all, m)
	}
	return all
}

// scriptedClients returns the clients that run by themselves, and not only for a user.
func scriptedClients(t *testing.T) []modelClient {
	t.Helper()
	return slices.DeleteFunc(modelClients(t), func(c modelClient) bool { return len(c.args) == 0 })
}

// tmuxMCP puts the real tmux-mcp, built once, into the home, and returns its path.
func (h *home) tmuxMCP() string {
	h.Helper()
	program, err := builtServer()
	if err != nil {
		h.Fatal(err)
	}
	h.writeProgram("tmux-mcp", string(program))
	return filepath.Join(h.dir, "tmux-mcp")
}

var builtServer = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "tmux-mcp")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if out, err := exec.Command("go", "build", "-o", dir, "../../cmd/tmux-mcp").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build: %v\n%s", err, out)
	}
	return os.ReadFile(filepath.Join(dir, "tmux-mcp"))
})

// A stage is a home with a tmux server of 40 panes. The client runs in %0, with a stand-in
// for its model.
type stage struct {
	*home
	modelClient
}

// screenLine is the format of the 35 lines that %1 shows.
const screenLine = "line %04g of some text that is on the screen"

func newStage(t *testing.T, c modelClient) *stage {
	t.Helper()
	testtool.Path(t, "tmux")
	s := &stage{newHome(t, c.name), c}
	// Names that follow the running program, and titles with the machine's name, would
	// change the measurements.
	life := "600"
	if os.Getenv("PROMPTS") != "" {
		life = "7200"
	}
	idle := "exec sleep " + life
	s.tmux("set", "-g", "automatic-rename", "off", ";", "set", "-g", "remain-on-exit", "on", ";",
		"new-session", "-d", "-s", "agent", "-n", "agent", "-x", "120", "-y", "40", idle)
	s.tmux("new-session", "-d", "-s", "work", "-n", "shell", "-x", "120", "-y", "40", "seq -f '"+screenLine+"' 35; exec sh")
	// If the test is killed, this ends what it has started.
	s.tmux("new-window", "-d", "-t", "work:", "-n", "idle", "sleep "+life+"; tmux kill-server", ";", "split-window", "-d", "-t", "work:1", idle)
	for w := 1; w <= 6; w++ {
		window := fmt.Sprintf("agent:%d", w)
		args := []string{"new-window", "-d", "-t", window, "-n", "idle", idle}
		for range 5 {
			args = append(args, ";", "split-window", "-d", "-t", window, idle, ";", "select-layout", "-t", window, "tiled")
		}
		s.tmux(args...)
	}
	titles := []string{"list-sessions"}
	for pane := range 40 {
		titles = append(titles, ";", "select-pane", "-t", fmt.Sprintf("%%%d", pane), "-T", "title")
	}
	s.tmux(titles...)
	return s
}

func (s *stage) socket() string { return filepath.Join(s.dir, "tmux") }

func (s *stage) tmux(args ...string) string {
	s.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", s.socket(), "-f", "/dev/null"}, args...)...)
	cmd.Dir = "/"
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// awaitText waits until a pane shows a text.
func (s *stage) awaitText(pane, text string) {
	s.Helper()
	testtool.Eventually(s, pane+" shows "+text, func() bool { return strings.Contains(s.tmux("capture-pane", "-p", "-t", pane), text) })
}

// playing is how long a client may take for a script.
const playing = 3 * time.Minute

var errNoEnd = errors.New("the client has not ended")

// play runs the client in %0 with a model that follows the script: for a user, if typed,
// else by itself. What it prints is for the test's log.
func (s *stage) play(script Script, typed bool) (v View, said string, err error) {
	s.Helper()
	script.Server, script.Final = "tmux", "That is all."
	if s.loads {
		var names []string
		for _, c := range script.Calls {
			names = append(names, "mcp__tmux__"+c.Tool)
		}
		search := fmt.Sprintf(`{"query": "select:%s"}`, strings.Join(names, ","))
		script.Calls = append([]Call{{Tool: "ToolSearch", Args: search}}, script.Calls...)
	}
	model, err := start(script, s.api)
	if err != nil {
		s.Fatal(err)
	}
	defer model.Close()

	fill := strings.NewReplacer("{URL}", model.URL, "{SERVER}", filepath.Join(s.dir, "server"), "{HOME}", s.dir)
	for name, text := range s.files {
		s.write(name, fill.Replace(text))
	}
	s.tmuxMCP()
	s.writeProgram("server", fill.Replace("#!/bin/sh\ntee {HOME}/asked | {HOME}/tmux-mcp --safety destructive | tee {HOME}/answered\n"))
	args, streams := s.args, "</dev/null >said 2>&1"
	if typed {
		args, streams = s.typed, ""
	}
	run := "cd {HOME}\n"
	for _, kv := range s.modelClient.env {
		run += "export '" + kv + "'\n"
	}
	if s.install != "" {
		s.write("install", fill.Replace(s.install))
		run += "sh -ex install >installed 2>&1 || { cat installed >said; echo 1 >ended; exit; }\n"
	}
	run += s.name
	for _, a := range args {
		run += " '" + a + "'"
	}
	s.write("run", fill.Replace(run+" "+streams+"\necho $? >ended\n"))
	s.tmux("respawn-pane", "-k", "-t", "%0", "sh "+s.dir+"/run")

	keys := s.keys
	if typed {
		// Clients begin before their servers are there.
		keys = append([][2]string{{"[❯›]", "go"}, {"[❯›].?go", "Enter"}}, keys...)
	}
	for deadline := time.Now().Add(playing); ; time.Sleep(50 * time.Millisecond) {
		var wrong error
		v, wrong = model.View()
		_, running := os.Stat(filepath.Join(s.dir, "ended"))
		if running == nil || typed && v.Ended || wrong != nil {
			err = wrong
			break
		}
		if time.Now().After(deadline) {
			err = fmt.Errorf("%w, in %%0 of these panes: %s", errNoEnd, strings.Fields(s.tmux("list-panes", "-a", "-F", "#{pane_id}")))
			break
		}
		if typed && len(keys) > 0 && strings.Contains(s.read("answered"), `"kill_pane"`) && found(s.screen(), keys[0][:1]) {
			s.tmux("send-keys", "-t", "%0", keys[0][1])
			keys = keys[1:]
		}
	}
	said = s.read("said")
	if typed {
		said = s.screen()
		if err == nil && len(keys) > 0 {
			err = fmt.Errorf("it has not shown %q", keys[0][0])
		}
	}
	if s.loads && len(v.Results) > 0 {
		v.Results = v.Results[1:]
	}
	return v, said, err
}

// screen is what %0 shows, empty if it is gone.
func (s *stage) screen() string {
	out, _ := exec.Command("tmux", "-S", s.socket(), "capture-pane", "-p", "-t", "%0").Output()
	return strings.TrimSpace(string(out))
}

// handshake returns what the client and the MCP server have agreed on: the revision of the
// protocol, which a newer client repeats in each call, and the instructions.
func (s *stage) handshake() (revision, instructions string) {
	for line := range strings.Lines(s.read("answered")) {
		var m struct {
			Result struct{ ProtocolVersion, Instructions string }
		}
		if json.Unmarshal([]byte(line), &m) == nil && m.Result.Instructions != "" {
			revision, instructions = m.Result.ProtocolVersion, m.Result.Instructions
		}
	}
	for line := range bytes.Lines([]byte(s.read("asked"))) {
		var m struct {
			Params struct {
				Meta map[string]any `json:"_meta"`
			}
		}
		if json.Unmarshal(line, &m) == nil {
			if r, ok := m.Params.Meta["io.modelcontextprotocol/protocolVersion"].(string); ok {
				revision = r
			}
		}
	}
	return revision, instructions
}
