package tmux_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

var (
	inertFormats = flag.Int("inert.formats", 300, "how many generated formats tmux expands")
	inertPanes   = flag.Int("inert.panes", 40, "how many panes the server for them has")
)

// The promise: no other client of tmux waits this much longer, and tmux does not
// grow by this much.
const (
	mostBusy   = 100 * time.Millisecond
	mostGrowth = 10 << 10 // kB
)

// busyServer is a server whose panes, screens, titles and options were made to
// cost much.
type busyServer struct {
	*tmux.Server
	t       testing.TB
	pid     int
	version tmux.Version
}

func newBusyServer(t testing.TB, panes int) busyServer {
	t.Helper()
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Skip("no /proc/PID/schedstat here, which counts how long tmux was busy: ", err)
	}
	srv := tmuxtest.New(t)
	run := func(name string, args ...string) { tmuxtest.Run(t, srv, name, args...) }
	// Every cell has accents on top of its letter.
	fill := `i=0; while [ $i -lt 20000 ]; do printf 'a\314\201\314\201\314\201\314\201\314\201\314\201'; i=$((i+1)); done; cat`
	run("new-session", "-d", "-x", "200", "-y", "100", "-s", "main", fill)
	run("set-option", "-g", "remain-on-exit", "on")
	for i := 1; i < panes; i++ {
		if i%10 == 0 {
			run("new-session", "-d", "-x", "80", "-y", "24", "-s", "s"+strconv.Itoa(i), "exec sleep 1000")
		} else {
			run("new-window", "-d", "-n", "window"+strings.Repeat("é", i%50), "exec sleep 1000")
		}
	}
	// The lengths are those to which values are limited, or just less.
	for n := 64; n <= 16384; n *= 2 {
		for name, unit := range map[string]string{"a": "a", "b": "ab", "c": "é", "d": "aé", "e": "#,"} {
			run("set-option", "-g", "@"+name+strconv.Itoa(n), strings.Repeat(unit, n/len(unit)))
		}
	}
	run("set-option", "-g", "@huge", strings.Repeat("a", 15000))
	for range 4 {
		run("set-option", "-ga", "@huge", strings.Repeat("é", 7000))
	}
	run("select-pane", "-t", "%0", "-T", strings.Repeat("aé", 80))
	tmuxtest.Wait(t, srv, "%0", "full screen", func() bool {
		return strings.HasPrefix(tmuxtest.Run(t, srv, "capture-pane", "-p", "-t", "%0", "-S", "80", "-E", "80"), "a")
	})
	pid, err := strconv.Atoi(tmuxtest.Run(t, srv, "display-message", "-p", "#{pid}"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := srv.Version(tmuxtest.Context(t))
	if err != nil {
		t.Fatal(err)
	}
	return busyServer{srv, t, pid, v}
}

// used is the processor time that tmux has had, which unlike the time on the
// wall does not depend on what else the machine does.
func (s busyServer) used() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", s.pid))
	if err != nil {
		s.t.Fatal(err)
	}
	n, _ := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
	return time.Duration(n)
}

// memory is what tmux has had in memory at most, in kB.
func (s busyServer) memory() int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if err != nil {
		s.t.Fatal(err)
	}
	_, after, _ := bytes.Cut(text, []byte("VmHWM:"))
	n, _ := strconv.Atoi(strings.Fields(string(after))[0])
	return n
}

// expand has tmux expand a format, and says how long it was busy.
func (s busyServer) expand(f tmux.Format) (string, time.Duration) {
	before := s.used()
	var b tmux.Batch
	got := tmux.Displayed(&b, tmux.DisplayMessage{Target: tmux.PaneID("%0"), Message: f})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := b.Do(ctx, s.Server); err != nil {
		s.t.Fatalf("%.300s: %v", f, err)
	}
	return *got, s.used() - before
}

