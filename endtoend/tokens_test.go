package endtoend

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
)

// A text is what a model reads, by its name in docs/questions.md.
type text struct{ name, text string }

// lists returns lists of tools, as in the README.
func lists(t *testing.T) (all []text) {
	t.Helper()
	for _, flags := range []string{"", "--safety readonly", "--safety destructive", "--toolsets core", "--toolsets core --safety readonly"} {
		out, err := exec.Command(program(t), append([]string{"tools", "--json", "--tmux", "/bin/true"}, strings.Fields(flags)...)...).Output()
		if err != nil {
			t.Fatalf("tools %s: %v", flags, err)
		}
		var tools []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"inputSchema"`
		}
		if err := json.Unmarshal(out, &tools); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(tools); err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("`%s`, %d tools", flags, len(tools))
		if flags == "" {
			name = fmt.Sprintf("the default, %d tools", len(tools))
		}
		all = append(all, text{name, b.String()})
	}
	return all
}

// results returns results of calls on a tmux server with 40 panes.
func results(t *testing.T) (all []text) {
	t.Helper()
	srv := testserver.New(t)
	testserver.Run(t, srv, "new-session", "-d", "-s", "work", "-n", "shell", "-x", "120", "-y", "40", "-c", "/", "PS1='$ ' exec sh")
	testserver.Run(t, srv, "set-option", "-g", "automatic-rename", "off")
	for w := 1; w <= 6; w++ {
		size := 6 + (w+1)/4 // 40 with the shell
		window := fmt.Sprintf("work:%d", w)
		testserver.Run(t, srv, "new-window", "-d", "-t", window, "-n", "idle", "-c", "/", "exec cat")
		for range size - 1 {
			testserver.Run(t, srv, "split-window", "-d", "-t", window, "-c", "/", "exec cat")
			testserver.Run(t, srv, "select-layout", "-t", window, "tiled")
		}
	}
	p := dial(t, "env", "XDG_RUNTIME_DIR="+t.TempDir(), program(t), "-S", srv.SocketPath(), "--tmux", srv.Binary())
	return []text{
		{"`list_panes`, 40 panes", p.call("list_panes", "{}")},
		{"`run_command` of a test that fails with 20 lines", p.call("run_command", `{"pane_id":"%0","command":"clear; seq -f 'a line of what a test prints, number %g' 20; false"}`)},
		{"`capture_pane` of a screen with 35 lines", func() string {
			p.call("run_command", `{"pane_id":"%0","command":"clear; seq -f 'line %04g of some text that is on the screen' 35"}`)
			return p.call("capture_pane", `{"pane_id":"%0"}`)
		}()},
		{"`run_command` with 3,000 such lines, cut", p.call("run_command", `{"pane_id":"%0","command":"seq -f 'line %04g of some text that is on the screen' 3000"}`)},
	}
}

const (
	tokensBegin = "<!-- tokens: written by MODEL_FIGURES=now .ci/clients --endtoend -->\n\n"
	tokensEnd   = "\n<!-- end of tokens -->"
)

// TestTokens compares the tokens that docs/questions.md names with what a tokenizer counts,
// and writes them down if the variable MODEL_FIGURES is "now".
func TestTokens(t *testing.T) {
	modules := npm(t, "gpt-tokenizer")
	const page = "../docs/questions.md"
	doc, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(doc), tokensBegin)
	table, after, found := strings.Cut(rest, tokensEnd)
	if !found {
		t.Fatalf("%s has no place for tokens", page)
	}
	texts := append(lists(t), results(t)...)
	var in []string
	for _, x := range texts {
		in = append(in, x.text)
	}
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	count := exec.Command(node(t), "testdata/tokens.cjs", modules)
	count.Stdin = bytes.NewReader(raw)
	out, err := count.Output()
	var tokens []int
	if jerr := json.Unmarshal(out, &tokens); err != nil || jerr != nil || len(tokens) != len(texts) {
		t.Fatalf("%v, %v: %s", err, jerr, out)
	}
	made := "| what the model reads | bytes | tokens |\n|---|---:|---:|\n"
	for i, x := range texts {
		made += fmt.Sprintf("| %s | %s | %s |\n", x.name, thousands(len(x.text)), thousands(tokens[i]))
	}
	if os.Getenv("MODEL_FIGURES") == "now" {
		if err := os.WriteFile(page, []byte(before+tokensBegin+made+tokensEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !near(table, made) {
		t.Errorf("%s has\n%s\ncounted was\n%s\nMODEL_FIGURES=now writes it down", page, table, made)
	}
}

// thousands returns a number with its thousands set off.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

var figure = regexp.MustCompile(`\| ([\d,]+)`)

// near reports whether two tables differ only in figures, and these by at most 2 % and 5.
func near(a, b string) bool {
	if figure.ReplaceAllString(a, "") != figure.ReplaceAllString(b, "") {
		return false
	}
	second := figure.FindAllStringSubmatch(b, -1)
	for i, m := range figure.FindAllStringSubmatch(a, -1) {
		x, _ := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
		y, _ := strconv.Atoi(strings.ReplaceAll(second[i][1], ",", ""))
		if d := x - y; max(d, -d) > y/50+5 {
			return false
		}
	}
	return true
}
