package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
)

const canary = "CANARY7331"

// canaries are texts that an error, or its log record, might repeat in another spelling.
var canaries = []string{canary, canary + "\n", "\n" + canary, " " + canary + "\t", "%" + canary, canary + ";", "#{" + canary + "}", "(" + canary, "/no/such/" + canary}

// planted returns calls of a tool with the canary in each of its arguments, as an argument
// that it does not have, and in place of all arguments. Files get the canary below dir.
func planted(r *rand.Rand, tool listedTool, texts []string, dir string) []toolCall {
	var calls []toolCall
	known := sensible()
	known["kill"], known["command"], known["run_command.command"] = []any{true}, []any{"true"}, []any{"true"}
	for _, text := range texts {
		for _, name := range tool.InputSchema.names() {
			value := text
			if name == "output_path" {
				value = filepath.Join(dir, text)
			}
			for _, v := range tool.InputSchema.Properties[name].withText(value) {
				args := tool.arguments(r, known)
				args[name] = v
				calls = append(calls, toolCall{tool.Name, args})
			}
		}
		args := tool.arguments(r, known)
		args["no_such_argument"] = map[string]any{"a": text}
		calls = append(calls, toolCall{tool.Name, args}, toolCall{tool.Name, map[string]any{text: text, text + "x": 7331}})
	}
	return calls
}

// TestLogsHoldNoArgument: with every log at its most verbose, whatever argument a secret is
// put into, and however the call ends, no log contains it.
func TestLogsHoldNoArgument(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*server.Config){
		"works":    func(*server.Config) {},
		"tier":     func(cfg *server.Config) { cfg.Tier = server.Readonly },
		"noserver": func(cfg *server.Config) { cfg.SocketPath += "-none" },
		"notmux":   func(cfg *server.Config) { cfg.Tmux, cfg.SocketPath = "/bin/false", cfg.SocketPath+"-none" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := testserver.New(t)
			session(t, srv, "a")
			testserver.Run(t, srv, "new-session", "-d", "-s", "b", "-x", "80", "-y", "24")
			var log lockedBuffer
			cfg := configFor(srv)
			cfg.Audit, cfg.Log, cfg.PromptsAsTools = jsonLog(&log), jsonLog(&log), true
			p := serve(t, cfg)
			tools := p.listed() // of every tier
			change(&cfg)
			p = serve(t, cfg)
			r := rand.New(rand.NewPCG(1, 2))
			texts := canaries
			if !testtool.Full {
				texts = canaries[:1]
			}
			calls := 0
			call := func(tool string, args any) {
				c, _ := p.begin("tools/call", map[string]any{"name": tool, "arguments": args})
				p.await(c)
				calls++
			}
			for i, tool := range tools {
				if tool.Name == "kill_server" && name == "works" || !testtool.Full && name != "works" && i%8 != len(name)%8 {
					continue // the first is of the tools' own server; below
				}
				for _, c := range planted(r, tool, texts, filepath.Dir(srv.SocketPath())) {
					call(c.tool, c.args)
					if r.IntN(6) == 0 {
						call("call_destructive_tools_batch", map[string]any{"on_error": "continue", "operations": []any{
							map[string]any{"tool": c.tool, "arguments": c.args}, map[string]any{"tool": canary, "arguments": c.args}, map[string]any{canary: canary},
							map[string]any{"tool": "send_keys", "arguments": `{"keys":"` + canary + `"}`},
						}})
					}
				}
				call(tool.Name, canary)
				call(tool.Name, []string{canary})
			}
			before := calls
			call(canary, map[string]any{})
			call("kill_server", map[string]any{"socket_name": canary})
			for _, text := range texts {
				e := url.PathEscape(text)
				for _, uri := range []string{"tmux://sessions/" + e, "tmux://sessions/a/windows/" + e, "tmux://panes/" + e, "tmux://panes/%250?socket_name=" + e, e} {
					p.request("resources/read", map[string]any{"uri": uri})
				}
				p.request("prompts/get", map[string]any{"name": "run_and_wait", "arguments": map[string]string{"command": text, "pane_id": text, text: text}})
				p.request(text, map[string]any{text: text})
				p.request("completion/complete", map[string]any{"ref": map[string]any{"type": "ref/prompt", "name": "run_and_wait"}, "argument": map[string]any{"name": "pane_id", "value": text}})
			}
			logged := log.String()
			records := strings.Count(logged, `"msg":"call"`)
			t.Logf("%d calls, %d records of them, %d bytes of log", calls, records, len(logged))
			if records < before {
				t.Errorf("%d records of %d calls", records, before)
			}
			for line := range strings.Lines(logged) {
				if strings.Contains(line, canary) || strings.Contains(line, "7331}") {
					t.Fatalf("the log has the secret: %s", line)
				}
			}
		})
	}
}

