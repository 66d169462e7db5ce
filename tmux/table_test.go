package tmux

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testtmux"
)

// form is a command as one or more releases have it, from
// testdata/commands.json: flags as in tmux's own getopt string.
type form struct {
	Since, Until string
	Flags        string
	Min, Max     int
}

func commandTable(t *testing.T) map[string][]form {
	data, err := os.ReadFile("testdata/commands.json")
	if err != nil {
		t.Fatal(err)
	}
	var table map[string][]form
	if err := json.Unmarshal(data, &table); err != nil {
		t.Fatal(err)
	}
	return table
}

// without are flags and commands that the structs leave out, and why.
var without = map[string]string{
	"run-shell -s":        "taken and ignored",
	"switch-client -F":    "taken and ignored",
	"server-access -t":    "in the usage line only",
	"display-message -c":  "takes no value in 3.2, by mistake",
	"split-window -p":     "-l with a percentage; fails in 3.4 whatever it is given",
	"new-pane -p":         "as split-window -p",
	"join-pane -p":        "as split-window -p",
	"move-pane -p":        "as split-window -p",
	"run-shell words":     "joined with spaces by the tmux versions that take more than one",
	"set-window-option":   "set-option -w",
	"show-window-options": "show-options -w",
}

var releases = []string{"3.2", "3.3", "3.4", "3.5", "3.6", "3.7", "3.8"}

// flagKinds returns the flags of a getopt string and whether they take a value: "", ":" or
// "::".
func flagKinds(flags string) map[string]string {
	kinds := map[string]string{}
	for _, m := range regexp.MustCompile(`([A-Za-z0-9])(:*)`).FindAllStringSubmatch(flags, -1) {
		kinds[m[1]] = m[2]
	}
	return kinds
}

// at returns the form of a command in a release.
func at(forms []form, release string) *form {
	var found *form
	for i, f := range forms {
		if f.Since <= release && (f.Until == "" || release <= f.Until) {
			found = &forms[i]
		}
	}
	return found
}

// Every command of the table has a struct, whose tags offer in each release
// exactly the flags that tmux has there.
func TestCommandsAgreeWithTheTable(t *testing.T) {
	t.Parallel()
	table := commandTable(t)
	seen := map[string]bool{}
	for _, c := range commands {
		name := c.commandName()
		seen[name] = true
		forms, ok := table[name]
		if !ok {
			t.Errorf("%T is %s, which no tmux has", c, name)
			continue
		}
		plan := planOf(reflect.TypeOf(c))
		if want := mustVersion(forms[0].Since); plan.since != want && !(plan.since == Version{} && forms[0].Since == "3.2") {
			t.Errorf("%s is tagged since %v, the table has %s", name, plan.since, forms[0].Since)
		}
		for _, r := range releases {
			f := at(forms, r)
			if f == nil {
				continue
			}
			v := mustVersion(r)
			have := map[string]string{}
			for _, fl := range plan.flags {
				if (Token{Since: fl.since, Until: fl.until}).In(v) {
					have[fl.flag[:1]] += map[bool]string{true: "", false: ":"}[fl.isBool]
				}
			}
			want := flagKinds(f.Flags)
			for flag, kind := range want {
				got, ok := have[flag]
				switch {
				case !ok && without[name+" -"+flag] != "":
				case !ok:
					t.Errorf("%s: no field for -%s of tmux %s", name, flag, r)
				case kind != "::" && got != kind:
					t.Errorf("%s -%s: is it a switch or a value? tmux %s has %q, the fields %q", name, flag, r, kind, got)
				}
			}
			for flag := range have {
				if _, ok := want[flag]; !ok {
					t.Errorf("%s: a field for -%s, which tmux %s does not have", name, flag, r)
				}
			}
			checkArgs(t, name, r, plan, f)
		}
	}
	for name := range table {
		if !seen[name] && without[name] == "" {
			t.Errorf("no struct for %s", name)
		}
	}
}

// checkArgs compares how many words may follow the flags.
func checkArgs(t *testing.T, name, release string, plan *commandPlan, f *form) {
	v, n, open := mustVersion(release), 0, false
	for _, a := range plan.args {
		if !(Token{Since: a.since, Until: a.until}).In(v) {
			continue
		}
		n++
		open = open || a.isSlice
	}
	if without[name+" words"] != "" {
		return
	}
	if open != (f.Max < 0) && f.Max < 2 || !open && n > f.Max || !open && n < f.Max && f.Max < 3 {
		t.Errorf("%s: %d fields for words (a list among them: %v), tmux %s takes %d to %d", name, n, open, release, f.Min, f.Max)
	}
}

// usageFlags returns the flags named in a usage line of list-commands.
func usageFlags(usage string) []string {
	flags := map[string]bool{}
	for _, m := range regexp.MustCompile(`\[-([A-Za-z0-9]+)`).FindAllStringSubmatch(usage, -1) {
		for _, c := range m[1] {
			flags[string(c)] = true
		}
	}
	list := []string{}
	for f := range flags {
		list = append(list, f)
	}
	slices.Sort(list)
	return list
}

