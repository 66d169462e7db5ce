package server_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
	"tmuxmcp/tmux"
)

// optionWorld is a tmux server with everything that an option may end or discard.
type optionWorld struct {
	srv    *tmux.Server
	p      *peer
	dir    string
	before string
}

func newOptionWorld(t *testing.T, attached bool) *optionWorld {
	srv := testserver.New(t)
	w := &optionWorld{srv: srv, dir: t.TempDir()}
	session(t, srv, "a")
	testserver.Run(t, srv, "set-option", "-g", "status-interval", "1")
	testserver.Run(t, srv, "new-session", "-d", "-s", "b", "-x", "80", "-y", "24", "seq 300; exec cat")
	testserver.Run(t, srv, "split-window", "-d", "-t", "=b:", "cat")
	testserver.Run(t, srv, "set-option", "-p", "-t", "%2", "remain-on-exit", "on")
	testserver.Run(t, srv, "respawn-pane", "-k", "-t", "%2", "true")
	testserver.Run(t, srv, "new-session", "-d", "-s", "c", "-t", "=b")
	testserver.Run(t, srv, "set-option", "-g", "@theirs", "x")
	testserver.Run(t, srv, "set-buffer", "theirs")
	testserver.WaitScreen(t, srv, "%1", "300")
	testserver.Wait(t, srv, "%2", "dead pane", func() bool {
		return testserver.Run(t, srv, "display-message", "-p", "-t", "%2", "#{pane_dead}") == "1"
	})
	// A script that is fit to be a shell.
	if err := testtool.WriteProgram(filepath.Join(w.dir, "shell"), []byte("#!/bin/sh\ntouch "+w.dir+"/marker-shell\nexec cat\n")); err != nil {
		t.Fatal(err)
	}
	cfg := configFor(srv)
	cfg.Tier = server.Mutating
	w.p = serve(t, cfg)
	if attached {
		testserver.Attach(t, srv, "=a", 80, 25)
		testserver.Wait(t, srv, "%0", "client", func() bool { return testserver.Run(t, srv, "list-clients") != "" })
	}
	w.before = w.alive()
	return w
}

// alive returns what must outlive any option: sessions, panes with their processes and
// scrollback, clients, buffers.
func (w *optionWorld) alive() string {
	var cmds []tmux.Command
	for _, words := range [][]string{
		{"list-sessions", "-F", "#{session_id} #{session_name}"},
		{"list-panes", "-a", "-F", "#{session_id} #{pane_id} #{pane_pid} #{pane_dead} #{e|>|:#{history_size},200}"},
		{"list-clients", "-F", "#{client_name} #{client_session}"},
		{"list-buffers", "-F", "#{buffer_name} #{buffer_size}"},
	} {
		cmds = append(cmds, tmux.Raw{Name: words[0], Args: words[1:]})
	}
	outs, err := w.srv.Do(context.Background(), cmds...)
	if err != nil {
		return err.Error()
	}
	return string(bytes.Join(outs, nil))
}

func (w *optionWorld) markers() []string {
	found, _ := filepath.Glob(filepath.Join(w.dir, "marker*"))
	return found
}

// values returns what an attacker would try for any option.
func (w *optionWorld) values(option string) []string {
	touch := "touch " + filepath.Join(w.dir, "marker-"+regexp.MustCompile(`[^a-z@]+`).ReplaceAllString(option, "."))
	job := "#(" + touch + ")"
	return []string{
		job, "x" + job, "#{l:" + job + "}", "##(" + touch + ")", "#{?1," + job + ",}", "#{E:@theirs}" + job,
		"#{E:#{a:35}(" + touch + ")}", "#{a:35}(" + touch + ")", "#{T:@x}", "#%p(" + touch + ")", "#[fg=red]" + job, "fg=red," + job, "bg=#{?1," + job + ",}",
		"on", "off", "0", "1", "2", "100", "keep-last", "keep-group", "any", "none", "no-detached", "previous", "external", "failed", "key", "manual", "smallest",
		"prefix", "x", touch, "exec " + touch, "!" + touch, filepath.Join(w.dir, "shell"), "/bin/false",
		"list-panes=run-shell -b '" + touch + "'", "display-message=kill-server", "run-shell '" + touch + "'", "new-session -d ; run-shell '" + touch + "'",
		"*:smcup=" + job, "xterm*:XT@", "LD_PRELOAD", "C-a", "#W #S #{pane_title} %H", "",
	}
}

