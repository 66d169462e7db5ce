package conform

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"tmuxmcp/conform/report"
	"tmuxmcp/tmux"
)

// levels are what a tmux can do from a version on: a command and what it then prints. A
// program has the version of the last level up to which it can do everything.
var levels = []struct {
	version string
	probes  []probe
}{
	{"3.2", []probe{shows(`^\$[0-9]+$`, "#{session_id}"), shows(`^$`, "#{no_such_token}")}},
	{"3.3", []probe{shows(`^[0-9]+$`, "#{uid}"), shows(`^\$[0-9]+$`, "#{next_session_id}")}},
	{"3.4", []probe{shows(`^[0-9]+$`, "#{server_sessions}"), {`^#\{pid\}$`, []string{"display-message", "-p", "-l", "#{pid}"}}}},
	{"3.5", []probe{shows(`.`, "#{pane_key_mode}")}},
	{"3.6", []probe{shows(`^[01]$`, "#{sixel_support}"), {`^x$`, []string{"run-shell", "-E", "echo x >&2"}}}},
	{"3.7", []probe{
		shows(`^[01]$`, "#{bracket_paste_flag}"),
		{`^x$`, []string{"set-buffer", "x", ";", "paste-buffer", "-S", ";", "display-message", "-p", "x"}},
	}},
	{"3.8", []probe{shows(`^[0-9]+$`, "#{pane_output_generation}"), shows(`^[0-9]+$`, "#{history_generation}")}},
}

func shows(value, format string) probe {
	return probe{value, []string{"display-message", "-p", format}}
}

// Newest returns the newest version that the scripts were written for if the given one is
// newer still, and else "".
func Newest(than string) string {
	newest := levels[len(levels)-1].version
	v, err := tmux.ParseVersion(than)
	k, _ := tmux.ParseVersion(newest)
	if err == nil && (v.Major > k.Major || v.Major == k.Major && v.Minor > k.Minor) {
		return newest
	}
	return ""
}

// features are what scripts may need, each with what shows that a tmux has it.
var features = map[string]probe{
	"two sessions": {`^[^\n]+\n[^\n]+$`, []string{
		"new-session", "-d", "exec sleep 600", ";", "list-sessions", "-F", "#{session_id}",
	}},
	"floating panes": {`^%[0-9]+$`, []string{"new-pane", "-d", "-P", "-F", "#{pane_id}", "exec sleep 600"}},
}

type probe struct {
	prints string // a regular expression
	args   []string
}

// levelOf is the version of the level that a version belongs to; empty for none.
func levelOf(version string) string {
	v, err := tmux.ParseVersion(version)
	if err != nil {
		return ""
	}
	found := ""
	for _, l := range levels {
		leadsTo := v.Next && l.version == fmt.Sprintf("%d.%d", v.Major, v.Minor)
		if v.Has(tmux.Version{Major: 3, Minor: int(l.version[2] - '0')}) && !leadsTo {
			found = l.version
		}
	}
	return found
}

// prober starts a server of the target's beside the script's, and runs commands there.
func (r request) prober(ctx context.Context) (func(args ...string) (string, error), error) {
	run := func(args ...string) (string, error) {
		out, stderr, _, err := run(ctx, r.Dir, scriptEnv(r.Dir), r.Target.Path, onServer(filepath.Join(r.Dir, "p"), args...)...)
		if said := tail(stderr); err != nil && said != "" {
			err = fmt.Errorf("%w: %s", err, said)
		}
		return strings.TrimSpace(out), err
	}
	_, err := run("new-session", "-d", "-x", "80", "-y", "24", "exec sleep 600")
	return run, err
}

// lacking is the first of these features that the target does not have. One that starts
// no session, or does not survive the question, is not known to lack it.
func (r request) lacking(ctx context.Context, needs []string) string {
	if len(needs) == 0 {
		return ""
	}
	run, err := r.prober(ctx)
	for i := 0; err == nil && i < len(needs); i++ {
		p := features[needs[i]]
		out, _ := run(p.args...)
		if _, err = run("list-sessions"); err == nil && !regexp.MustCompile(p.prints).MatchString(out) {
			run("kill-server")
			return needs[i]
		}
	}
	run("kill-server")
	return ""
}

// probe is the child's side: it starts a server of the target's and tries what it
// can do.
func (r request) probe(ctx context.Context) (message, error) {
	run, err := r.prober(ctx)
	if err != nil {
		return message{}, fmt.Errorf("it starts no session: not a tmux: %w", err)
	}
	version := ""
	for _, l := range levels {
		for _, p := range l.probes {
			if out, err := run(p.args...); err != nil || !regexp.MustCompile(p.prints).MatchString(out) {
				if version == "" {
					return message{}, fmt.Errorf("%s printed %.60q: not a tmux of %s or later",
						report.CommandLine(p.args), out, levels[0].version)
				}
				return message{Version: version}, nil
			}
		}
		version = l.version
	}
	return message{Version: version}, nil
}