// expensive are formats that froze tmux or took all its memory, and similar ones.
var expensive = []string{
	"#{m/r:((((((((a+)+)+)+)+)+)+)+)+x,@b256}", "#{m/r:(((((((((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+,a}", "#{m/r:a++++++++++++++++++++,a}",
	"#{m/r:a*a*a*a*a*a*a*a*a*a*x,#{@a16384}}", "#{m/r:(a|a)*x,#{@a16384}}", "#{m/r:.*.*.*x,#{@c16384}}", "#{m/r:[^c]*[^c]*x,#{@c4096}}", "#{m/r:a.*a....................x,#{@b4096}}",
	"#{s/a/" + strings.Repeat("a", 90) + "/;s/a/" + strings.Repeat("a", 90) + "/;s/a/" + strings.Repeat("a", 90) + "/;s/a/" + strings.Repeat("a", 90) + "/:@a64}",
	`#{s/(a*)/\1\1\1\1\1\1\1\1/;s/(a*)/\1\1\1\1\1\1\1\1/;s/(a*)/\1\1\1\1\1\1\1\1/;s/(a*)/\1\1\1\1\1\1\1\1/;s/(a*)/\1\1\1\1\1\1\1\1/:@a1024}`, "#{s/.*x/y/:@c16384}", "#{s/a/b/:@huge}",
	"#{C/r:a.*x}", "#{C/r:[^c]*x}", "#{C/ri:....éééééé}" + strings.Repeat("#{C/ri:....ééééé}", 50), "#{S:#{W:#{P:#{C/r:error}}}}", "#{S:#{W:#{P:#{C:error}}}}", "#{P:#{W:#{S:#{pane_id}}}}", "#{W:#{S:#{window_id}}}",
	"#{L:#{S:#{W:#{P:x}}}}", "#{S:" + strings.Repeat("#{W:", 1) + strings.Repeat("#{P:#{p1000:pane_id}#{p-1000:pane_id}}", 20) + "}}", strings.Repeat("#{@huge}", 200), "#{S:#{W:#{P:#{@huge}}}}", "#{S:#{W:#{P:#{pane_current_path}#{pane_current_command}#{pane_title}}}}",
	strings.Repeat("#{S:#{W:#{P:#{pane_id}}}}", 70), strings.Repeat("#{n:", 18) + "#{@a16384}" + strings.Repeat("}", 18), strings.Repeat("#{p1000:", 19) + "#{pane_id}" + strings.Repeat("}", 19), "#{S:#{W:#{P:#{m/r:^[a-z]+.*x,#{pane_title}}}}}", "#{m:*a*a*a*a,#{@a16384}}", "#{S:#{W:#{P:#{w:@c16384}}}}",
}

// ordinary are formats as people and agents write them.
var ordinary = []string{
	"#{pane_current_path}", "#{session_name}:#{window_index}.#{pane_index} #{pane_title} #{pane_current_command}", "#{?pane_active,yes,no}", "#{?window_zoomed_flag,zoomed,}", "#{l:#S}", "#S:#I.#P",
	"#{W:#{window_index}:#{window_name}#{?window_active,*,} }", "#{S:#{session_name} }", "#{P:#{pane_id} #{pane_current_command} }", "#{S:#{W:#{P:#{session_name}:#{window_index}.#{pane_index} #{pane_current_command} #{pane_current_path} }}}",
	"#{s/a/b/:pane_title}", "#{s|/home/[a-z]+|~|:pane_current_path}", "#{s/^.*[.]//:pane_title}", "#{=20:pane_title}", "#{=/20/…:pane_title}", "#{p20:pane_title}", "#{t:session_created}", "#{t/p:window_activity}", "#{t/f/%Y-%m-%d:session_created}",
	"#{m:*vim*,#{pane_current_command}}", "#{m/r:^foo.*bar$,#{pane_title}}", "#{m/ri:error|fail,#{pane_title}}", "#{m/r:^(vim|nvim|vi)$,#{pane_current_command}}", "#{m/r:^[0-9]+[.][0-9]+$,#{version}}", "#{C/ri:error|fail}", "#{C:Traceback}", "#{C/r:^[$#] $}",
	"#{==:#{pane_current_command},bash}", "#{&&:#{pane_active},#{window_active}}", "#{||:#{pane_dead},#{pane_in_mode}}", "#{e|*|:#{pane_width},#{pane_height}}", "#{e|/|f|2:#{history_size},#{history_limit}}", "#{b:pane_current_path}", "#{d:pane_current_path}", "#{q:pane_current_path}",
	"#{window_layout}", "#{status-left}", "#{@huge}", "#{history_size}/#{history_limit} #{history_bytes}", "#{cursor_x},#{cursor_y}", "#{?#{m/r:(^|/)src(/|$),#{pane_current_path}},in,out}", "#{W:#{?#{m/r:^win,#{window_name}},#{window_id} ,}}", "#{W:#{s/win/WIN/:window_name} }",
	"#{pane_id}\t#{pane_pid}\t#{pane_tty}\t#{pane_width}x#{pane_height}\t#{pane_start_command}\t#{alternate_on}\t#{scroll_region_lower}\t#{pane_mode}\t#{client_name}\t#{window_flags}\t#{session_attached}\t#{session_path}\t#{mouse_any_flag}\t#{host}",
}

