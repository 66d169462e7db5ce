package tmux_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// inertServer is a server with something in it that each format below shows.
func inertServer(t testing.TB) *tmux.Server {
	srv := tmuxtest.New(t)
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "main", "-n", "win dow", "cat")
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "two", "cat")
	tmuxtest.Run(t, srv, "split-window", "-d", "-t", "=main:", "cat")
	tmuxtest.Run(t, srv, "set-option", "-g", "@note", "a#Sb,}c %H é")
	tmuxtest.Run(t, srv, "select-pane", "-t", "%0", "-T", "title/1")
	return srv
}

// inert expands a format through Inert, as a caller of it would.
func inert(t testing.TB, srv *tmux.Server, format string) string {
	t.Helper()
	ctx := tmuxtest.Context(t)
	v, err := srv.Version(ctx)
	if err != nil {
		t.Fatal(err)
	}
	f, err := tmux.Inert(format, v)
	if err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	var b tmux.Batch
	got := tmux.Displayed(&b, tmux.DisplayMessage{Target: tmux.PaneID("%0"), Message: f})
	if err := b.Do(ctx, srv); err != nil {
		t.Fatalf("%s as %s: %v", format, f, err)
	}
	return *got
}

// What tmux makes of a format that is taken, it makes of the rewritten one.
func TestInertFormatsExpandAsTheyAre(t *testing.T) {
	t.Parallel()
	srv := inertServer(t)
	for _, format := range []string{
		"", "plain", "#{pane_id}", "#S:#I.#P #W #T #D #F #H #h", "a,b}c", "##S #, #} #x #Z", "#[fg=red]x#[default]", "##[x] ###[y]",
		"#{pane_id}#{window_id}:#{session_name}", "#{@note}", "#{status-left}", "#{status-format[0]}",
		"#{?pane_active,yes,no}", "#{?pane_dead,yes,no}", "#{?@nothing,a,b}", "#{?1,a,b}", "#{?a b,a,b}", "#{?#{@note},#{pane_id}#,x,b}", "#{?pane_dead,a,#{?pane_active,c,d}}",
		"#{==:#{pane_id},%0}", "#{!=:a,b}", "#{<:a,b}", "#{>:a,b}", "#{<=:a,a}", "#{>=:a,b}", "#{||:0,1}", "#{&&:1,0}", "#{&&:#{pane_active},#{pane_id}}",
		"#{m:t*1,#{pane_title}}", "#{m/i:TITLE?1,#{pane_title}}", "#{m/r:^t.*[0-9]$,#{pane_title}}", "#{m/ri:^TITLE,#{pane_title}}",
		"#{C:nothing}", "#{C/r:^x}", "#{e|+|:1,2}", "#{e|/|f:1,4}", "#{e|*|f|4:1.5,2}", "#{e|m|:7,4}", "#{e|<|:7,#{pane_width}}",
		"#{=3:pane_title}", "#{=-3:pane_title}", "#{=/3/…:pane_title}", "#{=/3/,#}:pane_title}", "#{p12:pane_title}|", "#{p-12:pane_title}|", "#{n:pane_title}", "#{w:pane_title}",
		"#{s/t/T/:pane_title}", "#{s/(t)i/<\\1>/:pane_title}", "#{s|t(.)|[\\1]|i:pane_title}", "#{s/t/#,/;s/l/_/:pane_title}", "#{b:pane_title}", "#{d:pane_title}", "#{q:@note}",
		"#{=2;s/i/e/:pane_title}", "#{=3:#{pane_title}x}", "#{t/f/%%Y:session_created}", "#{t:session_created}", "#{t/p:session_created}",
		"#{S:#{session_name} }", "#{W:#{window_name},[#{window_name}]}", "#{P:#{pane_id} ,*#{pane_id} }", "#{S:#{W:#{P:#{pane_id} }}}",
		"#{N/s:two}", "#{N/w:none}", "#{N:win dow}", "#{a:65}", "#{l:plain}", "back\\slash $HOME \"q\" 'q'", "é ❤ #{@note}\nline",
		"#{history_size}/#{history_limit}", "#{client_name}", "#{client_created}", "#{?client_created,a,b}", "#{pane_fg}",
	} {
		// Percent signs are text here, and t/f takes them as in a status line.
		want := tmuxtest.Run(t, srv, "display-message", "-p", "-t", "%0", strings.NewReplacer("%0", "%%0").Replace(guarded(t, srv, format)))
		if v, _ := srv.Version(tmuxtest.Context(t)); v.Major == 3 && (v.Minor == 4 || v.Minor == 5) {
			// These print what is not a letter as an escape.
			want = strings.ReplaceAll(strings.ReplaceAll(want, `\\`, `\`), `\$`, "$")
		}
		if got := inert(t, srv, format); got != want {
			t.Errorf("%q expands to %q, want %q", format, got, want)
		}
	}
}

// guarded keeps tokens away from tmux 3.2a that would end it.
func guarded(t testing.TB, srv *tmux.Server, format string) string {
	if v, _ := srv.Version(tmuxtest.Context(t)); v.Has(tmux.Version{Major: 3, Minor: 3}) {
		return format
	}
	return strings.NewReplacer("#{client_created}", "", "#{?client_created,a,b}", "b").Replace(format)
}

// What versions read differently is what the newest makes of it on all.
func TestInertFormatsAreTheSameOnAllVersions(t *testing.T) {
	t.Parallel()
	srv := inertServer(t)
	for format, want := range map[string]string{
		"#{!:0}": "1", "#{!:#{pane_id}}": "0", "#{!!:x}": "1", "#{!!:}": "0", "#{&&:1,1,0}": "0", "#{&&:1,1,x}": "1", "#{||:0,,x}": "1", "#{||:0}": "0",
		"#{?pane_dead,a,pane_active,b,c}": "b", "#{?pane_dead,a,window_zoomed_flag,b,c}": "c", "#{?pane_dead,a}": "", "#{?pane_active,a}": "a",
		"#{l:a#,b#}c##}": "a,b}c#", "#{a:35}(x)": "#(x)", "#{a:35}{pane_id}": "#{pane_id}", "%H %% %Y %": "%H %% %Y %", "#{==:#{pane_id},%0}": "1",
		"#{@note}": "a#Sb,}c %H é", "100%": "100%", "a#": "a#", "#{?pane_active,#,#},x}": ",}", "#{t/f/%Y:session_created}": time.Now().Format("2006"),
		"#{=|2|#::pane_title}": "ti:", "#{s/t/#:/:pane_title}": ":i:le/1", "#{t/f/%H#:%%M:@nothing}": "",
		"#{S:x,y}": "xx", "#{l:#S}": "#S", "#{l:#{pane_id},#(x)}": "#{pane_id},#(x)", "#{l:100%}#{l:}": "100%",
	} {
		if got := inert(t, srv, format); got != want {
			t.Errorf("%q expands to %q, want %q", format, got, want)
		}
	}
}

func TestInertRefuses(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("#{?x,", 30) + strings.Repeat(",}", 30)
	for format, why := range map[string]string{
		"#(touch x)": "shell command", "a #(x": "shell command", "#{?x,#(x),}": "shell command", "###(x)": "shell command",
		"#{E:#{a:35}(x)}": "E: expands", "#{T:status-right}": "T: expands", "#{E:@opt}": "E: expands", "#{b;E:@opt}": "E: expands", "#{E;b:@opt}": "", "#{T/x/:@opt}": "T: expands",
		"#{s/x/#{a:35}(y)/:pane_title}": "format in the argument", "#{s/#{@x}/y/:pane_title}": "format in the argument", "#{s/a/##(y)/:pane_title}": "# in s",
		"#{=#{@x}:pane_title}": "neither", "#{p999999999:pid}": "width", "#{=999999999:pid}": "width", "#{R:x,1000000}": "R: repeats", "#{R/x:x,1}": "R: repeats",
		"#{S:#{S:x}}": "inside", "#{W:#{P:#{W:x}}}": "inside", "#{m:" + strings.Repeat("*a", 9) + ",x}": "stars", "#{m/r:(x{9#}){9#},x}": "{ in", `#{m/r:(a)\1,x}`: "back reference",
		`#{s/(a){3#}/x/:pane_id}`: "{ in", "#{m/r:#{@x},y}": "inside a regular expression", "#{O:x}": "options", "#{V:x}": "environment", "#{A:x,y}": "animates", "#{I/f:x}": "client",
		"#{pane_id": "without its }", "#{": "without its }", "#{}": "", "#{pane id}": "", "#{pane_id;x}": "", "#{:x}": "neither", "#{=5:words here}": "not a name", "#{=5:#S}": "not a name",
		"#{?x}": "condition", "#{==:a}": "2 operands", "#{==;m:a,b}": "together", "#{e|#|:1,2}": "", "#{e|+|f|99:1,2}": "precision", "#{e:1,2}": "e takes", "#{x:y}": "neither",
		"#{t/f/%5d:session_created}": "letters after", "#{t/q:session_created}": "t takes", deep: "deep", strings.Repeat("x", 3000): "more than", "#{a:7}": "32 to 126", "#{a:#{@x}}": "32 to 126",
		"#{s/\x01/x/:pane_id}": "control", "#{C/z:x}": "flags", "#{b/x:pane_id}": "flags", "#{n;l:x}": "plain text", "#{l:#{x}": "without its }", "#{q/x:pane_id}": "flags", "#{n:x y}": "not a name",
	} {
		f, err := tmux.Inert(format, tmux.Version{Major: 3, Minor: 8})
		if !errors.Is(err, tmux.ErrArgument) || !strings.Contains(err.Error(), why) {
			t.Errorf("%.60q: %q, %v; want an error with %q", format, f, err, why)
		}
	}
	for format, why := range map[string]string{
		"#{HOME}": "environment is not read", "#{?HOME,a,b}": "environment is not read", "#{=5:PATH}": "environment is not read", "#{n:SECRET}": "environment is not read", "#{pane_id[0]}": "no token",
		"#{alert-bell}": "no token", "#{pane-exited[0]}": "no token", "#{copy_cursor_word}": "no token", "#{S:#{SECRET}}": "environment is not read", "#{s/a/b/:SECRET}": "environment is not read",
		"#{buffer_sample}": "paste buffer", "#{=9:buffer_full}": "paste buffer", "#{?buffer_name,a,b}": "paste buffer", "#{n:buffer_sample}": "paste buffer", "#{t:buffer_created}": "paste buffer",
	} {
		if f, err := tmux.Inert(format, tmux.Version{Major: 3, Minor: 8}); !errors.Is(err, tmux.ErrArgument) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %q, %v; want an error with %q", format, f, err, why)
		}
	}
	for format, since := range map[string]string{"#{L:x}": "3.4", "#{c:red}": "3.3", "#{S/n:x}": "3.6", "#{t/r:session_created}": "3.8", "#{q/a:@x}": "3.7"} {
		if _, err := tmux.Inert(format, tmux.Version{Major: 3, Minor: 2}); !errors.Is(err, tmux.ErrUnsupported) || !strings.Contains(err.Error(), since) {
			t.Errorf("%s on tmux 3.2: %v, want that it needs %s", format, err, since)
		}
	}
	// What only other versions have is empty, and not looked up in the environment.
	for format, v := range map[string]tmux.Version{
		"#{pane_x}": {Major: 3, Minor: 2}, "#{theme}": {Major: 3, Minor: 2}, "#{?pane_dead_signal,a,b}": {Major: 3, Minor: 2}, "#{loop_last_flag}": {Major: 3, Minor: 8},
	} {
		f, err := tmux.Inert(format, v)
		name := strings.Trim(strings.TrimSuffix(format, ",a,b}"), "#{?}")
		if err != nil || strings.Contains(string(f), name) {
			t.Errorf("%s on tmux %s: %q, %v", format, v, f, err)
		}
	}
}

// FuzzInert expands whatever Inert takes on a real server, where values try to
// run commands, and looks for the file that any of them would make.
func FuzzInert(f *testing.F) {
	for _, seed := range []string{
		"#(touch MARK)", "#{E:#{a:35}(touch MARK)}", "#{s/x/#{a:35}(touch MARK)/:pane_id}", "#{@run}", "#{T:@run}", "#{?#{@run},#{@run},#{E:@run}}", "#{s/%/##(touch MARK)/:pane_id}",
		"#{=5:@run}", "#{S:#{W:#{P:#{@run}}}}", "#{l:#(touch MARK)}", "#{m:#{@run},#{@run}}", "###(touch MARK)", "#{q;E:@run}", "#%p(touch MARK)", "#{C:#{@run}}", "#[#(touch MARK)]",
		"#{t/f/#(touch MARK):session_created}", "#{=/3/#{@run}:pane_id}", "#{N:#{@run}}", "#{||:#{@run},#{@run}}", "#{e|+|:#{@run},1}", "#{R:#(touch MARK),3}", "#{pane_title}", "#{s/./\\#(touch MARK)/:pane_id}",
	} {
		f.Add(seed)
	}
	srv := tmuxtest.New(f)
	mark := filepath.Join(f.TempDir(), "mark")
	run := "#(touch " + mark + ")"
	tmuxtest.Run(f, srv, "new-session", "-d", "-s", "main", "cat")
	tmuxtest.Run(f, srv, "set-option", "-g", "@run", run)
	tmuxtest.Run(f, srv, "select-pane", "-t", "%0", "-T", strings.ReplaceAll(run, "#", "##"))
	ctx := tmuxtest.Context(f)
	v, err := srv.Version(ctx)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, format string) {
		format = strings.ReplaceAll(format, "MARK", mark)
		if strings.Contains(format, "\x00") {
			return
		}
		safe, err := tmux.Inert(format, v)
		if err != nil {
			if !errors.Is(err, tmux.ErrArgument) && !errors.Is(err, tmux.ErrUnsupported) {
				t.Errorf("%q: %v is of no kind", format, err)
			}
			return
		}
		var b tmux.Batch
		tmux.Displayed(&b, tmux.DisplayMessage{Target: tmux.PaneID("%0"), Message: safe})
		// tmux ends a client's jobs when the client leaves, so it stays a little.
		tmux.Add(&b, tmux.IfShell{Condition: "sleep 0.02"})
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := b.Do(ctx, srv); err != nil && !errors.Is(err, tmux.ErrArgument) {
			t.Fatalf("%q as %q: %v", format, safe, err)
		}
		if _, err := os.Stat(mark); err == nil {
			os.Remove(mark)
			t.Fatalf("%q as %q ran a shell command", format, safe)
		}
	})
}
