package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"tmuxmcp/internal/test/testtool"
)

// The pages have the sections that people look for, in the usual order, and mandoc finds nothing
// to complain about. (-T lint reads the date of the page and the name of the system, too.)
func TestManPages(t *testing.T) {
	mandoc := testtool.Path(t, "mandoc")
	for name, command := range commands {
		page := manPage(t, command())
		var sections []string
		for _, m := range regexp.MustCompile(`(?m)^\.SH (.*)`).FindAllStringSubmatch(page, -1) {
			sections = append(sections, m[1])
		}
		if got := strings.Join(sections, ", "); got != "NAME, SYNOPSIS, DESCRIPTION, OPTIONS, COMMANDS, EXIT STATUS, ENVIRONMENT, FILES, EXAMPLES, SEE ALSO" {
			t.Errorf("%s has %s", name, got)
		}
		lint := exec.Command(mandoc, "-T", "lint")
		lint.Stdin = strings.NewReader(page)
		if out, err := lint.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// Each variable that a program reads is in its page: what looks like the name of one in its
// source, or is read as one, or by a function of the standard library.
func TestManPagesHaveTheVariables(t *testing.T) {
	name := regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$`)
	calls := map[string]string{"TempDir": "TMPDIR", "UserCacheDir": "XDG_CACHE_HOME", "LookPath": "PATH", "UserHomeDir": "HOME"}
	for program, dir := range map[string]string{"mcp-conform": "conform", "mcp-swap": "swap", "tmux-mcp": "server"} {
		page := strings.ReplaceAll(manPage(t, commands[program]()), `\-`, "-")
		_, environment, _ := strings.Cut(page, "\n.SH ENVIRONMENT\n")
		environment, _, _ = strings.Cut(environment, "\n.SH FILES\n")
		const list = `{{with .Module}}{{if .Main}}{{$dir := $.Dir}}{{range $.GoFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`
		files, err := exec.Command("go", "list", "-deps", "-f", list, "../../"+dir+"/cli").Output()
		if err != nil {
			t.Fatal(err)
		}
		read := map[string]token.Position{}
		fset := token.NewFileSet()
		for path := range strings.FieldsSeq(string(files)) {
			f, err := parser.ParseFile(fset, path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.BasicLit:
					if text, _ := strconv.Unquote(n.Value); name.MatchString(text) {
						read[text] = fset.Position(n.Pos())
					}
				case *ast.SelectorExpr:
					if v := calls[n.Sel.Name]; v != "" {
						read[v] = fset.Position(n.Pos())
					}
				case *ast.CallExpr:
					if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Getenv" {
						if l, ok := n.Args[0].(*ast.BasicLit); ok && fmt.Sprint(f.X) != "ts" { // a script's
							text, _ := strconv.Unquote(l.Value)
							read[text] = fset.Position(n.Pos())
						}
					}
				}
				return true
			})
		}
		if len(read) < 8 {
			t.Errorf("%s reads only %v", program, read)
		}
		for v, at := range read {
			if !slices.Contains(strings.FieldsFunc(environment, func(r rune) bool { return strings.ContainsRune(" ,\n", r) }), v) && !notRead[program+" "+v] {
				t.Errorf("%v: %s is not in the page of %s", at, v, program)
			}
		}
	}
}

// notRead look like variables that the program reads: the first two are what scripts have, then
// come beginnings of names, what gemini writes for a folder, and colors, of which tmux-mcp has
// none.
var notRead = map[string]bool{
	"mcp-conform TMUX_TMPDIR": true, "mcp-conform MCP_CONFORM_TRANSPORT": true, "mcp-swap GEMINI_CLI": true, "mcp-swap QWEN_CODE": true,
	"mcp-swap TRUST_FOLDER": true, "mcp-swap TRUST_PARENT": true,
	"tmux-mcp TERM": true, "tmux-mcp NO_COLOR": true, "tmux-mcp FORCE_COLOR": true,
}

func manPage(t *testing.T, c *cobra.Command) string {
	t.Helper()
	page, err := (&release{number: number}).manPage(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}
