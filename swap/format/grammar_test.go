package format

import (
	"errors"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/test/testtool"
)

// FuzzGrammar lets the fuzzer write valid texts, of which plain mutation makes few: every
// byte is a choice in the grammar. Its seeds are used in every run, and always the same;
// there are more at full size.
func FuzzGrammar(f *testing.F) {
	for i := range testtool.Size(1000, 3000) {
		f.Add(choices(i))
	}
	f.Fuzz(checkGrammar)
}

func choices(i int) []byte {
	r := rand.New(rand.NewPCG(uint64(i), 1))
	all := make([]byte, 20+r.IntN(400))
	for k := range all {
		all[k] = byte(r.Uint32())
	}
	return all
}

func checkGrammar(t *testing.T, choices []byte) {
	g := &grammar{choices: choices}
	g.kind = kinds[g.n(len(kinds))]
	container := []string{"m"}
	if g.n(3) == 0 && g.kind != YAML {
		container = []string{"p", "q", "m"}
	}
	var text string
	switch {
	case g.kind == TOML:
		text = g.tomlText()
	case g.kind == YAML:
		text = g.of("", "", "---\n", "# c\n\n") + g.yamlLines(g.of("", "", "", " "), "m", 3)
		text += g.of("", "", "# end", "more: &b {<<: {}, y: &c 1}\nz: *c\n")
		if g.n(4) == 0 {
			text = strings.TrimSuffix(text, "\n")
		}
	case g.n(4) == 0:
		text = g.space() + g.object(4) + g.space()
	default:
		text = g.space() + g.way(join(container, "s")) + g.space()
	}
	if g.n(4) == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if g.n(8) == 0 {
		text = BOM + text
	}
	env, gone := g.of("", "K", "a.b"), g.of("url", "é")
	defer func() {
		if t.Failed() {
			t.Logf("the text was:\n%s", text)
		}
	}()
	if strings.Contains(text, "name: s") {
		checkItem(t, []byte(text), Change{New: changes["env"].Set, Set: changes["env"].Set, Remove: []string{gone}})
	}
	checkEdit(t, g.kind, []byte(text), container, "s", "uv", env, gone)
}

// checkItem edits the item s of the list m in a YAML text, and undoes that.
func checkItem(t *testing.T, text []byte, c Change) {
	path := []string{"m", List, "s"}
	d, err := Parse(YAML, text)
	if err != nil {
		return
	}
	was := read(t, YAML, text)
	e, err := d.Set(path[:2], "s", c)
	if errors.Is(err, errProof) {
		t.Fatal(err)
	}
	if err != nil {
		return
	}
	want := map[string]any{"name": "s"}
	if old, ok := item(was["m"], "s").(map[string]any); ok {
		want = old
	}
	is := read(t, YAML, e.Out)
	if diff := cmp.Diff(any(changed(want, yamlData(c.Set), c.Remove)), item(is["m"], "s")); diff != "" {
		t.Fatalf("set (-want +got):\n%s\nto:\n%s", diff, e.Out)
	}
	if diff := cmp.Diff(others(was, path), others(is, path)); diff != "" && was["m"] != nil {
		t.Fatalf("beside the item (-was +is):\n%s\nto:\n%s", diff, e.Out)
	}
	checkChanged(t, string(text), e)
	back := revert(t, parse(t, YAML, string(e.Out)), path[:2], "s", e.Undo)
	if diff := cmp.Diff(was, read(t, YAML, back.Out)); diff != "" {
		t.Fatalf("reverted (-want +got):\n%s\nfrom:\n%s\nto:\n%s", diff, e.Out, back.Out)
	}
}

type grammar struct {
	choices []byte
	kind    Kind
}

// n chooses among n alternatives. When there are no more choices it is always 0, which ends
// everything.
func (g *grammar) n(n int) int {
	if len(g.choices) == 0 {
		return 0
	}
	c := int(g.choices[0])
	g.choices = g.choices[1:]
	return c % n
}

