// Package plan determines what a use-local would change. Its values are immutable: a Source is a
// config as it was read, and a Change is the edit of one.
package plan

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"tmuxmcp/internal/nearest"
	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/checkout"
	"tmuxmcp/swap/internal/commands"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/hint"
	"tmuxmcp/swap/internal/machine"
	"tmuxmcp/swap/journal"
)

// Options say what a use-local writes, and where.
type Options struct {
	Repo        string           // the checkout; "" is the current directory
	Server      string           // "": derived from the checkout
	Entry       string           // "": derived from the checkout
	Command     []string         // what to run instead of a checkout; Repo is then only where it is given
	URL         string           // address of a running server, instead of a command
	Env         []clients.EnvVar // added to the entry's; takes precedence
	KeepEnv     bool             // copy the user entry's variables that a project entry hides
	Clients     []string         // none: all present clients
	Scope       clients.Scope    // "" is ScopeProject for claude, ScopeUser for the others
	Mode        checkout.Mode    // "" is ModeDev
	Ref         string           // version, for ModeReleased
	PR          int              // head of a pull request instead of a mode
	DryRun      bool             // return diffs and write nothing
	Force       bool             // also edit a config that is read-only
	ShowSecrets bool             // leave the diffs of DryRun unmasked
	NoPreflight bool
	Timeout     time.Duration // of the preflight; 0 is ask.ServerLimit
}

// Wanted is the server that entries are to run, the same for all clients.
type Wanted struct {
	Repo    string
	Name    string
	unnamed bool // the caller did not name the server
	// published is the package that the checkout publishes.
	published string
	Argv      []string
	Given     bool   // Argv was given by the user
	By        string // the name of the server's program, if it sets itself up
	Bare      bool   // its entries lose the flags that they have
	// SameFlag has one word for spellings of its flags that replace each other, such as -L.
	SameFlag map[string]string
	swaps    *journal.State
	URL      string // replaces Argv
	Compile  []string
	Unbuilt  error // why the program of Argv does not exist
	Released bool  // Argv runs a published package, wherever it is started
	Env      []clients.EnvVar
	keepEnv  bool
	project  string
}

// Want checks the options and reads the checkout.
func Want(env configs.Env, o Options) (*Wanted, error) {
	if err := o.check(env.Sys); err != nil {
		return nil, err
	}
	want := &Wanted{Name: o.Server, Env: o.Env, keepEnv: o.KeepEnv}
	var err error
	switch {
	case o.URL != "":
		want.URL = o.URL
		want.Repo, err = checkout.RealDir(o.Repo)
	case len(o.Command) > 0:
		want.Given = true
		err = want.fromCommand(env, o)
	default:
		err = want.fromCheckout(env.Sys, o)
	}
	if err != nil {
		return nil, err
	}
	want.project = checkout.ClaudeProject(want.Repo)
	for _, text := range append([]string{want.Name, want.project}, want.runs()...) {
		if !utf8.ValidString(text) {
			return nil, fmt.Errorf("%q is not UTF-8, so it cannot be written to a config", text)
		}
	}
	return want, nil
}

// fromCheckout fills in what the checkout determines.
func (want *Wanted) fromCheckout(sys machine.System, o Options) error {
	if o.PR > 0 {
		// This comes before asking for an entry, which would not help.
		if err := checkout.CheckPR(o.Repo); err != nil {
			return err
		}
	}
	co, err := checkout.Read(o.Repo, o.Entry)
	if err != nil {
		if errors.Is(err, checkout.ErrNone) || errors.Is(err, checkout.ErrNoServer) {
			err = hint.Advise(err, "run any command with --server NAME -- COMMAND")
		}
		return err
	}
	if want.Name == "" {
		want.Name, want.unnamed = co.Server, true
	}
	want.published = configs.Publishes(co)
	want.Repo = co.Dir
	want.Released = o.Mode == checkout.ModeReleased || o.PR > 0
	if o.PR == 0 && cmp.Or(o.Mode, checkout.ModeDev) == checkout.ModeDev {
		want.Unbuilt = co.Unbuilt
	}
	if o.PR > 0 {
		want.Argv, err = co.PRCommand(o.PR)
	} else {
		want.Argv, want.Compile, err = co.Command(o.Mode, o.Ref, sys.BuildDir())
	}
	return err
}

