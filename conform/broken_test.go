package conform

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/testtool"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// A tmux that is wrong in one way turns the cells of that gap, and no others.
// The wrong ones are the scripts in testdata/broken. First every script runs
// on the real tmux, which writes down how it was started. Then a wrong tmux runs
// those scripts that start it in a way in which it is wrong: for all others it is
// the real one.
func TestBrokenTmux(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while: not in short mode")
	}
	t.Parallel()
	spy := newSpy(t, tmuxtest.Binary(t))
	files, err := filepath.Glob("testdata/broken/*.sh")
	if err != nil {
		t.Fatal(err)
	}
	gaps, err := LoadSuites(AllSuites)
	if err != nil {
		t.Fatal(err)
	}
	run := func(specs []string, timeout time.Duration, control Control) *Report {
		t.Helper()
		targets, err := ResolveTargets(t.Context(), specs, nil)
		if err != nil {
			t.Fatal(err)
		}
		report, err := Run(t.Context(), Options{Targets: targets, Gaps: gaps, child: child(t), Timeout: timeout, Control: control})
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	real := run([]string{"real=" + spy.path}, DefaultTimeout, Control{})
	for _, c := range real.Cells {
		if c.Status != Pass && c.Status != NotApplicable {
			t.Fatalf("the real tmux: gap %d, layer %s: %s: %s\n%v", c.Gap, c.Layer, c.Status, c.Reason, c.Evidence)
		}
	}
	calls := spy.calls(t, real)

	var wrong []brokenTmux
	var specs, right []string
	for _, file := range files {
		w := readBroken(t, file, spy.binary)
		wrong = append(wrong, w)
		specs = append(specs, w.name+"="+w.path)
		touched := w.touches(t, calls)
		for i, c := range real.Cells {
			if !touched[i] {
				right = append(right, regexp.QuoteMeta(fmt.Sprintf("%s/%s/%s", real.gap(c.Gap).Name, c.Layer, w.name)))
			}
		}
	}
	// Some of them wait without success, for a part of this.
	report := run(specs, 16*time.Second, Control{Skip: regexp.MustCompile("^(" + strings.Join(right, "|") + ")$")})
	ran := 0
	// turned are the cells that differ from the real tmux's.
	turned := func(target string) (cells, why []string) {
		for _, c := range report.Cells {
			if c.Tmux != target || c.Status == Skip {
				continue
			}
			ran++
			if want := real.Cell(c.Gap, "real", c.Layer); c.Status != want.Status || c.Verdict != want.Verdict {
				cells = append(cells, fmt.Sprintf("%d/%s", c.Gap, c.Layer))
				why = append(why, fmt.Sprintf("%d/%s: %s %s: %s", c.Gap, c.Layer, c.Status, c.Verdict, c.Reason))
				if c.Status != Fail || len(c.Evidence) == 0 {
					t.Errorf("%s: gap %d, layer %s: %s, want fail with evidence: %s", target, c.Gap, c.Layer, c.Status, c.Reason)
				}
			}
		}
		return cells, why
	}
	version, err := tmux.ParseVersion(real.Targets[0].Version)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wrong {
		t.Run(w.name, func(t *testing.T) {
			if !version.Has(w.needs) || w.before != (tmux.Version{}) && version.Has(w.before) {
				t.Skipf("%s is not wrong for tmux %s (needs %v, before %v): set TMUX_TEST_BINARY to one for which it is", w.name, version, w.needs, w.before)
			}
			if cells, why := turned(w.name); !slices.Equal(cells, w.turns) {
				t.Errorf("turns %q, want %q\n%s", cells, w.turns, strings.Join(why, "\n"))
			}
		})
	}
	t.Logf("%d of %d scripts ran on a wrong tmux", ran, len(report.Cells))
	for _, g := range gaps {
		if !slices.ContainsFunc(wrong, func(w brokenTmux) bool { return w.gap == g.Number }) {
			t.Errorf("no tmux is wrong about gap %d", g.Number)
		}
	}
}

// unpack is shell that makes arguments of the list of commands that package tmux
// hands to the program on standard input, where nobody else can read it.
const unpack = `case " $* " in
*' source-file - ')
	flags=
	for a; do
		case $a in source-file | start-server) break ;; esac
		flags="$flags '$a'"
	done
	list=$(sed -e "s/' ; '\([a-z]\)/' '@SEP@' '\1/g" -e 's/"\\n"/"\
"/g')
	eval "set -- $flags $list"
	for a; do
		shift
		case $a in
		@SEP@) set -- "$@" ';' ;;
		*';') set -- "$@" "${a%;}\\;" ;;
		*) set -- "$@" "$a" ;;
		esac
	done
	;;
esac
`