// What froze tmux is refused, or reads nothing that is long.
func TestExpensiveFormatsAreRefusedOrCheap(t *testing.T) {
	t.Parallel()
	s := newBusyServer(t, *inertPanes)
	before := s.memory()
	for _, format := range expensive {
		f, err := tmux.Inert(format, s.version)
		if err != nil {
			t.Logf("%.60s: %v", format, err)
			continue
		}
		got, busy := s.expand(f)
		t.Logf("%.60s: %v, %v", format, busy, tmux.CheckInert(got))
		if busy > mostBusy {
			t.Errorf("%.100q: tmux was busy for %v", format, busy)
		}
	}
	if grown := s.memory() - before; grown > mostGrowth {
		t.Errorf("tmux grew by %d kB", grown)
	}
}

func TestOrdinaryFormatsAreTaken(t *testing.T) {
	t.Parallel()
	s := newBusyServer(t, 10)
	for _, format := range ordinary {
		f, err := tmux.Inert(format, s.version)
		if err != nil {
			t.Errorf("%s: %v", format, err)
			continue
		}
		got, busy := s.expand(f)
		if err := tmux.CheckInert(got); (err != nil) != (format == "#{@huge}") {
			t.Errorf("%s: %v", format, err)
		}
		if busy > mostBusy {
			t.Errorf("%s: tmux was busy for %v", format, busy)
		}
	}
}

// inertGenerator makes formats, most of which Inert takes.
type inertGenerator struct{ *rand.Rand }

func (g inertGenerator) one(of ...string) string { return of[g.Intn(len(of))] }

func (g inertGenerator) value() string {
	switch g.Intn(6) {
	case 0:
		tokens := tmux.Tokens()
		return tokens[g.Intn(len(tokens))].Name
	case 1:
		return g.one("pane_title", "window_name", "pane_current_path", "pane_current_command", "status-left", "status-format", "window_layout", "history_bytes", "@huge")
	}
	return "@" + g.one("a", "b", "c", "d", "e") + strconv.Itoa(64<<g.Intn(9))
}

func (g inertGenerator) regexp() string {
	var b strings.Builder
	letters := [][]string{{"a", "b"}, {"a"}, {"é"}, {"a", "é"}}[g.Intn(4)]
	b.WriteString(g.one("", "", "", "^", "("))
	wild := g.Intn(13)
	for range 1 + g.Intn(20) {
		if wild > 0 && g.Intn(2) == 0 {
			b.WriteString(g.one(".", "[ab]", "[^c]", "[aé]", "[[:alpha:]]", `\w`, letters[0]) + g.one("", "", "*", "+", "?", "*"))
			wild -= 2
		} else {
			b.WriteString(g.one(letters...))
		}
		if g.Intn(15) == 0 {
			b.WriteString(g.one("|", ")", "(", "$", "++"))
		}
	}
	return b.String() + g.one("", "x", "x", "$")
}

