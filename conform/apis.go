package conform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"tmuxmcp/conform/internal/adapter"
	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
)

var apiName = regexp.MustCompile(`^([a-z][a-z0-9._-]*)=(.+)$`)

var nameLetters = regexp.MustCompile(`^[\pL\pN][\pL\pN ._+/()@-]*$`)

// isName reports whether reports, their links and files of known failures can have a name.
func isName(name string) bool {
	return nameLetters.MatchString(name) && utf8.RuneCountInString(name) <= 80
}

// anchorOf returns what a name is in the links of reports.
func anchorOf(name string) string { return strings.ReplaceAll(name, " ", "-") }

// ParseAPI reads a wrapper of layer api as users write it: a shell command that speaks the
// adapter protocol, or "go" for package tmux, each also as NAME=COMMAND.
func ParseAPI(spec string) (report.API, error) {
	var a report.API
	a.Command = spec
	if m := apiName.FindStringSubmatch(spec); m != nil {
		a.Name, a.Command = m[1], m[2]
	}
	a.Command = strings.TrimSpace(a.Command)
	switch {
	case a.Command == "":
		return a, errors.New("--api: want a command, as in --api 'python3 adapter.py'")
	case a.Command == report.BuiltIn:
		a.Name, a.Command = cmp.Or(a.Name, report.BuiltIn), ""
	case a.Name == report.BuiltIn:
		return a, fmt.Errorf("--api %s: go is package tmux: want another name", spec)
	}
	return a, nil
}

// findAPIs asks each wrapper what it is and whether it offers anything that the scripts ask for,
// and completes the names.
func (o *Options) findAPIs(ctx context.Context) error {
	if !slices.Contains(o.Layers, report.APILayer) {
		o.APIs = nil
		return nil
	}
	if len(o.APIs) == 0 {
		o.APIs = []report.API{{Name: report.BuiltIn}}
	}
	o.APIs = slices.Clone(o.APIs)
	verbs := map[string]bool{}
	for _, g := range o.Gaps {
		for _, line := range gap.Lines(string(g.Section(report.APILayer))) {
			if v := adapter.VerbOf(line.Words); v != "" {
				verbs[v] = true
			}
		}
	}
	asked := slices.Sorted(maps.Keys(verbs))
	errs := make([]error, len(o.APIs))
	var all sync.WaitGroup
	for i := range o.APIs {
		all.Go(func() { errs[i] = findAPI(ctx, o, &o.APIs[i], asked) })
	}
	all.Wait()
	child.EndAdopted()
	if err := ctx.Err(); err != nil {
		return err
	}
	names := map[string]bool{}
	for i, a := range o.APIs {
		if errs[i] != nil {
			return errs[i]
		}
		if names[anchorOf(a.Name)] {
			return fmt.Errorf("--api: there are two wrappers of the name %s: name them, as in --api 'old=COMMAND'", a.Name)
		}
		names[anchorOf(a.Name)] = true
	}
	return nil
}

// findAPI asks a wrapper what it is, and whether it offers any of these verbs.
func findAPI(ctx context.Context, o *Options, a *report.API, verbs []string) error {
	if a.Command == "" {
		a.Described = adapter.PackageTmux()
		return nil
	}
	answer, err := child.Ask(ctx, child.Request{
		Ask: child.AskAPI, Target: o.Targets[0], API: adapter.Shell(a.Command), APIDir: o.serverDir, Transport: o.Transport, Timeout: o.Timeout,
		Names: verbs,
	})
	if err != nil {
		return fmt.Errorf("--api %s: %w", a.Command, err)
	}
	a.Described = answer.Described
	if a.Name == "" {
		a.Name = a.Described.String()
		if !isName(a.Name) || a.Name == report.BuiltIn {
			return fmt.Errorf("--api %s: the adapter calls itself %.100q: name it, as in --api 'mine=COMMAND'", a.Command, a.Name)
		}
	}
	if answer.OffersNone && !o.Reproduce { // which shows what is not offered
		return fmt.Errorf("--api %s: the API offers none of %s", a.Command, strings.Join(verbs, ", "))
	}
	return nil
}
