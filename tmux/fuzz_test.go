package tmux_test

import (
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

// texts are the seeds: every character to which some parser between here and the server
// gives a meaning.
var texts = []string{
	"", " ", "plain", ";", "a;", `a\;`, `\`, `\\`, "-x", "--", "-", "'", `'\''`, `"`, "a\nb", "a\\\nb", "\n", "a\n b", "a\n\tb", "a\n#b", "a\\\n b\n", "\t", "\r", "\x1b]0;x\a", "\x01\x1f\x7f",
	"#", "##", "#S", "#[x]", "##[x]", "#{pane_id}", "#{", "}", "#}", "a,b", "#,", "#(touch marker)", "#{E:x}", "%", "%%", "%Y", "%if", "$HOME", "${x}", "~", "~root", "`id`", "$(id)",
	"A=b", "{", "{ x }", "# comment", "ü€😀", "é́", "\u200d", "a\x00b", "\xff\xfe", "|", `\|`, `\033`, "*", "?", "[a]",
}

// FuzzText puts text wherever text can be put, and gets it back unchanged. A NUL byte is
// refused.
func FuzzText(f *testing.F) {
	for _, s := range append(texts, "a\x00b\x00", "\"; export X;\nY=\"z", "$x \\$y \\\\$z \\${a", "'\"'", "\"'\"") {
		f.Add(s)
	}
	srv := testserver.Started(f)
	pane, session, user := record(f, srv), srv.Session("$0"), srv.GlobalSessionOptions()
	long := tmux.SetOption{Global: true, Name: "@pad", Value: ptr(strings.Repeat("x", 20000))} // too long for arguments
	f.Fuzz(func(t *testing.T, text string) {
		ctx := testserver.Context(t)
		null := strings.Contains(text, "\x00")
		// same takes the result of putting the text somewhere, and a way to get it back.
		same := func(what string, err error, get func() (string, error)) {
			t.Helper()
			if null {
				check.Kind(t, what, err, tmux.ErrArgument)
				return
			}
			check.OK(t, err)
			check.Equal(t, what, text, check.Must[string](t)(get()))
		}
		for name, o := range map[string]tmux.Options{
			"@x": srv.Options(), "@y": user, "status-left": session.Options(), "@z": srv.GlobalWindowOptions(),
			"window-status-format": srv.Window("@0").Options(), "@p": srv.Pane("%0").Options(), "user-keys[7]": srv.Options(),
		} {
			same(name, o.Set(ctx, name, text), func() (string, error) { return o.Get(ctx, name) })
			if null {
				continue
			}
			item := check.Only[tmux.Option](t)(o.Items(ctx, name))
			check.That(t, item.Value == text && !item.Inherited, "set %s to %q, %+v holds", name, text, item)
		}
		for _, env := range []tmux.Environment{srv.Environment(), session.Environment()} {
			variable := tmux.Variable{Name: "FUZZ", Value: text}
			same("variable", env.Set(ctx, "FUZZ", text), func() (string, error) {
				got, err := env.Get(ctx, "FUZZ")
				return got.Value, err
			})
			if all := check.Must[[]tmux.Variable](t)(env.All(ctx)); !null && !slices.Contains(all, variable) {
				t.Errorf("%+v is not in %+v", variable, all)
			}
		}
		raw := func(name string) tmux.Raw {
			return tmux.Raw{Name: "set-option", Args: []string{"-g", name, text}}
		}
		value := func(name string) func() (string, error) {
			return func() (string, error) { return user.Get(ctx, name) }
		}
		same("an argument", do(ctx, srv, raw("@short")), value("@short"))
		same("in a long list", do(ctx, srv, raw("@long"), long), value("@long"))
		same("keys", pane.SendText(ctx, text), func() (string, error) { return string(pane.next(t)), nil })
		if text == "" {
			check.Kind(t, "an empty buffer", check.Second(srv.SetBuffer(ctx, "x", nil)), tmux.ErrArgument)
			return
		}
		check.Equal(t, "a buffer", text, string(check.Must[[]byte](t)(check.Must[tmux.BufferRef](t)(srv.SetBuffer(ctx, "x", []byte(text))).Bytes(ctx))))
		if null {
			return // no format has one, and it ends what the recorder reads
		}
		same("pasted", pane.Paste(ctx, []byte(text), tmux.PasteOptions{}), func() (string, error) { return string(pane.next(t)), nil })
		literal := tmux.Literal(text)
		for _, format := range []tmux.Format{literal, "#{@short}", "#{?pane_id," + literal + ",}"} {
			check.Equal(t, string(format)+" of the server", text, check.Must[string](t)(srv.Display(ctx, format)))
			check.Equal(t, string(format)+" of a pane", text, check.Must[string](t)(pane.Display(ctx, format)))
			same("an expanded option", do(ctx, srv, tmux.Raw{Name: "set-option", Args: []string{"-F", "-g", "@expanded", string(format)}}), value("@expanded"))
		}
		check.Equal(t, "the same", "1", check.Must[string](t)(pane.Display(ctx, "#{==:"+literal+","+literal+"}")))
	})
}