func (g *grammar) of(all ...string) string { return all[g.n(len(all))] }

func (g *grammar) space() string {
	if g.kind == TOML {
		return g.of("", " ", "", " ", "\n  ", " # c\n", "\n# }\n")
	}
	s := g.of("", "", " ", "\n", "\n  ", "\n\t", "\n\n    ", "\t ")
	if g.kind != JSON && g.n(4) == 1 {
		s += g.of("// c\n", "/* c */", "// \"m\": {\"s\": {}},\n  ", "/* }\n { */", " /**/ ", "// , \n") + g.of("", " ", "\n")
	}
	return s
}

func (g *grammar) name() string {
	switch g.n(5) {
	case 1:
		return `"m"`
	case 2:
		return `"s"`
	case 3:
		return g.of(`"p"`, `"q"`)
	}
	return g.of(`"m"`, `"s"`, `"p"`, `"q"`, `"command"`, `"args"`, `"env"`, `"url"`, `"K"`, `"a.b"`, `"\u006d"`, `"\u0073"`, `"é"`, `"x,}{"`, `"\""`, `"\\"`, `""`)
}

func (g *grammar) value(depth int) string {
	if depth > 0 {
		switch g.n(6) {
		case 1, 2, 3:
			return g.object(depth - 1)
		case 4:
			return g.list("[", "]", func() string { return g.value(depth - 1) })
		}
	}
	return g.of("null", `"uv"`, `"a // b"`, "1.0", "-1e400", "9007199254740993", "true", `"\ud800"`, `"\/ \u0041"`, "[]", "{}", `["run", "K"]`)
}

func (g *grammar) object(depth int) string {
	return g.list("{", "}", func() string { return g.name() + g.space() + ":" + g.space() + g.value(depth) })
}

// way returns an object in which path leads to one.
func (g *grammar) way(path []string) string {
	if len(path) == 0 {
		return g.object(2)
	}
	placed := false
	return g.list("{", "}", func() string {
		if placed || g.n(2) == 0 {
			return g.name() + g.space() + ":" + g.space() + g.value(2)
		}
		placed = true
		return quote(path[0]) + g.space() + ":" + g.space() + g.way(path[1:])
	})
}

func (g *grammar) list(open, end string, item func() string) string {
	var b strings.Builder
	b.WriteString(open + g.space())
	for i, n := 0, g.n(5); i < n; i++ {
		if i > 0 {
			b.WriteString("," + g.space())
		}
		b.WriteString(item() + g.space())
		if i == n-1 && (g.kind == JSONC || g.kind == TOML) && g.n(3) == 1 {
			b.WriteString("," + g.space())
		}
	}
	b.WriteString(end)
	return b.String()
}

func (g *grammar) tomlText() string {
	var b strings.Builder
	for range g.n(12) {
		b.WriteString(g.of("", "", "", "\n", "# c\n", "  ", "\t"))
		switch g.n(3) {
		case 0:
			b.WriteString("[" + g.of("", " ") + g.tomlName(4) + "]")
		case 1:
			b.WriteString(g.tomlName(3) + g.of(" = ", "=", " =\t") + g.tomlAny(3))
		case 2:
			b.WriteString(g.of("[m]", "[m.s]", "[m.s.env]", "[m.s.url]", "[x]", "[[m.s.l]]", "[p.q.m.s]", "command = 'x'", `args = ["a"]`, "s.command = \"y\"", "m.s.env.K = ''", "url = 1", "env = {}"))
		}
		b.WriteString(g.of("", "", " # c", " ") + g.of("\n", "\n", "\n\n"))
	}
	return strings.TrimSuffix(b.String(), g.of("", "\n"))
}