// spy is the real tmux, which writes down its arguments.
type spy struct {
	binary, path, log string
}

func newSpy(t *testing.T, binary string) spy {
	dir := t.TempDir()
	s := spy{binary: binary, path: filepath.Join(dir, "tmux"), log: filepath.Join(dir, "calls")}
	if err := os.Mkdir(s.log, 0o700); err != nil {
		t.Fatal(err)
	}
	// A file for each process, so that none writes into another's.
	script := "#!/bin/sh\n" + unpack + fmt.Sprintf("printf '%%s\\0' \"$@\" >'%s'/$$\nexec '%s' \"$@\"\n", s.log, binary)
	if err := testtool.WriteProgram(s.path, []byte(script)); err != nil {
		t.Fatal(err)
	}
	return s
}

// A call is how a tmux was started, as a line of shell, and the script that
// started it, as the index of its cell. The index is -1 if the script is unknown;
// the call then counts for all.
type call struct {
	line string
	cell int
}

func (s spy) calls(t *testing.T, r *Report) []call {
	files, err := filepath.Glob(filepath.Join(s.log, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var calls []call
	perCell := make([]int, len(r.Cells))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		args := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
		c := call{cell: -1}
		for i, arg := range args {
			if i > 0 && args[i-1] == "-S" {
				// The socket is in the script's directory, whose name is the cell's index.
				if n, err := strconv.Atoi(filepath.Base(filepath.Dir(arg))); err == nil && n < len(r.Cells) {
					c.cell = n
					perCell[n]++
				}
			}
			c.line += " '" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		calls = append(calls, c)
	}
	for i, n := range perCell {
		if n == 0 && r.Cells[i].Status == Pass {
			t.Errorf("gap %d, layer %s: the spy saw no tmux", r.Cells[i].Gap, r.Cells[i].Layer)
		}
	}
	return calls
}

// brokenTmux is one of the scripts, made executable.
type brokenTmux struct {
	name, path string
	gap        int
	turns      []string // cells, "3/api"
	needs      tmux.Version
	before     tmux.Version
	body       string // what it does before it becomes the real one
}

var brokenField = regexp.MustCompile(`(?m)^# (turns|needs|before): (.*)$`)

func readBroken(t *testing.T, file, binary string) brokenTmux {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	w := brokenTmux{name: strings.TrimSuffix(filepath.Base(file), ".sh"), path: filepath.Join(t.TempDir(), "tmux")}
	number, _, _ := strings.Cut(w.name, "-")
	if w.gap, err = strconv.Atoi(number); err != nil {
		t.Fatal(err)
	}
	for _, m := range brokenField.FindAllSubmatch(text, -1) {
		if bound := map[string]*tmux.Version{"needs": &w.needs, "before": &w.before}[string(m[1])]; bound != nil {
			if *bound, err = tmux.ParseVersion(string(m[2])); err != nil {
				t.Fatal(err)
			}
			continue
		}
		for layer := range strings.FieldsSeq(string(m[2])) {
			if !strings.Contains(layer, "/") {
				layer = fmt.Sprintf("%d/%s", w.gap, layer)
			}
			w.turns = append(w.turns, layer)
		}
	}
	var ends bool
	if w.body, ends = strings.CutSuffix(string(text), "\nexec \"$real\" \"$@\"\n"); !ends {
		t.Fatalf("%s does not end in the real tmux", file)
	}
	if err := testtool.WriteProgram(w.path, []byte("#!/bin/sh\n"+unpack+"real='"+binary+"'\n"+string(text))); err != nil {
		t.Fatal(err)
	}
	return w
}

var exitWord = regexp.MustCompile(`\bexit\b`)

// touches finds the scripts in which the tmux is another one than the real: it
// ends early, or becomes the real one with other arguments. It is run on every
// call, as a function of one shell.
func (w brokenTmux) touches(t *testing.T, calls []call) map[int]bool {
	t.Helper()
	var b strings.Builder
	b.WriteString("real=false\nt() {\nbefore=\"$#:$*\"\n" + exitWord.ReplaceAllString(w.body, "return") + "\n[ \"$before\" = \"$#:$*\" ]\n}\n")
	for _, c := range calls {
		fmt.Fprintf(&b, "t%s 2>/dev/null || echo %d\n", c.line, c.cell)
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh")
	cmd.Stdin = strings.NewReader(b.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", w.name, err)
	}
	touched := map[int]bool{}
	for word := range strings.FieldsSeq(string(out)) {
		cell, err := strconv.Atoi(word)
		if err != nil {
			t.Fatalf("%s: %q", w.name, out)
		}
		if cell < 0 {
			t.Fatalf("%s is wrong where no script is known to have started it", w.name)
		}
		touched[cell] = true
	}
	return touched
}
