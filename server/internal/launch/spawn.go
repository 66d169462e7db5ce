package launch

import (
	"context"
	"os"
	"slices"
	"strings"

	"tmuxmcp/server/internal/params"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux"
)

// Spawn are the parameters of every tool that starts a program.
type Spawn struct {
	StartDirectory string           `json:"start_directory,omitempty" desc:"absolute path"`
	Environment    params.StringMap `json:"environment,omitempty" desc:"not for secrets: ps shows them"`
	Suppress       bool             `json:"suppress_persistent_history,omitempty" desc:"no history file" unlisted:"true"`
}

// Prepare checks the parameters before tmux is asked for anything.
func (sp Spawn) Prepare(path PathTo) (dir string, env tmux.Env, err error) {
	if env, err = sp.variables(); err != nil {
		return "", nil, err
	}
	dir, err = directory(path, "start_directory", sp.StartDirectory)
	return dir, env, err
}

// PrepareBeside does what Prepare does and, if no directory was given, takes the directory
// of the program's neighbour, a token of the target. tmux itself would take the client's,
// which is this server's. It is queried in advance, because tmux expands a format for the
// active pane of a session, whatever the target is.
func (sp Spawn) PrepareBeside(ctx context.Context, srv *tmux.Server, path PathTo, at tmux.Target, token string) (dir string, env tmux.Env, err error) {
	if dir, env, err = sp.Prepare(path); err != nil || dir != "" {
		return dir, env, err
	}
	var b tmux.Batch
	neighbours := tmux.AddMessage(&b, tmux.DisplayMessage{Target: at, Message: tmux.Format("#{" + token + "}")})
	if err := b.Do(ctx, srv); err != nil {
		return "", nil, err
	}
	if info, err := os.Stat(*neighbours); err != nil || !info.IsDir() {
		return "", env, nil // removed since, or on another machine
	}
	return *neighbours, env, nil
}

// ShellCommand returns the command of a new pane: a command line, or nil for a shell.
func ShellCommand(line string) []string {
	if line == "" {
		return nil
	}
	return []string{line}
}

// variables returns the environment, plus, if requested, what keeps shells from writing a
// history file. Variables from the caller are left unchanged.
func (sp Spawn) variables() (tmux.Env, error) {
	env := make(tmux.Env, len(sp.Environment)+4)
	for name, value := range sp.Environment {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return nil, reply.Argument("environment", "must have names without = and no NUL bytes")
		}
		env[name] = value
	}
	if !sp.Suppress {
		return env, nil
	}
	for _, v := range []struct{ name, value string }{{"HISTFILE", ""}, {"fish_history", ""}, {"fish_private_mode", "1"}} {
		if given, ok := env[v.name]; ok && given != v.value {
			return nil, reply.Argument("environment", "sets %s to another value than suppress_persistent_history needs", v.name).
				Suggest("leave %s out, or set it to %q", v.name, v.value)
		}
		env[v.name] = v.value
	}
	control := strings.FieldsFunc(env["HISTCONTROL"], func(r rune) bool { return r == ':' })
	if !slices.Contains(control, "ignorespace") && !slices.Contains(control, "ignoreboth") {
		control = append(control, "ignorespace")
	}
	env["HISTCONTROL"] = strings.Join(control, ":")
	return env, nil
}