func (g *grammar) tomlName(depth int) string {
	s := g.of("m", "s", "p.q.m", `"m"`, "'s'", "env", "command", "args", "url", "K", `"a.b"`, "é"[:0]+"x", `"\u006d"`, "m . s")
	if depth > 0 && g.n(2) == 1 {
		s += g.of(".", " . ", ". ") + g.tomlName(depth-1)
	}
	return s
}

func (g *grammar) tomlAny(depth int) string {
	if depth > 0 {
		switch g.n(5) {
		case 1, 2:
			return g.list("{", "}", func() string { return g.tomlName(1) + g.of(" = ", "=") + g.tomlAny(depth-1) })
		case 3:
			return g.list("[", "]", func() string { return g.tomlAny(depth - 1) })
		}
	}
	return g.of("1", `"uv"`, "'''a\n[m.s]\n'''", "1.0", "inf", "nan", "07:32:00", "1979-05-27", "1979-05-27T07:32:00.5-07:00", "0x1F", `"""
x = 1"""`, "[]", "{}", `"a # b"`, "true")
}

// yamlLines returns a mapping in lines, optionally with a first name.
func (g *grammar) yamlLines(indent, first string, depth int) string {
	names := []string{"a", "'K'", "command", "args", "env", "url", "b # c", "x y", "1"}
	if g.n(4) > 0 {
		at := g.n(3)
		names = append(names[:at:at], append([]string{first}, names[at:]...)...)
	}
	var b strings.Builder
	for _, name := range names {
		if g.n(3) == 0 && name != first {
			continue
		}
		b.WriteString(g.of("", "", "", "\n", indent+"# c\n", indent+"   # d\n", "# e\n"))
		if strings.Contains(name, " ") || g.n(8) == 0 && name[0] != '\'' {
			name = `"` + name + `"`
		}
		next := map[string]string{"m": "s", `"m"`: "s"}[name]
		if next == "" {
			next = g.of("x", "A", "s")
		}
		b.WriteString(indent + name + ":" + g.yamlValue(indent, next, depth))
	}
	if b.Len() == 0 {
		return indent + "z: 1\n"
	}
	return b.String()
}

var (
	yamlHead = regexp.MustCompile(`^( *(#.*)?\n)* *`)
	yamlName = regexp.MustCompile(`(?m)^( *)name:.*(\n {6}.*)*\n`)
)

func (g *grammar) yamlValue(indent, first string, depth int) string {
	end := g.of("\n", "\n", " # c\n", " \n", "\n\n")
	if depth > 0 {
		switch g.n(5) {
		case 0, 1, 2:
			return g.of("", "", "", "", "", "", " # c", " # c", " &n") + "\n" +
				g.yamlLines(indent+g.of("  ", "  ", "    ", " "), first, depth-1)
		case 3:
			dash := indent + g.of("", "  ") + "- "
			text := "\n"
			if first != "s" || g.n(3) == 0 {
				text += dash + g.of("run", "'a b' # c", "[x]", "name: t") + "\n"
			}
			for range 1 + g.n(3) {
				lines := yamlHead.ReplaceAllString(g.yamlLines(strings.Repeat(" ", len(dash)), "name", depth-1), "")
				text += dash + yamlName.ReplaceAllString(lines, "${1}name: "+g.of("s", "t")+g.of("\n", " # n\n"))
			}
			return text
		}
	}
	return g.of(
		"", " ~", " uv", ` "u\"v # "`, " 'it''s'", " [run, K]", " [ 'a', \"]\", # c\n"+indent+"   b ]",
		" {A: x, \"b\": }", " {}", " []",
		" two\n"+indent+"  lines", " |\n"+indent+"  # text\n\n"+indent+"   x",
		" >-\n"+indent+"  a\n"+indent+"  b", " \n"+indent+"  next",
		" 0x10", " 1.50", " yes", " 2001-01-01", g.of(" x", " &a x"), g.of(" x", " !!str 1"), g.of(" x", " |+\n"+indent+"  x\n"),
	) + end
}