func (g inertGenerator) format(depth int) string {
	if depth <= 0 || g.Intn(5) == 0 {
		return g.one("#{"+g.value()+"}", "text", "#{pane_id}", "#{"+g.value()+"}")
	}
	inner := func() string { return g.format(depth - 1 - g.Intn(2)) }
	switch g.Intn(14) {
	case 0:
		return "#{m/" + g.one("r", "ri") + ":" + g.regexp() + "," + inner() + "}"
	case 1:
		return "#{C" + g.one("", "/i", "/r", "/ri") + ":" + g.regexp() + "}"
	case 2, 3:
		chain := "s/" + g.regexp() + "/" + g.one("", "x", `\0\0`, `[\1]`, strings.Repeat("ab", g.Intn(40))) + g.one("", "/i")
		if g.Intn(2) == 0 {
			chain += ";s/" + g.regexp() + "/" + g.one("y", "yy", `\0`) + "/"
		}
		return "#{" + chain + g.one(":"+g.value(), ":#{n:pane_id}"+inner()) + "}"
	case 4, 5, 6:
		return "#{" + g.one("S", "W", "P", "S", "L") + ":" + inner() + g.one("", ","+inner()) + "}"
	case 7:
		return "#{S:#{W:#{P:" + inner() + "}}}"
	case 8:
		return "#{m" + g.one("", "/i") + ":" + g.one("*a*b*é*x", "*[ab]*[aé]*[^c]*x", "*?*?*a?x", "*#{pane_id}*") + "," + inner() + "}"
	case 9:
		return "#{?" + inner() + "," + inner() + "," + inner() + "}"
	case 10:
		return "#{" + g.one("p", "p-", "=", "=-") + strconv.Itoa(g.Intn(1001)) + ":" + g.one(g.value(), "#{pane_id}"+inner()) + "}"
	case 11:
		return "#{" + g.one("==", "<", "&&", "||", "e|+|", "e|*|f|9") + ":" + inner() + "," + inner() + "}"
	case 12:
		return "#{" + g.one("q", "n", "w", "b", "d", "t", "t/p", "q;s/a/b/", "w;p9") + ":" + g.value() + "}"
	}
	var b strings.Builder
	for range 1 + g.Intn(8) {
		b.WriteString(inner())
	}
	return b.String()
}

// Whatever format is taken is cheap for tmux: -inert.formats=20000 -inert.panes=500
// is the full size.
func TestInertFormatsAreCheap(t *testing.T) {
	s := newBusyServer(t, *inertPanes)
	before := s.memory()

	// Another client, which nobody should hold up.
	other, err := tmux.New(tmux.Config{Binary: tmuxtest.Binary(t), SocketPath: s.SocketPath(), ConfigFile: "/dev/null"})
	if err != nil {
		t.Fatal(err)
	}
	var waited atomic.Int64
	ctx, cancel := context.WithCancel(tmuxtest.Context(t))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			start := time.Now()
			if _, err := other.Do(ctx, tmux.DisplayMessage{Print: true, Message: "#{pid}"}); err == nil {
				waited.Store(max(waited.Load(), int64(time.Since(start))))
			}
			time.Sleep(time.Millisecond)
		}
	}()
	defer func() { cancel(); <-done }()

	seed := time.Now().UnixNano()
	g := inertGenerator{rand.New(rand.NewSource(seed))}
	taken, whole := 0, 0
	var most time.Duration
	for range *inertFormats * 20 {
		if taken == *inertFormats {
			break
		}
		format := g.format(1 + g.Intn(5))
		f, err := tmux.Inert(format, s.version)
		if err != nil {
			continue
		}
		taken++
		got, busy := s.expand(f)
		if tmux.CheckInert(got) == nil {
			whole++
		}
		if busy > most {
			most = busy
			t.Logf("%v for %.200s", busy, format)
		}
		if busy > mostBusy {
			t.Errorf("tmux was busy for %v with %q", busy, format)
		}
		if grown := s.memory() - before; grown > mostGrowth {
			t.Fatalf("tmux grew by %d kB at %q", grown, format)
		}
	}
	t.Logf("seed %d: %d formats taken, %d expanded whole, %v at most, another client waited %v at most; tmux grew by %d kB",
		seed, taken, whole, most, time.Duration(waited.Load()), s.memory()-before)
	if whole < taken/4 {
		t.Errorf("only %d of %d formats read what they were to read", whole, taken)
	}
}
