package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/checkout"
)

// fileEnv returns the variables in the file that a flat entry names for the client to read, if
// it names one.
func fileEnv(env Env, c *clients.Client, scope clients.Scope, value map[string]any, repo string) (out []string, err error) {
	named, _ := value[c.EnvFile].(string)
	if named == "" {
		return nil, nil
	}
	label := "its " + c.EnvFile
	lookup := func(name string) (string, bool) {
		switch name {
		case "workspaceFolder":
			return repo, true
		case "userHome":
			return env.Sys.Home, true
		}
		return lookupVar(env.Sys, name)
	}
	file, err := c.Given("envFile", label, named, lookup, lookup)
	if err != nil {
		return nil, err
	}
	elsewhere := !filepath.IsAbs(file) || scope == clients.ScopeUser && strings.Contains(named, "${workspaceFolder}")
	file = checkout.AbsIn(repo, file)
	if info, err := os.Stat(file); err == nil && info.Mode().Type() == fs.ModeNamedPipe {
		return nil, &clients.UnclearError{Why: fmt.Sprintf("%s %s is a pipe, which only %s should read", label, file, c.Name)}
	}
	text, err := env.text(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && elsewhere:
		return nil, &clients.UnclearError{Why: fmt.Sprintf("%s %s does not exist, and %s may look for it elsewhere", label, file, c.Name)}
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s %s does not exist", label, file)
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", label, err)
	}
	vars, err := clients.ParseEnvFile(file, text)
	if err != nil {
		return nil, &clients.UnclearError{Why: fmt.Sprintf("it is not known what %s makes of %s: %v", c.Name, label, err)}
	}
	for _, v := range vars {
		out = append(out, v.Name+"="+v.Value)
	}
	return out, nil
}

// stored returns an error if a client adds to a flat entry's environment a variable from a store
// of its own.
func stored(env Env, c *clients.Client, value map[string]any) error {
	names, _ := value[c.Stored].([]any)
	vars, _ := value["env"].(map[string]any)
	for _, n := range names {
		name := fmt.Sprint(n)
		if _, set := lookupVar(env.Sys, name); !set && vars[name] == nil {
			return &clients.UnclearError{Why: fmt.Sprintf("the variable %s is in %s's own store", name, c.Name)}
		}
	}
	return nil
}
