package main

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/constant"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/pflag"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// projectFile has the constants that rename sets.
const projectFile = "tools/release/project.go"

// rename gives the module that dir is in another path, and the constants of project.go other
// values, in all files that git tracks. Without arguments it shows what they are.
func rename(ctx context.Context, dir string, args []string, out io.Writer) error {
	found, err := command(ctx, dir, nil, "go", "list", "-m", "-f", "{{.Path}}\t{{.Dir}}")
	if err != nil {
		return err
	}
	var r renaming
	r.from, r.root, _ = strings.Cut(found, "\t")
	source, err := os.ReadFile(filepath.Join(r.root, projectFile))
	if err != nil {
		return err
	}
	if r.values, err = constants(source); err != nil {
		return err
	}
	f := pflag.NewFlagSet("rename", pflag.ContinueOnError)
	force := f.Bool("force", false, "although there are uncommitted changes")
	for i, v := range r.values {
		f.StringVar(&r.values[i].to, v.flag, v.from, v.about)
	}
	f.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: go run ./tools/release rename [flags] [MODULE]\n"+f.FlagUsages())
	}
	if err := f.Parse(args); err != nil {
		return err
	}
	switch r.to = r.from; {
	case f.NArg() > 1:
		return fmt.Errorf("got %d arguments, want the module path, such as example.org/you/tools", f.NArg())
	case f.NArg() == 1:
		r.to = f.Arg(0)
		if err := module.CheckPath(r.to); err != nil {
			return err
		}
	case f.NFlag() == 0:
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintf(w, "module\t%s\n", r.from)
		for _, v := range r.values {
			fmt.Fprintf(w, "--%s\t%s\n", v.flag, v.from)
		}
		return w.Flush()
	}
	if changed, err := command(ctx, r.root, nil, "git", "status", "--porcelain"); err != nil {
		return err
	} else if changed != "" && !*force {
		return fmt.Errorf("there are uncommitted changes: commit them first, or add --force\n%s", changed)
	}
	return r.run(ctx, out)
}

// A renaming is what rename changes. What does not change has the same name before and after.
type renaming struct {
	root     string
	from, to string // the module's path
	values   []value
	tops     []string       // the directories in root
	loose    *regexp.Regexp // what may be from
}

// A value is what a constant in project.go is, and what it becomes.
type value struct {
	flag, about string
	from, to    string
	start, end  int // of its expression in project.go
}

// constants returns the string constants of a Go file that imports nothing.
func constants(source []byte) (found []value, err error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, projectFile, source, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	info := types.Info{Defs: map[*ast.Ident]types.Object{}}
	if _, err := new(types.Config).Check("main", fset, []*ast.File{file}, &info); err != nil {
		return nil, err
	}
	for _, decl := range file.Decls {
		for _, spec := range decl.(*ast.GenDecl).Specs {
			spec := spec.(*ast.ValueSpec)
			text := constant.StringVal(info.Defs[spec.Names[0]].(*types.Const).Val())
			found = append(found, value{
				flag:  regexp.MustCompile(`[A-Z]`).ReplaceAllStringFunc(spec.Names[0].Name, func(c string) string { return "-" + strings.ToLower(c) }),
				about: strings.TrimSpace(spec.Comment.Text()), from: text, to: text,
				start: fset.Position(spec.Values[0].Pos()).Offset, end: fset.Position(spec.Values[0].End()).Offset,
			})
		}
	}
	return found, nil
}

// run writes the files that change, says which, and fails if something names what was.
func (r renaming) run(ctx context.Context, out io.Writer) error {
	listed, err := command(ctx, r.root, nil, "git", "ls-files", "-z")
	if err != nil {
		return err
	}
	names := strings.FieldsFunc(listed, func(c rune) bool { return c == 0 })
	for _, name := range names {
		if top, _, ok := strings.Cut(name, "/"); ok {
			r.tops = append(r.tops, top)
		}
	}
	r.tops = slices.Compact(r.tops)
	r.loose = regexp.MustCompile(regexp.QuoteMeta(r.from))
	if plain(r.from) {
		r.loose = regexp.MustCompile(`(^|[^\w./-])` + r.from + `/|^(module|replace|require) ` + r.from + `\b`)
	}
	changed, left := map[string][]string{}, []string{}
	for _, name := range names {
		file := filepath.Join(r.root, name)
		if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
			continue // deleted, or a link
		}
		before, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if bytes.IndexByte(before, 0) >= 0 {
			continue
		}
		after, err := r.file(name, before)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for i, line := range strings.Split(string(after), "\n") {
			if r.old(line) {
				left = append(left, fmt.Sprintf("%s:%d: %s", name, i+1, strings.TrimSpace(line)))
			}
		}
		if bytes.Equal(before, after) {
			continue
		}
		kind := "other files"
		switch {
		case path.Base(name) == "go.mod":
			kind = "go.mod"
		case path.Ext(name) == ".go":
			kind = "Go files"
		}
		changed[kind] = append(changed[kind], name)
		if err := os.WriteFile(file, after, 0o644); err != nil { // it has its mode already
			return err
		}
	}
	if r.from != r.to {
		fmt.Fprintf(out, "module: %s, was %s\n", r.to, r.from)
	}
	for _, v := range r.values {
		if v.from != v.to {
			fmt.Fprintf(out, "%s: %s, was %s\n", v.flag, v.to, v.from)
		}
	}
	for _, kind := range []string{"go.mod", "Go files", "other files"} {
		switch n := len(changed[kind]); {
		case n > 10:
			fmt.Fprintf(out, "%s: %d\n", kind, n)
		case n > 0:
			fmt.Fprintf(out, "%s: %s\n", kind, strings.Join(changed[kind], " "))
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("these still have an old name; git restore . undoes all:\n%s", strings.Join(left, "\n"))
	}
	if r.from == r.to {
		return nil
	}
	if _, err := command(ctx, r.root, nil, "go", "list", "-deps", "-test", "./..."); err != nil {
		return fmt.Errorf("the packages do not find each other; git restore . undoes all: %w", err)
	}
	return nil
}

