package script

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
)

// What becomes of the parts of a script on layers api and mcp, and of its cell: a part that
// fails ends alone, with what asks and examines in it left out, and what sets up run.
func TestParts(t *testing.T) {
	type given []outcome
	good, failed := outcome{stdout: "{\"a\": 1}\n"}, outcome{code: 1, stderr: "no such thing\n"}
	none := outcome{err: gap.NotOffered("no Server.a")}
	died := outcome{err: errors.New("the server ended: exit status 3")}
	for _, tt := range []struct {
		name, script string
		given        given
		want         string // the claims, and the status and reason of the cell
	}{
		{"all true", "api a\nclaim one\napi b\njson a 1\nclaim two\napi c\nextra three", given{good, good, good},
			"true: one; true: two; extra true: three; pass: "},
		{"the first fails", "api a\njson a 2\nstdout b\nclaim one\napi c\nclaim two", given{good, good},
			"open: one: x:2: a: a is 1, want 2; true: two; fail: x:2: a: a is 1, want 2"},
		{"the middle fails", "api a\nclaim one\napi b\nclaim two\napi c\nclaim three", given{good, failed, good},
			"true: one; open: two: x:3: b failed: no such thing (exit status 1); true: three; fail: x:3: b failed: no such thing (exit status 1)"},
		{"the last fails", "api a\nclaim one\napi b\nclaim two", given{good, failed},
			"true: one; open: two: x:3: b failed: no such thing (exit status 1); fail: x:3: b failed: no such thing (exit status 1)"},
		{"two fail", "! api a\nclaim one\napi b\nclaim two", given{good, failed},
			"open: one: x:1: a succeeded; open: two: x:3: b failed: no such thing (exit status 1); fail: x:1: a succeeded"},
		{"what sets up is run, and what asks is not", "api a\ntmux b\nstdout c\napi d\ntmux e\nclaim one\napi f\nclaim two", given{failed, good, good, good},
			"open: one: x:1: a failed: no such thing (exit status 1); true: two; fail: x:1: a failed: no such thing (exit status 1)"},
		{"what the call was to do is not awaited", "api a\nwait-until b tmux c\nclaim one\napi d\nclaim two", given{failed, good},
			"open: one: x:1: a failed: no such thing (exit status 1); true: two; fail: x:1: a failed: no such thing (exit status 1)"},
		{"an extra fails", "api a\nclaim one\napi b\nextra two", given{good, failed},
			"true: one; extra open: two: x:3: b failed: no such thing (exit status 1); pass: "},
		{"an extra fails, then a claim", "api a\nextra one\napi b\nclaim two", given{failed, failed},
			"extra open: one: x:1: a failed: no such thing (exit status 1); open: two: x:3: b failed: no such thing (exit status 1); fail: x:3: b failed: no such thing (exit status 1)"},
		{"the first is not offered", "api a\nclaim one\napi b\nclaim two", given{none, good},
			"not offered: one: no Server.a; true: two; not offered: no Server.a"},
		{"the second is not offered", "api a\nclaim one\napi b\nclaim two", given{good, none},
			"true: one; not offered: two: no Server.a; pass: "},
		{"not offered, and open", "api a\nclaim one\napi b\nclaim two", given{none, failed},
			"not offered: one: no Server.a; open: two: x:3: b failed: no such thing (exit status 1); fail: x:3: b failed: no such thing (exit status 1)"},
		{"not offered, as expected", "try api a\n[!not-offered] api c\n[ok] api c\n[failed] api c\n[not-offered] tmux b\nclaim one", given{none, good},
			"true: one; pass: "},
		{"offered, though", "try api a\n[not-offered] tmux b\n[ok] api c\nclaim one", given{good, good},
			"true: one; pass: "},
		{"a try that is not offered", "try api a\n[ok] api c\nclaim one", given{none},
			"not offered: one: no Server.a; not offered: no Server.a"},
		{"a save that is left out", "api a\njson a 2\nsave v a\nclaim one\napi b $v\ntmux c\nclaim two\napi d\nclaim three", given{good, good, good},
			"open: one: x:2: a: a is 1, want 2; not reached: two: x:5: it needs $v, which is not known: a: a is 1, want 2; true: three; fail: x:2: a: a is 1, want 2"},
		{"a save that fails", "api a\nsave v b\nclaim one\nexec echo ${v@R}\napi b\nclaim two", given{good},
			"open: one: x:2: a: there is no b to save; not reached: two: x:4: it needs $v, which is not known: a: there is no b to save; fail: x:2: a: there is no b to save"},
		{"a save of what sets up", "api a\ntmux b\nsave v\nclaim one\ntmux c $v\napi d\nclaim two", given{failed, good, good, good},
			"open: one: x:1: a failed: no such thing (exit status 1); true: two; fail: x:1: a failed: no such thing (exit status 1)"},
		{"saved after all", "api a\nsave v b\nclaim one\ntmux b\nsave v\napi c $v\nclaim two", given{good, good, good},
			"open: one: x:2: a: there is no b to save; true: two; fail: x:2: a: there is no b to save"},
		{"set-up that fails", "api a\nclaim one\ntmux b\napi c\nclaim two\nclaim three", given{good, failed},
			"true: one; blocked: two: x:3: set-up: b failed: no such thing (exit status 1); not reached: three; fail: x:3: set-up: b failed: no such thing (exit status 1)"},
		{"set-up that fails, in a part that failed", "api a\ntmux b\nclaim one\nclaim two\nclaim three", given{failed, failed},
			"open: one: x:1: a failed: no such thing (exit status 1); blocked: two: x:2: set-up: b failed: no such thing (exit status 1); not reached: three; fail: x:1: a failed: no such thing (exit status 1)"},
		{"waiting for what sets up, after a call of another part", "api a\nclaim one\nwait-until b tmux c\napi d\nclaim two", given{good},
			"true: one; blocked: two: x:3: set-up: c: no such program; fail: x:3: set-up: c: no such program"},
		{"a crash", "api a\nclaim one\napi b\nclaim two\napi c\nclaim three", given{good, died},
			"true: one; crash: two: x:3: b: the server ended: exit status 3; not reached: three; fail: x:3: b: the server ended: exit status 3"},
		{"the script is wrong", "api a\nclaim one\njson\nclaim two", given{good},
			"true: one; error: two: x:3: usage: json PATH [VALUE]; error: x:3: usage: json PATH [VALUE]"},
		{"for other versions", "[tmux:3.7] api a\n[tmux:3.7] claim one\napi b\nclaim two\n[!tmux:3.4] claim three", given{good},
			"n/a: one; true: two; n/a: three; pass: "},
		{"for other versions, except an extra", "[tmux:3.7] claim one\napi b\nextra two", given{good},
			"n/a: one; extra true: two; n/a: nothing that the gap asks for applies to this version"},
		{"in two branches", "[!tmux:3.7] api a\n[!tmux:3.7] claim one\n[!tmux:3.7] stop\napi b\nclaim one\nclaim two", given{good},
			"true: one; n/a: two; pass: "},
		{"na", "[!tmux:3.7] na 'too old'\napi a\nclaim one", nil, "n/a: one: too old; n/a: too old"},
		{"na behind a failure", "api a\nclaim one\n[!tmux:3.7] na 'too old'\napi b\nclaim two", given{failed},
			"open: one: x:1: a failed: no such thing (exit status 1); n/a: two: too old; fail: x:1: a failed: no such thing (exit status 1)"},
		{"skip behind a failure", "api a\nclaim one\nskip 'no terminal'\nclaim two", given{failed},
			"open: one: x:1: a failed: no such thing (exit status 1); skip: two: no terminal; fail: x:1: a failed: no such thing (exit status 1)"},
		{"two claims of a text", "api a\nclaim one\napi b\nclaim one\nclaim two", given{failed, good},
			"open: one: x:1: a failed: no such thing (exit status 1); error: two: x:4: there are two claims of this text; error: x:4: there are two claims of this text"},
		{"a claim about nothing", "tmux a\nclaim one\napi b\nclaim two", given{good},
			"error: one: x:2: nothing was asked or examined for this claim; error: two: x:2: nothing was asked or examined for this claim; error: x:2: nothing was asked or examined for this claim"},
		{"a claim after what was lost in an extra", "api a\nsave v b\nextra one\napi b $v\nclaim two", given{good},
			"extra open: one: x:2: a: there is no b to save; not reached: two: x:4: it needs $v, which is not known: a: there is no b to save; skip: x:4: it needs $v, which is not known: a: there is no b to save"},
		{"a name in quotes is no variable", "api a\nsave v b\nclaim one\napi b '$v'\nclaim two", given{good, good},
			"open: one: x:2: a: there is no b to save; true: two; fail: x:2: a: there is no b to save"},
		{"extras alone", "api a\nextra one", given{good}, "extra true: one; error: the script has extras, and no claim"},
		{"a tail without a claim", "api a\nclaim one\napi b\njson a", given{good, good},
			"true: one; error: x:4: it asks, and no claim follows that is about it"},
		{"a tail that fails", "api a\nclaim one\ntmux b\nstdout c", given{good, good},
			"true: one; error: x:4: it asks, and no claim follows that is about it"},
		{"a tail that only ends things", "api a\nclaim one\ntmux b", given{good, good}, "true: one; pass: "},
		{"a verdict", "api a\nclaim confirmed one\nclaim two", given{good},
			"error: one: x:2: usage: claim confirmed|refuted TEXT on layer tmux, and claim TEXT on the others; error: two: x:2: usage: claim confirmed|refuted TEXT on layer tmux, and claim TEXT on the others; error: x:2: usage: claim confirmed|refuted TEXT on layer tmux, and claim TEXT on the others"},
		{"what testscript itself finds wrong", "api a\nclaim one\nmkdir\napi b\nclaim two", given{good},
			"true: one; error: two: x:3: usage: mkdir dir...; error: x:3: usage: mkdir dir..."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g, err := gap.Parse("01-test.txtar", []byte("# gap: a\n# claim: b\n-- api --\n"+tt.script+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			target := report.Target{Path: "/no/such/program", Version: "3.6"}
			s, r := replay(t, child.Request{Layer: report.APILayer, Target: target, Another: true}, tt.script, tt.given)
			c := s.cell(r)
			c.Layer = report.APILayer
			c.Settle(g.Claims(report.APILayer, target.Version))
			var said []string
			for _, cl := range c.Claims {
				line := fmt.Sprintf("%s: %s", cl.Outcome, cl.Text)
				if !cl.Asked {
					line = "extra " + line
				}
				if cl.Why != "" {
					line += ": " + cl.Why
				}
				said = append(said, line)
			}
			said = append(said, fmt.Sprintf("%s: %s", c.Status, c.Reason))
			got := strings.NewReplacer("01-test.txtar:", "x:", "fork/exec /no/such/program: no such file or directory", "no such program").Replace(strings.Join(said, "; "))
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s\n%s", got, tt.want, r.text())
			}
			if c.Status == report.Fail && !slices.ContainsFunc(c.Evidence, func(e report.Evidence) bool { return e.Actual != "" }) {
				t.Errorf("it fails without evidence: %+v", c)
			}
		})
	}
}
