package server

import (
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/rogpeppe/go-internal/txtar"

	"tmuxmcp/server/internal/params"
)

// A declared is a parameter where it is declared: in the input of a tool, or in a struct that
// several inputs embed.
type declared struct {
	in   reflect.Type
	name string
}

// declaredIn returns the parameters of an input, with their fields.
func declaredIn(t reflect.Type) map[declared]params.Field {
	all := map[declared]params.Field{}
	for _, f := range params.FieldsOf(t) {
		in := t
		for _, i := range f.Index[:len(f.Index)-1] {
			in = in.Field(i).Type
		}
		all[declared{in, f.Name}] = f
	}
	return all
}

// TestParametersArePassed: for each parameter a test calls a tool with it. One that several tools
// share needs one of them.
func TestParametersArePassed(t *testing.T) {
	t.Parallel()
	var lines []string // with the file of a script that one names
	for _, pattern := range []string{"testdata/calls/*.txtar", "*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(archive.Comment)) {
				for _, f := range archive.Files {
					if slices.Contains(strings.Fields(line), f.Name) {
						line += string(f.Data)
					}
				}
				lines = append(lines, line)
			}
		}
	}
	tools, passed := map[declared][]string{}, map[declared]bool{}
	for _, d := range allTools(t) {
		calls := slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
			return !strings.Contains(line, d.Name+" ") && !strings.Contains(line, d.Name+`"`)
		})
		for p := range declaredIn(d.In) {
			tools[p] = append(tools[p], d.Name)
			passed[p] = passed[p] || slices.ContainsFunc(calls, func(line string) bool { return strings.Contains(line, `"`+p.name+`"`) })
		}
	}
	for p, names := range tools {
		if !passed[p] {
			t.Errorf("no test calls %s with %q: add a line to a script in server/testdata/calls", strings.Join(names, " or "), p.name)
		}
	}
}

// TestDescriptionsHaveOneForm: what the comment of package params asks of the tag desc.
func TestDescriptionsHaveOneForm(t *testing.T) {
	t.Parallel()
	stop := regexp.MustCompile(`[a-z0-9)]\.$`)
	seen := map[reflect.Type]bool{}
	var check func(tool string, s reflect.Type)
	check = func(tool string, s reflect.Type) {
		for s.Kind() == reflect.Pointer || s.Kind() == reflect.Slice {
			s = s.Elem()
		}
		if s.Kind() != reflect.Struct || seen[s] {
			return
		}
		seen[s] = true
		for _, f := range params.FieldsOf(s) {
			check(tool, f.Type)
			if f.Desc == "" {
				continue
			}
			if r := []rune(f.Desc + "  "); stop.MatchString(f.Desc) || unicode.IsUpper(r[0]) && unicode.IsLower(r[1]) || f.Desc != strings.TrimSpace(f.Desc) {
				t.Errorf("%s.%s: desc:%q, want a phrase in lower case without a full stop: see package params", tool, f.Name, f.Desc)
			}
		}
	}
	for _, d := range allTools(t) {
		check(d.Name, d.In)
		check(d.Name, d.Out)
	}
}