// provoke does what the user at the terminal, or time, would do.
func (w *optionWorld) provoke(t *testing.T) {
	for _, words := range [][]string{
		{"refresh-client", "-S"}, {"list-panes", "-a"}, {"display-message", "hello"}, {"new-window", "-d", "-t", "=a:9"}, {"split-window", "-d", "-t", "=a:9"},
		{"choose-tree", "-t", "%0"}, {"copy-mode", "-t", "%1"}, {"display-panes", "-b"},
		{"send-keys", "-t", "%1", "-X", "copy-pipe-line-and-cancel"}, {"select-window", "-t", "=a:9"}, {"last-window", "-t", "=a:"}, {"copy-mode", "-q", "-t", "%0"},
		{"kill-window", "-t", "=a:9"},
	} {
		w.srv.Do(context.Background(), tmux.Raw{Name: words[0], Args: words[1:]})
	}
}

// TestTierMutatingSetsNoOptionThatEndsOrRuns: every option of this tmux, and
// hostile values of each.
func TestTierMutatingSetsNoOptionThatEndsOrRuns(t *testing.T) {
	t.Parallel()
	for _, attached := range []bool{true, false}[:testtool.Size(1, 2)] {
		t.Run(fmt.Sprintf("attached=%t", attached), func(t *testing.T) {
			t.Parallel()
			w := newOptionWorld(t, attached)
			accepted, refused, denied := 0, 0, map[string]bool{}
			for i, o := range w.options(t) {
				if !testtool.Full && i%4 != 0 {
					continue
				}
				damage := func(when string) {
					t.Helper()
					if now := w.alive(); now != w.before {
						t.Errorf("%s %s: it was\n%s\nand is\n%s", o, when, w.before, now)
					} else if m := w.markers(); m != nil {
						t.Errorf("%s %s: a program ran: %v", o, when, m)
					} else {
						return
					}
					w = newOptionWorld(t, attached)
				}
				worked := false
				for j, value := range w.values(o) {
					if !testtool.Full && (i+j)%3 != 0 && value != "on" {
						continue
					}
					for _, where := range []string{`"global_":true`, `"scope":"session","target":"b"`, `"scope":"window","target":"@1"`, `"scope":"pane","target":"%1"`} {
						if !testtool.Full && !strings.Contains(where, "global") && j%4 != 0 {
							continue
						}
						res := w.p.tool("set_option", fmt.Sprintf(`{"option":%q,"value":%s,%s}`, o, quoted(value), where))
						switch {
						case !res.IsError:
							accepted++
							worked = true
							if testtool.Full && strings.ContainsAny(value, "#/") {
								w.provoke(t)
							}
							if now := w.alive(); now != w.before {
								damage(fmt.Sprintf("set to %q with %s", value, where))
							}
						case res.Meta["error_type"] == "TierDenied":
							denied[o] = true
						default:
							refused++
						}
					}
				}
				if worked {
					w.provoke(t)
				}
				for _, flags := range []string{"-gu", "-gwu", "-su"} {
					w.srv.Do(context.Background(), tmux.Raw{Name: "set-option", Args: []string{flags, o}})
				}
				for _, args := range [][]string{{"-u", "-t", "=b:"}, {"-wu", "-t", "@1"}, {"-pu", "-t", "%1"}} {
					w.srv.Do(context.Background(), tmux.Raw{Name: "set-option", Args: append(args, o)})
				}
				damage("after all values")
			}
			time.Sleep(1500 * time.Millisecond) // the status line is drawn once a second
			if m := w.markers(); m != nil || w.alive() != w.before {
				t.Errorf("at the end: %v\n%s", m, w.alive())
			}
			t.Logf("%d changes were made, %d refused by tmux; with a value that needs destructive: %d options", accepted, refused, len(denied))
			least := testtool.Size(70, 300)
			if !version(t, w.srv).Has(tmux.Version{Major: 3, Minor: 3}) {
				least -= 25 // it has fewer options
			}
			if accepted < least || len(denied) < testtool.Size(8, 20) {
				t.Error("that is too little to mean anything")
			}
		})
	}
}

// options returns all options of this tmux, and some others.
func (w *optionWorld) options(t *testing.T) []string {
	var names []string
	for _, flag := range []string{"-s", "-g", "-gw"} {
		for line := range strings.Lines(testserver.Run(t, w.srv, "show-options", flag)) {
			name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			name, _, indexed := strings.Cut(name, "[")
			if !slices.Contains(names, name) {
				names = append(names, name)
				if indexed {
					names = append(names, name+"[100]")
				}
			}
		}
	}
	if len(names) < 100 {
		t.Fatalf("these are not the options of tmux: %v", names)
	}
	return append(names, "@theirs", "@x", "@mcp-note", "command-alias[200]", "exit-unatt", "status-righ", "no-such-option")
}
