package tmux_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/testtool"
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
	tmuxtest.Run(t, srv, "set-option", "-g", "@huge", strings.Repeat("é", 6000))
	tmuxtest.Run(t, srv, "select-pane", "-t", "%0", "-T", "title/1")
	return srv
}

// inert expands a format through Inert, as a caller of it would.
func inert(t testing.TB, srv *tmux.Server, format string) string {
	t.Helper()
	ctx := tmuxtest.Context(t)
	f, err := tmux.Inert(format, must[tmux.Version](t)(srv.Version(ctx)))
	if err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	var b tmux.Batch
	got := tmux.Displayed(&b, tmux.DisplayMessage{Target: tmux.PaneID("%0"), Message: f})
	ok(t, b.Do(ctx, srv))
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
		"#{==:#{pane_id},%0}", "#{!=:a,b}", "#{||:0,1}", "#{&&:1,0}", "#{&&:#{pane_active},#{pane_id}}", "#{?#{&&:#{==:#{pane_id},%0},#{pane_active}},#{pane_title},b}",
		"#{=3:pane_title}", "#{=-3:pane_title}", "#{p12:pane_title}|", "#{p-12:pane_title}|", "#{n:pane_title}", "#{w:pane_title}",
		"#{b:pane_title}", "#{d:pane_title}", "#{q:@note}", "#{=2;q:@note}", "#{=3:#{pane_title}x}", "#{t:session_created}", "#{t/p:session_created}",
		"#{l:plain}", "back\\slash $HOME \"q\" 'q'", "é ❤ #{@note}\nline",
		"#{history_size}/#{history_limit}", "#{client_name}", "#{client_created}", "#{?client_created,a,b}", "#{pane_fg}", "#{@huge}", "#{=3:@huge}#{@note}",
	} {
		// Percent signs are text here, and t/f takes them as in a status line.
		want := tmuxtest.Run(t, srv, "display-message", "-p", "-t", "%0", strings.NewReplacer("%0", "%%0").Replace(guarded(t, srv, format)))
		if v, _ := srv.Version(tmuxtest.Context(t)); v.Major == 3 && (v.Minor == 4 || v.Minor == 5) {
			// These print what is not a letter as an escape.
			want = strings.ReplaceAll(strings.ReplaceAll(want, `\\`, `\`), `\$`, "$")
		}
		equal(t, format, want, inert(t, srv, format))
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
		"#{&&:1,1,0}": "0", "#{&&:1,1,x}": "1", "#{||:0,,x}": "1", "#{?pane_dead,a}": "", "#{?pane_active,a}": "a", "#{?#{l:a b},a,b}": "b", "#{=3:#S}": "mai", "#{?#{l:pane_}active,a,b}": "a",
		"#{l:a#,b#}c##}": "a,b}c#", "#{l:##}(x)": "#(x)", "%H %% %Y %": "%H %% %Y %", "#{==:#{pane_id},%0}": "1",
		"#{@note}": "a#Sb,}c %H é", "100%": "100%", "a#": "a#", "#{?pane_active,#,#},x}": ",}",
		"#{l:#S}": "#S", "#{l:#{pane_id},#(x)}": "#{pane_id},#(x)", "#{l:100%}#{l:}": "100%",
	} {
		equal(t, format, want, inert(t, srv, format))
	}
}

func TestInertRefuses(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("#{?x,", 30) + strings.Repeat(",}", 30)
	for format, why := range map[string]string{
		"#(touch x)": "shell command", "a #(x": "shell command", "#{?x,#(x),}": "shell command", "###(x)": "shell command",
		"#{E:#{a:35}(x)}": "not taken", "#{T:status-right}": "not taken", "#{E:@opt}": "not taken", "#{b;E:@opt}": "not taken", "#{E;b:@opt}": "not taken",
		"#{=#{@x}:pane_title}": "not taken", "#{p999999999:pid}": "not taken", "#{=1001:pid}": "not taken", "#{R:x,1000000}": "not taken", "#{S:#{session_name}}": "the list tools",
		"#{s/a/b/:pane_id}": "not taken", "#{m:a*,b}": "not taken", "#{C:x}": "not taken", "#{N/s:x}": "not taken", "#{e|+|:1,2}": "not taken", "#{a:65}": "not taken", "#{t/f/%Y:session_created}": "not taken",
		"#{pane_id": "without its }", "#{": "without its }", "#{}": "not taken", "#{pane id}": "", "#{pane_id;x}": "", "#{:x}": "not taken", "#{=5:words here}": "not a name", "#{n:#{l:HOME}}": "not a name",
		"#{?x}": "1 operands", "#{?x,a,b,c}": "4 operands", "#{==:a}": "1 operands", "#{&&:a}": "1 operands", "#{x:y}": "not taken", deep: "deep", strings.Repeat("x", 3000): "more than",
		"#{n;l:x}": "not taken", "#{l:#{x}": "without its }", "#{n:x y}": "not a name", "#{n;n;pane_id}": "not taken",
	} {
		f, err := tmux.Inert(format, tmux.Version{Major: 3, Minor: 8})
		if !errors.Is(err, tmux.ErrArgument) || !strings.Contains(err.Error(), why) {
			t.Errorf("%.60q: %q, %v; want an error with %q", format, f, err, why)
		}
	}
	for format, why := range map[string]string{
		"#{HOME}": "environment is not read", "#{?HOME,a,b}": "environment is not read", "#{=5:PATH}": "environment is not read", "#{n:SECRET}": "environment is not read", "#{pane_id[0]}": "no token",
		"#{alert-bell}": "no token", "#{pane-exited[0]}": "no token", "#{copy_cursor_word}": "no token", "#{?#{l:TMUX},a,b}": "environment is not read", "#{?#{l:HO}ME,a,b}": "environment is not read", "#{?#{&&:#{SECRET},1},a,b}": "environment is not read",
		"#{buffer_sample}": "paste buffer", "#{=9:buffer_full}": "paste buffer", "#{?buffer_name,a,b}": "paste buffer", "#{n:buffer_sample}": "paste buffer", "#{t:buffer_created}": "paste buffer",
	} {
		if f, err := tmux.Inert(format, tmux.Version{Major: 3, Minor: 8}); !errors.Is(err, tmux.ErrArgument) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %q, %v; want an error with %q", format, f, err, why)
		}
	}
	// What only other versions have is empty, and not looked up in the environment.
	for format, v := range map[string]tmux.Version{
		"#{pane_x}": {Major: 3, Minor: 2}, "#{theme}": {Major: 3, Minor: 2}, "#{?pane_dead_signal,a,b}": {Major: 3, Minor: 2}, "#{loop_last_flag}": {Major: 3, Minor: 8},
	} {
		f, err := tmux.Inert(format, v)
		name := strings.Trim(strings.TrimSuffix(format, ",a,b}"), "#{?}")
		expect(t, err == nil && !strings.Contains(string(f), name), "%s on tmux %s: %q, %v", format, v, f, err)
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
	v := must[tmux.Version](f)(srv.Version(ctx))
	f.Fuzz(func(t *testing.T, format string) {
		format = strings.ReplaceAll(format, "MARK", mark)
		if strings.Contains(format, "\x00") {
			return
		}
		safe, err := tmux.Inert(format, v)
		if err != nil {
			isKind(t, format, err, tmux.ErrArgument)
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

// Whatever is taken, tmux makes little of it: the most of each kind of part, with values as
// long as it affords.
func TestInertFormatsAreCheap(t *testing.T) {
	t.Parallel()
	srv := inertServer(t)
	for n := 64; n <= 64<<10; n *= 2 {
		for i := 0; i < n; i += 4096 { // more at once than tmux takes of some versions
			tmuxtest.Run(t, srv, "set-option", "-ga", fmt.Sprint("@v", n), strings.Repeat("é; ", min(n, 4096)/4))
		}
	}
	pid := tmuxtest.Run(t, srv, "display-message", "-p", "#{pid}")
	most, before := 0, memory(t, pid)
	for n := 64; n <= 64<<10; n *= testtool.Size(32, 2) {
		value := fmt.Sprintf("#{@v%d}", n)
		for _, part := range []string{
			value, "#{q:#{q:#{q:#{q:" + value + "}}}}", "#{p1000:#{p-1000:#{p1000:#{p-1000:" + value + "}}}}", "#{n:#{w:#{n:#{w:" + value + "}}}}", "#{=1000;p1000;q:@v64}",
			"#{==:" + value + "," + value + "}", "#{?" + value + "," + value + "," + value + "}", "#{?1,a,#{?1,b,#{?1,c,#{?1,d," + value + "}}}}", "#{pane_current_path}#{history_bytes}",
		} {
			for _, times := range []int{1, 10, maxInertBytes / len(part)} {
				most = max(most, len(inert(t, srv, strings.Repeat(part, min(times, maxInertBytes/len(part))))))
			}
		}
	}
	expect(t, most <= 1<<20 && most >= 64<<10, "a format expanded to %d bytes", most)
	if grown := memory(t, pid) - before; grown > 10<<10 {
		t.Errorf("tmux grew by %d kB", grown)
	}
}

// memory is what a process has had in memory at most, in kB; 0 where the system does not count it.
func memory(t *testing.T, pid string) (kB int) {
	text, err := os.ReadFile("/proc/" + pid + "/status")
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	if _, scan := fmt.Sscan(after, &kB); err == nil && scan != nil {
		t.Fatal(scan)
	}
	return kB
}

const maxInertBytes = 2000