// file returns a file's text with the new names.
func (r renaming) file(name string, was []byte) ([]byte, error) {
	text := was
	if name == projectFile {
		for _, v := range slices.Backward(r.values) {
			if v.from != v.to {
				text = slices.Concat(text[:v.start], []byte(strconv.Quote(v.to)), text[v.end:])
			}
		}
	}
	new := replaceWhole(string(text), r.from, r.to, r.isPath)
	// One may begin with another.
	longest := slices.SortedFunc(slices.Values(r.values), func(a, b value) int { return len(b.from) - len(a.from) })
	for _, v := range longest {
		if !plain(v.from) { // otherwise it may be any word
			new = replaceWhole(new, v.from, v.to, func(string, string) bool { return true })
		}
	}
	switch {
	case path.Base(name) == "go.mod" && r.from != r.to:
		f, err := modfile.Parse(name, []byte(new), nil)
		if err != nil {
			return nil, err
		}
		for _, stmt := range f.Syntax.Stmt {
			lines := []*modfile.Line{}
			switch stmt := stmt.(type) {
			case *modfile.Line:
				lines = append(lines, stmt)
			case *modfile.LineBlock:
				lines = stmt.Line
			}
			for _, line := range lines {
				for i, word := range line.Token {
					if word == r.from {
						line.Token[i] = r.to
					}
				}
			}
		}
		f.SortBlocks()
		return modfile.Format(f.Syntax), nil
	case path.Ext(name) == ".go" && new != string(was):
		// Imports are in another order now. What was not formatted is a test's.
		if formatted, err := format.Source(was); err == nil && bytes.Equal(formatted, was) {
			return format.Source([]byte(new))
		}
	}
	return []byte(new), nil
}

// isPath reports whether the module's path stands between two texts. One without a dot is a
// word as well, and a path only before a directory of the module, or in an argument of go mod.
func (r renaming) isPath(before, after string) bool {
	if !plain(r.from) || strings.HasSuffix(before, "-require=") || strings.HasSuffix(before, "-replace=") {
		return true
	}
	dir, ok := strings.CutPrefix(after, "/")
	return ok && slices.ContainsFunc(r.tops, func(top string) bool {
		rest, ok := strings.CutPrefix(dir, top)
		return ok && !startsWithWord(rest)
	})
}

// old reports whether a line still has an old name, also where it was not replaced.
func (r renaming) old(line string) bool {
	if r.from != r.to && strings.Contains(line, r.from) && r.loose.MatchString(strings.ReplaceAll(line, r.to, "")) {
		return true
	}
	for _, v := range r.values {
		// A URL without its scheme, or an address without the name.
		_, core, ok := strings.Cut(v.from, "://")
		if !ok {
			_, core, ok = strings.Cut(strings.TrimSuffix(v.from, ">"), "<")
		}
		if ok && v.from != v.to && strings.Contains(strings.ReplaceAll(line, v.to, ""), core) {
			return true
		}
	}
	return false
}

// plain reports whether a name could be any word.
func plain(name string) bool { return !strings.ContainsAny(name, "./@ ") }

// replaceWhole replaces old where it is not a part of a longer word or path, and stands where
// it is what is meant.
func replaceWhole(text, old, new string, meant func(before, after string) bool) string {
	if old == new {
		return text
	}
	var b strings.Builder
	for done := 0; ; {
		i := strings.Index(text[done:], old)
		if i < 0 {
			b.WriteString(text[done:])
			return b.String()
		}
		start, end := done+i, done+i+len(old)
		b.WriteString(text[done:start])
		last, _ := utf8.DecodeLastRuneInString(text[:start])
		if !isWord(last) && !strings.ContainsRune("./-", last) && !startsWithWord(text[end:]) && meant(text[:start], text[end:]) {
			b.WriteString(new)
		} else {
			b.WriteString(old)
		}
		done = end
	}
}

func isWord(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) }

func startsWithWord(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return isWord(first) || first == '-'
}
