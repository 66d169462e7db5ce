package inventory_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/testtool"
	"tmuxmcp/internal/tokens/inventory"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

func TestParseFormatC(t *testing.T) {
	const source = `
	static int format_table_size(void);

	/* All the variables there are. */
	static const struct format_table_entry format_table[] = {
		{ "cat_colour", FORMAT_TABLE_STRING,
		  format_cb_cat_colour
		},
		{ "cat_fed_time", FORMAT_TABLE_TIME, /* { "not_me", FORMAT_TABLE_TIME, x }, */
		  format_cb_cat_fed_time
		},
		{ "dog_2", FORMAT_TABLE_STRING, format_cb_dog, },
		{"emu",FORMAT_TABLE_STRING,format_cb_emu}
	};
	static const struct other later[] = { { "fox", FORMAT_TABLE_STRING, f } };
	`
	got, err := inventory.ParseFormatC([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	want := []inventory.Entry{{Name: "cat_colour"}, {Name: "cat_fed_time", Time: true}, {Name: "dog_2"}, {Name: "emu"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestParseFormatCRefuses(t *testing.T) {
	for _, test := range []struct{ name, source, want string }{
		{"no source", "", "no format_table"},
		{"a declaration only", "extern struct e format_table[];", "no format_table"},
		{"an empty table", "e format_table[] = { };", "format_table is empty"},
		{"a cut table", `e format_table[] = { { "a", FORMAT_TABLE_STRING, a },`, "after 1 rows: cannot read"},
		{"a row of another shape", `e format_table[] = { { "a", FORMAT_TABLE_STRING, a }, { .key = "b" } };`, `cannot read " { .key = \"b\" } };"`},
		{"another kind", `e format_table[] = { { "a", FORMAT_TABLE_COLOUR, a } };`, "unknown kind FORMAT_TABLE_COLOUR"},
		{"no name", `e format_table[] = { { "A b", FORMAT_TABLE_STRING, a } };`, `"A b" is not a token name`},
		{"a name twice", `e format_table[] = { { "a", FORMAT_TABLE_STRING, a }, { "a", FORMAT_TABLE_STRING, a } };`, "a is there twice"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, err := inventory.ParseFormatC([]byte(test.source)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v and the error %v, want one with %s", got, err, test.want)
			}
		})
	}
}

// started is a server as Probe needs it, and its program.
func started(t *testing.T) (*tmux.Server, tmux.Version, inventory.Runner) {
	t.Helper()
	srv := tmuxtest.New(t)
	tmuxtest.Run(t, srv, "new-session", "-d")
	tmuxtest.Run(t, srv, "set-buffer", "text")
	v, err := srv.Version(tmuxtest.Context(t))
	if err != nil {
		t.Fatal(err)
	}
	return srv, v, func(ctx context.Context, args ...string) (string, error) {
		var cmds []tmux.Command
		for len(args) > 0 {
			n := 1
			for n < len(args) && args[n] != ";" {
				n++
			}
			cmds = append(cmds, tmux.Raw{Name: args[0], Args: args[1:n]})
			args = args[min(n+1, len(args)):]
		}
		outs, err := srv.Do(ctx, cmds...)
		if err != nil {
			return "", err
		}
		return string(outs[len(outs)-1]), nil
	}
}

// program is the running server's ELF program: TMUX_TEST_BINARY may be a script that starts it.
func program(t *testing.T, srv *tmux.Server) []inventory.Entry {
	t.Helper()
	entries, err := inventory.FromBinary(srv.Binary())
	if !errors.Is(err, inventory.ErrNoTable) {
		if err != nil {
			t.Fatal(err)
		}
		return entries
	}
	maps, openErr := os.Open("/proc/" + tmuxtest.Run(t, srv, "display-message", "-p", "#{pid}") + "/maps")
	if openErr != nil {
		t.Skipf("%v, and there is no list of the files it maps: %v", err, openErr)
	}
	defer maps.Close()
	tried := make(map[string]bool)
	for sc := bufio.NewScanner(maps); sc.Scan(); {
		f := strings.Fields(sc.Text())
		if path := f[len(f)-1]; filepath.IsAbs(path) && !tried[path] {
			tried[path] = true
			if entries, err := inventory.FromBinary(path); err == nil {
				return entries
			}
		}
	}
	t.Fatalf("none of the server's files has a token table: %v", tried)
	return nil
}

// A token is known to a tmux exactly if its release is in the table's range, whether the running
// server is asked or its program is read.
func TestTableAgreesWithThisTmux(t *testing.T) {
	srv, v, run := started(t)
	newest := tmux.MinVersion
	for _, token := range tmux.Tokens() {
		if newest.Compare(token.Since) < 0 {
			newest = token.Since
		}
	}
	if (tmux.Version{Major: v.Major, Minor: v.Minor}).Compare(newest) > 0 {
		t.Skipf("tmux %v is newer than the table, which ends at %v", v, newest)
	}
	inTable := make(map[string]bool)
	var names []string
	for _, token := range tmux.Tokens() {
		// A development version may be from before the last tokens of its release.
		if v.Next && token.Since.Minor == v.Minor {
			continue
		}
		inTable[token.Name] = token.In(v)
		if token.Scoped && token.Scope == tmux.ClientScope && !v.Has(tmux.Version{Major: 3, Minor: 3}) {
			continue // would kill the server, which has no client
		}
		names = append(names, token.Name)
	}
	names = append(names, "no_such_token", "pane")

	t.Run("asked", func(t *testing.T) {
		known, err := inventory.Probe(tmuxtest.Context(t), run, names)
		if err != nil {
			t.Fatal(err)
		}
		want := make(map[string]bool)
		for _, name := range names {
			want[name] = inTable[name]
		}
		if diff := cmp.Diff(want, known); diff != "" {
			t.Errorf("tmux %v (-table +server)\n%s", v, diff)
		}
		if env := tmuxtest.Run(t, srv, "show-environment", "-g"); strings.Contains(env, "pane_id") {
			t.Errorf("names were left in the environment:\n%s", env)
		}
	})
	t.Run("read", func(t *testing.T) {
		entries := program(t, srv)
		types := make(map[string]bool)
		for _, token := range tmux.Tokens() {
			types[token.Name] = token.Type == "time.Time"
		}
		got := make(map[string]bool)
		for _, e := range entries {
			if in, ok := inTable[e.Name]; ok || !v.Next {
				got[e.Name] = true
				if !in {
					t.Errorf("tmux %v has %s, which the table does not give it", v, e.Name)
				}
				if e.Time != types[e.Name] {
					t.Errorf("%s: tmux keeps it as a time: %v; the table says %v", e.Name, e.Time, types[e.Name])
				}
			}
		}
		for name, in := range inTable {
			if in && !got[name] {
				t.Errorf("tmux %v lacks %s, which the table gives it", v, name)
			}
		}
	})
}

func TestProbeRefuses(t *testing.T) {
	ctx := tmuxtest.Context(t)
	gone := errors.New("gone")
	for _, test := range []struct {
		name, token, answer string
		err                 error
		want                string
	}{
		{"a name that would be a format", "x,y}#{pid", "", nil, "is not a token name"},
		{"a failing server", "pane_id", "", gone, "gone"},
		{"too few answers", "pane_id", "", nil, "neither 0 nor 1"},
		{"too many answers", "pane_id", "1|1\n", nil, "2 answers to 1 names"},
	} {
		t.Run(test.name, func(t *testing.T) {
			run := func(context.Context, ...string) (string, error) { return test.answer, test.err }
			if _, err := inventory.Probe(ctx, run, []string{test.token}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got the error %v, want one with %s", err, test.want)
			}
		})
	}
}

func TestFromBinaryRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, data string) string {
		path := filepath.Join(dir, name)
		if err := testtool.WriteProgram(path, []byte(data)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{write("script", "#!/bin/sh\nexec tmux \"$@\"\n"), write("empty", ""), self} {
		if _, err := inventory.FromBinary(path); !errors.Is(err, inventory.ErrNoTable) {
			t.Errorf("%s: got the error %v", path, err)
		}
	}
	for _, path := range []string{write("cut", "\x7fELF\x02\x01\x01"), filepath.Join(dir, "none")} {
		if _, err := inventory.FromBinary(path); err == nil || errors.Is(err, inventory.ErrNoTable) {
			t.Errorf("%s: got the error %v", path, err)
		}
	}
}

// A program that says it has a gigabyte to load is not read into memory.
func TestFromBinaryIsBounded(t *testing.T) {
	// An ELF header of 64 bits, and one program header: PT_LOAD, a gigabyte.
	head := make([]byte, 64+56)
	copy(head, "\x7fELF\x02\x01\x01")
	for at, v := range map[int]uint64{32: 64, 64 + 8: 0, 64 + 32: 1 << 30, 64 + 40: 1 << 30} {
		binary.LittleEndian.PutUint64(head[at:], v)
	}
	for at, v := range map[int]uint16{16: 2, 18: 62, 20: 1, 52: 64, 54: 56, 56: 1, 58: 64, 64: 1} {
		binary.LittleEndian.PutUint16(head[at:], v)
	}
	path := filepath.Join(t.TempDir(), "tmux")
	if err := testtool.WriteProgram(path, head); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<30); err != nil {
		t.Fatal(err)
	}
	if _, err := inventory.FromBinary(path); err == nil || !strings.Contains(err.Error(), "more than 128 MiB to read") {
		t.Errorf("%v", err)
	}
}
