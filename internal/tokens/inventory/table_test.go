package inventory_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/tokens/inventory"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

func readTable(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../fixtures/tokens.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func parseTable(t *testing.T, text string) *inventory.Table {
	t.Helper()
	table, err := inventory.ParseTable([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func version(t *testing.T, s string) tmux.Version {
	t.Helper()
	v, err := tmux.ParseVersion(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// source is a format.c whose table has what the typed table says that a tmux of
// the version has, except for the names given, and more.
func source(t *testing.T, text string, v tmux.Version, without []string, more string) []byte {
	t.Helper()
	var b strings.Builder
	row := regexp.MustCompile(`"name": "([^"]+)", .*"type": "([^"]+)", "since": "([^"]+)"(?:, "until": "([^"]+)")?`)
	b.WriteString("struct format_table_entry format_table[] = {\n")
	for _, m := range row.FindAllStringSubmatch(text, -1) {
		if slices.Contains(without, m[1]) || !v.Has(version(t, m[3])) || m[4] != "" && v.Compare(version(t, m[4]+"z")) > 0 {
			continue
		}
		kind := "STRING"
		if m[2] == "time" {
			kind = "TIME"
		}
		b.WriteString(`{ "` + m[1] + `", FORMAT_TABLE_` + kind + ", format_cb_" + m[1] + " },\n")
	}
	b.WriteString(more + "};\n")
	return []byte(b.String())
}

// A table that stops at one release lacks the tokens of later ones, which are
// found with nothing but the later tmux.
func TestDrift(t *testing.T) {
	full := readTable(t)
	var old []string
	for line := range strings.Lines(full) {
		if !strings.Contains(line, `"since": "3.7"`) && !strings.Contains(line, `"since": "3.8"`) {
			old = append(old, strings.TrimRight(line, ",\n"))
		}
	}
	table36 := "[\n" + strings.Join(old[1:len(old)-1], ",\n") + "\n]\n"
	for _, tt := range []struct {
		name, table, version string
		without              []string
		more                 string
		want                 []string
	}{
		{"none", full, "3.8", nil, "", nil},
		{"none on the oldest", full, "3.2", nil, "", nil},
		{"the table of a 3.6a against itself", table36, "3.6a", nil, "", nil},
		{"a token that is new", full, "3.8", nil, "{ \"pane_new\", FORMAT_TABLE_TIME, f },\n", []string{"added pane_new pane time"}},
		{"a token that is gone", full, "3.8", []string{"pane_dead"}, "", []string{"removed pane_dead pane bool"}},
		{"a token that came early", full, "3.6", nil, "{ \"pane_x\", FORMAT_TABLE_STRING, f },\n", []string{"early pane_x pane int"}},
		{"a token that is back", full, "3.8", nil, "{ \"loop_last_flag\", FORMAT_TABLE_STRING, f },\n", []string{"back loop_last_flag server bool"}},
		{"a token of another kind", full, "3.6", []string{"pane_dead"}, "{ \"pane_dead\", FORMAT_TABLE_TIME, f },\n", []string{"kind pane_dead pane bool"}},
		{"a development version that is not there yet", full, "next-3.8", []string{"client_colours"}, "{ \"loop_last_flag\", FORMAT_TABLE_STRING, f },\n", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := version(t, tt.version)
			entries, err := inventory.ParseFormatC(source(t, tt.table, v, tt.without, tt.more))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range parseTable(t, tt.table).Drift(inventory.Inventory{Version: v, Entries: entries}) {
				got = append(got, c.Change+" "+c.Token+" "+c.Scope+" "+c.Type)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}

	t.Run("3.8 has tokens that the table of a 3.6a lacks", func(t *testing.T) {
		v := version(t, "3.8")
		entries, err := inventory.ParseFormatC(source(t, full, v, nil, ""))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, c := range parseTable(t, table36).Drift(inventory.Inventory{Version: v, Entries: entries}) {
			if c.Change != inventory.Added {
				t.Errorf("%+v", c)
			}
			n++
		}
		if want := strings.Count(full, "\n") - strings.Count(table36, "\n"); n != want {
			t.Errorf("%d tokens, want %d", n, want)
		}
	})
}

// The table is right for the tmux at hand; without some rows it is not, which the
// program alone shows.
func TestDriftOfProgram(t *testing.T) {
	program := tmuxtest.Binary(t)
	entries, err := inventory.FromBinary(program)
	if err != nil {
		t.Skipf("the tmux to test with holds no table: %v", err)
	}
	out, err := exec.Command(program, "-V").Output()
	if err != nil {
		t.Fatal(err)
	}
	v := version(t, string(out))
	inv := inventory.Inventory{Version: v, Entries: entries}
	full := readTable(t)
	if drift := parseTable(t, full).Drift(inv); len(drift) > 0 {
		t.Errorf("drift of %s: %+v", v, drift)
	}
	cut := regexp.MustCompile(`(?m)^  \{"name": "(pane_dead|pane_marked|session_created)".*\n`).ReplaceAllString(full, "")
	var got []string
	for _, c := range parseTable(t, cut).Drift(inv) {
		got = append(got, c.Change+" "+c.Token+" "+c.Scope)
	}
	want := []string{"added pane_dead pane", "added pane_marked pane", "added session_created session"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// An update makes the changes and nothing else, and then there is no drift.
func TestUpdate(t *testing.T) {
	full := readTable(t)
	v := version(t, "3.9")
	src := source(t, full, v, []string{"pane_dead"}, `{ "pane_new_flag", FORMAT_TABLE_STRING, format_cb_pane_new_flag },
		{ "zz", FORMAT_TABLE_STRING, format_cb_zz } `)
	src = append(src, `
static void *
format_cb_pane_new_flag(struct format_tree *ft)
{
	if (ft->wp != NULL)
		return (xstrdup("1"));
	return (NULL);
}

static void *
format_cb_zz(struct format_tree *ft)
{
	if (ft->c != NULL)
		return (format_printf("%u", ft->c->x));
	return (NULL);
}
`...)
	entries, err := inventory.ParseFormatC(src)
	if err != nil {
		t.Fatal(err)
	}
	inv := inventory.Inventory{Version: v, Entries: entries, Details: inventory.Details(src)}
	table := parseTable(t, full)
	updated, err := table.Update(inv, table.Drift(inv))
	if err != nil {
		t.Fatal(err)
	}
	if drift := updated.Drift(inv); len(drift) > 0 {
		t.Errorf("drift after the update: %+v", drift)
	}
	const note = `"doc": "Came with tmux 3.9; not described yet.", "note": "Scope and type are guessed from the source; check them."}`
	var gone, come []string
	oldLines, newLines := strings.Split(full, "\n"), strings.Split(string(updated.Text()), "\n")
	for _, l := range oldLines {
		if !slices.Contains(newLines, l) && !slices.Contains(newLines, l+",") {
			gone = append(gone, l)
		}
	}
	for _, l := range newLines {
		if !slices.Contains(oldLines, l) && !slices.Contains(oldLines, strings.TrimSuffix(l, ",")) {
			come = append(come, l)
		}
	}
	if len(gone) != 1 || !strings.Contains(gone[0], `"pane_dead"`) {
		t.Errorf("changed: %q", gone)
	}
	want := []string{
		strings.Replace(gone[0], `"since": "3.2"`, `"since": "3.2", "until": "3.8"`, 1),
		`  {"name": "pane_new_flag", "scope": "pane", "type": "bool", "since": "3.9", ` + note + ",",
		`  {"name": "zz", "scope": "client", "type": "int", "since": "3.9", ` + note,
	}
	if diff := cmp.Diff(want, come); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	goSource, err := updated.Source()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"`json:\"pane_new_flag\" tmux:\"pane_new_flag,since=3.9\"`", "until=3.8"} {
		if !strings.Contains(string(goSource), want) {
			t.Errorf("no %s in the Go source", want)
		}
	}
}

// Of a token that was found in a program nothing is known but its name.
func TestGuess(t *testing.T) {
	table := parseTable(t, readTable(t))
	inv := inventory.Inventory{Version: version(t, "3.2")}
	for _, name := range []string{"pane_new", "window_new_flag", "history_new", "brand_new_flag", "brand_new"} {
		inv.Entries = append(inv.Entries, inventory.Entry{Name: name})
	}
	got := map[string]string{}
	for _, c := range table.Drift(inv) {
		if c.Change == inventory.Added {
			got[c.Token] = c.Scope + " " + c.Type
		}
	}
	want := map[string]string{
		"pane_new": "pane string", "window_new_flag": "window bool", "history_new": "pane string",
		"brand_new_flag": "pane bool", "brand_new": "server string",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