// fromCommand fills in a given command. Its program must exist, because a misspelt one would
// look like a server to be installed later. A path to it, and those of its arguments, are made
// absolute, because clients start servers in other directories.
func (want *Wanted) fromCommand(env configs.Env, o Options) (err error) {
	if want.Repo, err = checkout.RealDir(o.Repo); err != nil {
		return err
	}
	want.Argv = slices.Clone(o.Command)
	program := &want.Argv[0]
	if strings.ContainsAny(*program, "/"+string(filepath.Separator)) {
		if *program, err = checkout.Abs(*program); err != nil {
			return err
		}
	}
	_, err = exec.LookPath(*program)
	switch {
	case err != nil && !filepath.IsAbs(*program):
		return fmt.Errorf("%q is not on PATH: install it, or give the path of the program", *program)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist", *program)
	case err != nil:
		return fmt.Errorf("%s is not an executable file", *program)
	}
	for i, arg := range want.Argv[1:commands.Here(want.Argv)] {
		if want.Argv[i+1], err = absolute(env, arg); err != nil {
			return err
		}
	}
	return nil
}

// absolute returns an argument with the path of an existing file made absolute, because clients start
// servers in other directories. A single word, such as run, may be the name of a file by accident.
func absolute(env configs.Env, arg string) (string, error) {
	flag, path, joined := strings.Cut(arg, "=")
	flag += "="
	if !joined || !strings.HasPrefix(flag, "-") || !strings.HasPrefix(path, "./") && !strings.HasPrefix(path, "../") {
		flag, path = "", arg
	}
	info, err := os.Stat(path)
	if err != nil || filepath.IsAbs(path) || !info.Mode().IsRegular() && !strings.HasPrefix(path, ".") {
		return arg, nil
	}
	if !strings.ContainsAny(path, "./"+string(filepath.Separator)) {
		env.Warn(fmt.Sprintf("the argument %s is a relative path, which clients do not find: "+
			"they start servers in directories of their own; give an absolute path", arg))
		return arg, nil
	}
	abs, err := checkout.Abs(path)
	if err != nil {
		return arg, err
	}
	env.Warn(fmt.Sprintf("the argument %s is written as %s, since clients start servers in directories of their own", arg, flag+abs))
	return flag + abs, nil
}

// check returns an error for options that contradict each other or are invalid.
func (o Options) check(sys machine.System) error {
	if err := o.Scope.Check(); err != nil {
		return err
	}
	if len(o.Command) > 0 || o.URL != "" {
		if err := o.checkGiven(); err != nil {
			return err
		}
	}
	if o.Timeout != 0 && o.NoPreflight {
		return hint.Usagef("--timeout is for the preflight, which --no-preflight switches off")
	}
	if err := o.checkMode(); err != nil {
		return err
	}
	if _, err := clients.Named(sys, o.Clients); err != nil {
		return err
	}
	if strings.ContainsAny(o.Ref, " \t\n") || strings.HasPrefix(o.Ref, "-") {
		return hint.Usagef("--ref %q is not a version", o.Ref)
	}
	return nil
}

// checkGiven checks the options for a server that is given by a command or a URL.
func (o Options) checkGiven() error {
	address, err := url.Parse(o.URL)
	switch {
	case len(o.Command) > 0 && o.URL != "":
		return hint.Usagef("--url cannot be combined with a command")
	case o.URL != "" && (len(o.Env) > 0 || o.KeepEnv):
		return hint.Usagef("--url is of a server that runs already, and cannot be combined with variables for it")
	case o.URL != "" && (err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https"):
		return hint.Usagef("--url %q is not of the form http://HOST:PORT/PATH", ask.ShowURL(o.URL))
	}
	for _, of := range []struct {
		flag string
		set  bool
	}{{"--entry", o.Entry != ""}, {"--mode", o.Mode != ""}, {"--ref", o.Ref != ""}, {"--pr", o.PR != 0}} {
		if of.set {
			return hint.Usagef("%s is for a checkout, and cannot be combined with a command or URL", of.flag)
		}
	}
	if o.Server != "" {
		return nil
	}
	if co, err := checkout.Read(o.Repo, ""); err == nil {
		return hint.Usagef("--server is required with a command or URL; %s", PassServer(co.Server, ""))
	}
	return hint.Usagef("--server is required with a command or URL: no checkout names the server")
}

// checkMode checks what determines the version of a checkout's server.
func (o Options) checkMode() error {
	switch {
	case o.PR < 0:
		return hint.Usagef("--pr %d is not a positive number", o.PR)
	case o.PR > 0 && (o.Mode != "" && o.Mode != checkout.ModeDev || o.Ref != ""):
		return hint.Usagef("--pr cannot be combined with --mode or --ref")
	case o.Mode != "" && !slices.Contains(checkout.Modes, o.Mode):
		var modes []string
		for _, m := range checkout.Modes {
			modes = append(modes, string(m))
		}
		return hint.Usagef("--mode %q is not one of %s%s", string(o.Mode), strings.Join(modes, ", "), nearest.Meant(string(o.Mode), modes))
	case o.Ref != "" && o.Mode != checkout.ModeReleased:
		return hint.Usagef("--ref needs --mode released")
	}
	return nil
}
