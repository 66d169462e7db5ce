package tmux_test

import (
	"strings"
	"testing"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// texts are the seeds: every character that some reader between here and the
// server gives a meaning to.
var texts = []string{
	"", " ", "plain", ";", "a;", `a\;`, `\`, `\\`, "-x", "--", "-", "'", `'\''`, `"`, "a\nb", "a\\\nb", "\n", "a\n b", "a\n\tb", "a\n#b", "a\\\n b\n", "\t", "\r", "\x1b]0;x\a", "\x01\x1f\x7f",
	"#", "##", "#S", "#[x]", "##[x]", "#{pane_id}", "#{", "}", "#}", "a,b", "#,", "#(touch marker)", "#{E:x}", "%", "%%", "%Y", "%if", "$HOME", "${x}", "~", "~root", "`id`", "$(id)",
	"A=b", "{", "{ x }", "# comment", "ü€😀", "é́", "\u200d", "a\x00b", "\xff\xfe", "|", `\|`, `\033`, "*", "?", "[a]",
}

// FuzzArguments sends text as an argument, in an argument vector and in a list
// too long for one, and reads it back from tmux.
func FuzzArguments(f *testing.F) {
	for _, s := range texts {
		f.Add(s)
	}
	srv := started(f)
	type row struct {
		Short string `tmux:"@short"`
		Long  string `tmux:"@long"`
	}
	pad := strings.Repeat("x", 20000)
	f.Fuzz(func(t *testing.T, text string) {
		ctx := tmuxtest.Context(t)
		_, err := srv.Do(ctx, tmux.Raw{Name: "set-option", Args: []string{"-g", "@short", text}})
		if strings.IndexByte(text, 0) >= 0 {
			isKind(t, "a NUL byte", err, tmux.ErrArgument)
			return
		}
		ok(t, err)
		if _, err := srv.Do(ctx,
			tmux.Raw{Name: "set-option", Args: []string{"-g", "@long", text}},
			tmux.Raw{Name: "set-option", Args: []string{"-g", "@pad", pad}},
		); err != nil {
			t.Fatal(err)
		}
		rows := must[[]row](t)(tmux.List[row](ctx, srv, tmux.ListSessions{}))
		if rows[0].Short != text || rows[0].Long != text {
			t.Errorf("sent %q, got %q in an argument vector and %q in a long list", text, rows[0].Short, rows[0].Long)
		}
	})
}

// FuzzLiteral lets tmux expand literal text, at the top of a format and inside.
func FuzzLiteral(f *testing.F) {
	for _, s := range texts {
		f.Add(s)
	}
	srv := started(f)
	type row struct {
		Top    string `tmux:"@top"`
		Inside string `tmux:"@inside"`
		Same   bool   `tmux:"@same"`
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.IndexByte(text, 0) >= 0 {
			t.Skip("no format holds a NUL byte")
		}
		ctx := tmuxtest.Context(t)
		lit := string(tmux.Literal(text))
		var cmds []tmux.Command
		for name, format := range map[string]string{"@top": lit, "@inside": "#{?pane_id," + lit + ",no}", "@same": "#{==:" + lit + "," + lit + "}"} {
			cmds = append(cmds, tmux.Raw{Name: "set-option", Args: []string{"-F", "-g", name, format}})
		}
		ok(t, do(ctx, srv, cmds...))
		rows := must[[]row](t)(tmux.List[row](ctx, srv, tmux.ListSessions{}))
		equal(t, text, []row{{text, text, true}}, rows)
	})
}