// TestNothingWaitsForALog: whichever log nobody reads, every call is answered, and the
// program ends with its input and by a signal.
func TestNothingWaitsForALog(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	for i, log := range []string{"stderr", "audit on stderr", "audit"} {
		for j, end := range []os.Signal{nil, syscall.SIGTERM, syscall.SIGINT} {
			if !testtool.Full && i != j { // each once
				continue
			}
			t.Run(fmt.Sprint(log, " ", end), func(t *testing.T) {
				t.Parallel()
				p := started(t, srv, nil)
				r, w, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				defer w.Close()
				fifo := filepath.Join(t.TempDir(), "fifo")
				reader := fifoReader(t, fifo)
				defer reader.Close()
				p.process.Stderr = w
				switch log {
				case "audit on stderr":
					p.process.Args = append(p.process.Args, "--audit-log", "-", "--log-level", "error")
				case "audit":
					p.process.Args = append(p.process.Args, "--audit-log", fifo)
					p.process.Stderr = p.stderr
				}
				p.run()
				p.handshake("{}")
				for range 1000 {
					p.fails("capture_since", `{"cursor":"x"}`, "cursor")
				}
				if end == nil {
					p.in.Close()
				} else {
					p.process.Process.Signal(end)
				}
				<-p.done
				if err := p.process.Wait(); err != nil {
					t.Error(err)
				}
				if said := strings.Contains(p.stderr.String(), "audit records were lost"); said != (log == "audit") {
					t.Errorf("it logged:\n%s", p.stderr)
				}
			})
		}
	}
}

// fifoReader makes a named pipe, and opens it without ever reading.
func fifoReader(t *testing.T, path string) *os.File {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestAnAuditLogWithoutSpace: standard error says so; once there is space again, the log says how
// many records are missing, on a line of its own.
func TestAnAuditLogWithoutSpace(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	audit := filepath.Join(t.TempDir(), "audit")
	p := started(t, srv, nil, "--audit-log", audit)
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	p.process.Args = append([]string{sh, "-c", `ulimit -f 10; exec "$0" "$@"`}, p.process.Args...)
	p.process.Path = sh
	p.run()
	p.handshake("{}")
	calls := 0
	call := func() { p.fails("capture_since", `{"cursor":"x"}`, "cursor"); calls++ }
	testtool.Eventually(t, "standard error says so", func() bool {
		call()
		return strings.Contains(p.stderr.String(), `"1 audit records were lost","cause":"write `+audit)
	})
	text, err := os.ReadFile(audit)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.HasSuffix(text, []byte("\n")) {
		t.Fatal("the log does not end in the middle of a record")
	}
	// A rotation that truncates it in place keeps that.
	last := text[bytes.LastIndexByte(text, '\n')+1:]
	if err := os.WriteFile(audit, last, 0o600); err != nil {
		t.Fatal(err)
	}
	call()
	p.in.Close()
	<-p.done
	now, err := os.ReadFile(audit)
	if err != nil {
		t.Fatal(err)
	}
	lost := 0
	if m := regexp.MustCompile(`"(\d+) records dropped"`).FindSubmatch(now); m != nil {
		fmt.Sscan(string(m[1]), &lost)
	}
	there := bytes.Count(text, []byte("\n"))
	for i, line := range strings.Split(strings.TrimSpace(string(now)), "\n") {
		if json.Valid([]byte(line)) == (i == 0) {
			t.Errorf("line %d is %s", i, line)
		}
		if strings.Contains(line, `"msg":"call"`) && i > 0 {
			there++
		}
	}
	if lost == 0 || there+lost != calls {
		t.Errorf("of %d calls %d are there, and %d are said to be missing:\n%s", calls, there, lost, now)
	}
}