// usages returns the commands of the running tmux and its descriptions of them.
func usages(t *testing.T) (srv *Server, usages map[string]string) {
	t.Helper()
	srv, err := New(Config{Binary: testtmux.Binary(t), SocketPath: filepath.Join(t.TempDir(), "s"), ConfigFile: "/dev/null"})
	if err != nil {
		t.Fatal(err)
	}
	type command struct {
		Name  string `tmux:"command_list_name"`
		Alias string `tmux:"command_list_alias"`
		Usage string `tmux:"command_list_usage"`
	}
	// list-commands starts a server, which ends at once.
	known, err := List[command](t.Context(), srv, ListCommands{})
	if err != nil || len(known) < 80 || known[0].Alias != "attach" {
		t.Fatalf("%d commands, %v: %+v", len(known), err, known)
	}
	usages = map[string]string{}
	for _, c := range known {
		usages[c.Name] = c.Usage
	}
	return srv, usages
}

// The running tmux has no command and no flag that the structs lack. A tmux newer than the
// table is noticed here first.
func TestNoFlagOfThisTmuxIsMissing(t *testing.T) {
	t.Parallel()
	plans := commandsByName()
	_, known := usages(t)
	for name, usage := range known {
		plan := plans[name]
		if plan == nil {
			if without[name] == "" {
				t.Errorf("no struct for %s %s", name, usage)
			}
			continue
		}
		for _, flag := range usageFlags(usage) {
			if !slices.ContainsFunc(plan.flags, func(f commandField) bool { return f.flag[:1] == flag }) && without[name+" -"+flag] == "" {
				t.Errorf("no field for %s -%s: %s", name, flag, usage)
			}
		}
	}
}

// A feature that stands for a flag or command is what the command's struct says.
func TestFeaturesAreThoseOfTheTags(t *testing.T) {
	for f, want := range map[Feature]Feature{
		FloatingPanes: FeatureOf(NewPane{}, ""), rawPastes: FeatureOf(PasteBuffer{}, "Raw"),
	} {
		if f != want {
			t.Errorf("%+v, want %+v", f, want)
		}
	}
}

// A feature that stands for a flag or command is supported exactly if this tmux's own list
// of commands has it. (The list omits split-window -E.)
func TestFeaturesAreThoseOfThisTmux(t *testing.T) {
	t.Parallel()
	srv, known := usages(t)
	for _, f := range []Feature{
		FloatingPanes, FeatureOf(MovePane{}, "Position"), FeatureOf(SplitWindow{}, "Wait"),
		FeatureOf(SplitWindow{}, "Style"), FeatureOf(KillPane{}, "Filter"), FeatureOf(KillSession{}, "Group"),
		FeatureOf(ListClients{}, "Filter"), FeatureOf(ListPanes{}, "Order"), FeatureOf(ServerAccess{}, ""),
		FeatureOf(ShowPromptHistory{}, ""), FeatureOf(RunShell{}, "Stderr"), FeatureOf(RunShell{}, "Dir"),
		FeatureOf(WaitFor{}, "Event"),
	} {
		name, flag, isFlag := strings.Cut(f.Name, " -")
		usage, has := known[name]
		if isFlag {
			has = slices.Contains(usageFlags(usage), flag)
		}
		if got, err := srv.Supports(t.Context(), f); err != nil || got != has {
			t.Errorf("%s: supported is %v (%v), list-commands has %q", f.Name, got, err, usage)
		}
	}
}

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]Version{
		"tmux 3.6a": {Major: 3, Minor: 6, Letter: 'a'}, " 3.7\n": {Major: 3, Minor: 7}, "next-3.8": {Major: 3, Minor: 8, Next: true},
		"tmux next-3.10b": {Major: 3, Minor: 10, Letter: 'b', Next: true}, "tmux-3.2a 3.2a": {Major: 3, Minor: 2, Letter: 'a'}, "tmux 3.5-rc2": {Major: 3, Minor: 5},
		"3.4a-1~bpo-2": {Major: 3, Minor: 4, Letter: 'a'}, "03.04": {Major: 3, Minor: 4},
	} {
		if v, err := ParseVersion(text); err != nil || v != want {
			t.Errorf("%q is %+v, %v; want %+v", text, v, err, want)
		}
	}
	for _, text := range []string{
		"", "tmux", "master", "openbsd-7.6", "tmux openbsd-7.6", "3", "3.", ".4", "3.a", "3.4A", "3.4ab", "3.4 a", "3.4.1", "+3.4", "3.-4", "3.4_", "x3.4",
		"screen 3.4", "next-", "next3.4", "99999999999.1", "3.99999999999",
	} {
		if v, err := ParseVersion(text); err == nil || v != (Version{}) {
			t.Errorf("%q is %+v, %v", text, v, err)
		}
	}
}
