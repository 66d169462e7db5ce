package commit

import (
	"slices"
	"strings"
	"testing"

	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/journal"
)

// Which files count as those of a swap: the files that have something of it, unless they are
// another swap's, or else the file that was swapped.
func TestRelevant(t *testing.T) {
	t.Parallel()
	container := []string{"mcpServers"}
	r := &journal.Record{Seq: 1, Action: journal.Added, Target: "/was", Container: container, Server: "s"}
	for _, c := range []struct {
		name    string
		files   string // with what has become of the entry in each: "has", "back" or "edited"
		others  string // files of other swaps
		swapped string
		want    string
	}{
		{"the file that was swapped", "/was=has", "", "/was", "/was"},
		{"two with the swap", "/now=has /was=has", "", "/was", "/now /was"},
		{"only the one that the client reads now has it", "/now=has /was=back", "", "/was", "/now"},
		{"only the one that was swapped has it", "/now=back /was=has", "", "/was", "/was"},
		{"the one that the client reads now is another swap's", "/now=has /was=has", "/now", "/was", "/was"},
		{"the same, and nothing is in the file that was swapped", "/now=has /was=back", "/now", "/was", "/was"},
		{"the file that was swapped is another swap's too", "/was=has", "/was", "/was", "/was"},
		{"the same, beside one that the client reads now", "/now=has /was=has", "/was", "/was", "/now /was"},
		{"none of several has it, and what was swapped is gone", "/now=back /other=back", "", "", "/other"},
		{"none has it", "/now=back /was=back", "", "/was", "/was"},
		{"none has it, and what was swapped is gone", "/now=back", "", "", "/now"},
		{"another entry, and what was swapped is gone", "/now=edited", "", "", ""},
		{"nothing is left", "", "", "", ""},
	} {
		var all []*place
		for _, word := range strings.Fields(c.files) {
			file, is, _ := strings.Cut(word, "=")
			v := Verdict{rec: r, client: clients.Lookup("cursor")}
			switch is {
			case "has":
				v.became, v.Landed = entryWritten, &journal.Write{}
			case "back":
				v.became = entryBefore
			default:
				v.became, v.Now = entryEdited, map[string]any{}
			}
			all = append(all, &place{&configs.Document{Target: file}, v})
		}
		st := &journal.State{}
		for i, file := range strings.Fields(c.others) {
			st.Records = append(st.Records, journal.Record{Seq: i + 2, Target: file, Container: container, Server: "s"})
		}
		var got []string
		for _, p := range relevant(st, r, all, c.swapped) {
			got = append(got, p.doc.Target)
		}
		if !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// What the writes of a swap did to a field, whose value is now "n".
func TestSwapOfField(t *testing.T) {
	t.Parallel()
	type entry = map[string]any
	for _, c := range []struct {
		name                        string
		was                         entry
		writes                      []entry
		changed, untouched, objects bool
	}{
		{"left alone", entry{"f": "o"}, []entry{{"f": "o"}}, false, false, false},
		{"written, and edited", entry{"f": "o"}, []entry{{"f": "w"}}, true, false, false},
		{"written, and as it was left", entry{"f": "o"}, []entry{{"f": "n"}}, true, true, false},
		{"as the first write left it", entry{"f": "o"}, []entry{{"f": "w"}, {"f": "n"}}, true, true, false},
		{"as the second write left it", entry{"f": "o"}, []entry{{"f": "n"}, {"f": "w"}}, true, true, false},
		{"only the first write changed it", entry{"f": "o"}, []entry{{"f": "o"}, {"f": "w"}}, true, false, false},
		{"written as null", entry{}, []entry{{"f": nil}}, true, false, false},
		{"removed", entry{"f": nil}, []entry{{}}, true, false, false},
		{"an object", entry{"f": entry{}}, []entry{{"f": entry{"m": "w"}}}, true, false, true},
		{"an object that became a text", entry{"f": entry{}}, []entry{{"f": entry{"m": "w"}}, {"f": "w"}}, true, false, false},
		{"a text that became an object", entry{"f": entry{}}, []entry{{"f": "w"}, {"f": entry{"m": "w"}}}, true, false, false},
		{"an object added by one write", entry{}, []entry{{"f": entry{}}, {}}, true, false, true},
	} {
		f := swapOfField("f", c.was, c.writes, func(wrote any) bool { return wrote == any("n") })
		if f.changed != c.changed || f.untouched != c.untouched || f.objects != c.objects || len(f.members) != len(c.writes) {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}
