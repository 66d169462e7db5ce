// Perf generates docs/performance.md: it runs the benchmarks of packages tmux and
// server with each tmux program named on the command line, and prints their figures
// and goals in markdown. What models read is measured by the tests with the clients,
// and whole jobs by internal/jobs; both are only printed.
//
//	go run ./internal/perf tmux /opt/tmux-3.8/bin/tmux >docs/performance.md
package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"tmuxmcp/internal/standin"
)

// row is a figure: the metric of a benchmark, or the ratio of two.
type row struct {
	title  string
	bench  string
	metric string
	unit   string
	goal   string
}

var sections = []struct {
	title string
	rows  []row
}{
	{"Package tmux", []row{
		{"the tmux program, display-message, 1 pane", "Transports/display-message/panes=1", "bare-µs", "µs", ""},
		{"native, the same", "Transports/display-message/panes=1", "native-µs", "µs", ""},
		{"speedup of native over exec, display-message, 1 pane", "Transports/display-message/panes=1", "exec/native", "×", "≥ 20"},
		{"… list-panes, 1 pane", "Transports/list-panes/panes=1", "exec/native", "×", "≥ 20"},
		{"… display-message, 50 panes", "Transports/display-message/panes=50", "exec/native", "×", "≥ 8"},
		{"… list-panes, 50 panes", "Transports/list-panes/panes=50", "exec/native", "×", "≥ 8"},
		{"… display-message, 500 panes", "Transports/display-message/panes=500", "exec/native", "×", ""},
		{"… list-panes, 500 panes", "Transports/list-panes/panes=500", "exec/native", "×", ""},
		{"list of 500 panes, native", "Transports/list-panes/panes=500", "native-µs", "µs", ""},
		{"search over 500 panes, native", "Transports/search-all/panes=500", "native-µs", "µs", ""},
		{"contents of 500 panes, native", "Transports/capture-all/panes=500", "native-µs", "µs", ""},
	}},
	{"tmux-mcp over stdio", []row{
		{"the tmux program, list-sessions, 1 pane", "Tools/panes=1", "tmux-ms", "ms", ""},
		{"list_sessions, 1 pane", "Tools/panes=1", "list_sessions-ms", "ms", "< 0.5"},
		{"list_panes, 1 pane", "Tools/panes=1", "list_panes-ms", "ms", "< 0.5"},
		{"capture_pane, 1 pane", "Tools/panes=1", "capture_pane-ms", "ms", "< 0.5"},
		{"send_keys, 1 pane", "Tools/panes=1", "send_keys-ms", "ms", "< 0.5"},
		{"list_sessions, 1 pane, `--transport exec`", "Tools/panes=1", "exec-list_sessions-ms", "ms", "< the program + 0.5"},
		{"the tmux program, list-sessions, 100 panes", "Tools/panes=100", "tmux-ms", "ms", ""},
		{"list_sessions, 100 panes", "Tools/panes=100", "list_sessions-ms", "ms", "< 1.5"},
		{"list_panes, 100 panes", "Tools/panes=100", "list_panes-ms", "ms", "< 1.5"},
		{"list_panes with `--results json`, 100 panes", "Tools/panes=100", "list_panes-json-ms", "ms", ""},
		{"list_panes of four `fields`, 100 panes", "Tools/panes=100", "list_panes-fields-ms", "ms", ""},
		{"capture_pane, 100 panes", "Tools/panes=100", "capture_pane-ms", "ms", "< 1.5"},
		{"send_keys, 100 panes", "Tools/panes=100", "send_keys-ms", "ms", "< 1.5"},
		{"20 calls at once, 100 panes", "Tools/parallel/panes=100", "20-calls-ms", "ms", "< 10"},
		{"run_command of an echo, sh", "RunCommand/sh", "run_command-ms", "ms", "< 5"},
		{"run_command of an echo, bash", "RunCommand/bash", "run_command-ms", "ms", "< 5"},
		{"… `--transport exec`", "RunCommand/bash", "exec-run_command-ms", "ms", "< 9"},
		{"search_panes, 500 panes, text", "Search", "fast-ms", "ms", "< 10"},
		{"search_panes, 500 panes, regular expression", "Search", "slow-ms", "ms", "< 40"},
		{"list_panes, 500 panes", "Search", "list_panes-ms", "ms", ""},
		{"start to the reply to initialize", "Start", "start-ms", "ms", "< 10"},
		{"resident memory", "Start", "resident-MB", "MB", "< 20"},
	}},
	{"wait_for_text", []row{
		{"time to notice output", "Wait/here", "noticed-ms", "ms", "< 25"},
		{"CPU while silent, tmux-mcp", "Wait/here", "idle-%", "%", "< 1"},
		{"CPU while silent, tmux", "Wait/here", "idle-tmux-%", "%", "< 1"},
		{"100 panes at once, time to notice output", "Wait/panes=100", "noticed-ms", "ms", "< 5"},
		{"100 panes at once, CPU while silent, tmux-mcp", "Wait/panes=100", "idle-%", "%", "< 2"},
		{"100 panes at once, CPU while silent, tmux", "Wait/panes=100", "idle-tmux-%", "%", ""},
		{"in a container, time to notice output", "Wait/container", "noticed-ms", "ms", "< 25"},
		{"in a container, CPU while silent, tmux-mcp", "Wait/container", "idle-%", "%", "< 1"},
		{"in a container, CPU while silent, tmux", "Wait/container", "idle-tmux-%", "%", "< 1"},
	}},
}

func main() {
	binaries := os.Args[1:]
	if len(binaries) == 0 {
		binaries = []string{"tmux"}
	}
	if err := run(binaries); err != nil {
		fmt.Fprintln(os.Stderr, "perf:", err)
		os.Exit(1)
	}
}

func run(binaries []string) error {
	var names []string
	var all []map[string]float64
	for _, b := range binaries {
		path, err := exec.LookPath(b)
		if err != nil {
			return err
		}
		version, err := exec.Command(path, "-V").Output()
		if err != nil {
			return fmt.Errorf("%s -V: %w", b, err)
		}
		name := strings.TrimPrefix(strings.TrimSpace(string(version)), "tmux ")
		fmt.Fprintln(os.Stderr, "tmux", name)
		figures, err := measure(path)
		if err != nil {
			return err
		}
		names, all = append(names, name), append(all, figures)
	}
	fmt.Print(table(names, all))
	return nil
}

var (
	// metric is a figure in a benchmark's line.
	metric = regexp.MustCompile(`([0-9.e+-]+) (\S+)`)
	// processors is the suffix of a benchmark's name that gives their number.
	processors = regexp.MustCompile(`-\d+$`)
)

// measure runs the benchmarks with a tmux. A figure's key is the benchmark's name,
// a space and the metric.
func measure(binary string) (map[string]float64, error) {
	cmd := exec.Command("go", "test", "./tmux", "./server", "-p=1", "-count=1", "-run=^$", "-benchtime=50x",
		"-bench=^Benchmark(Transports|Tools|Search|RunCommand|Start|Wait)$")
	cmd.Env = append(os.Environ(), "TMUX_TEST_BINARY="+binary, "TMUX_TEST_TRANSPORT=")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
	}
	figures := map[string]float64{}
	for line := range bytes.Lines(out) {
		name, rest, ok := strings.Cut(string(line), "\t")
		if name, ok2 := strings.CutPrefix(strings.TrimSpace(name), "Benchmark"); ok && ok2 {
			name = processors.ReplaceAllString(name, "")
			for _, m := range metric.FindAllStringSubmatch(rest, -1) {
				if v, err := strconv.ParseFloat(m[1], 64); err == nil {
					figures[name+" "+m[2]] = v
				}
			}
		}
	}
	return figures, nil
}

func table(names []string, all []map[string]float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Performance\n\nGenerated by `go run ./internal/perf TMUX…` on %s, with %s and tmux %s.\n", machine(), runtime.Version(), strings.Join(names, ", "))
	b.WriteString("The figures are medians of one run that alternated between the things compared, ten calls each. × is the exec transport's time divided by the native transport's. " +
		"In a container the pane's processes are invisible, so only tmux can report new output: it does from 3.8 on; older versions are polled every 40 ms.\n")
	for _, s := range sections {
		fmt.Fprintf(&b, "\n## %s\n\n| | goal | %s |\n|---|---%s|\n", s.title, strings.Join(names, " | "), strings.Repeat("|---:", len(names)))
		for _, r := range s.rows {
			fmt.Fprintf(&b, "| %s, %s | %s |", r.title, r.unit, r.goal)
			for _, figures := range all {
				if v, ok := figures[r.bench+" "+r.metric]; ok {
					fmt.Fprintf(&b, " %s |", number(v))
				} else {
					b.WriteString(" – |")
				}
			}
			b.WriteByte('\n')
		}
	}
	b.WriteString(models + standin.Recorded().Markdown(false) + "\n<!-- end of figures -->\n")
	b.WriteString(jobs)
	b.WriteString(reading)
	return b.String()
}

// models is about what internal/standin has measured.
const models = `
## What a model reads

Bytes of a result as the model gets it in each client, measured by the tests with the clients themselves ([docs/clients.md](clients.md#what-the-model-reads)). Where there are two figures, the first was measured while results were JSON by default. json: the model reads JSON, else text. †: what the model asked for is not in it. codex puts 34 bytes of its own before a result, gemini 41 around it. The screen in snapshot_pane and capture_since has 1,577 bytes.

<!-- figures: made by MODEL_FIGURES=now .ci/clients --test -->

`

// jobs is about what internal/jobs has measured.
//
//go:embed jobs.md
var jobs string

// reading is how the figures are to be read.
const reading = `
## Where a goal is missed

The goals come from a machine on which a native round trip takes 56 µs and the bare tmux program 1.55 ms. If the program takes longer, so does everything else, so compare each figure with the program's in the same column. On a virtual machine both can vary by half between runs, and the ratios by a tenth.

- Most of a native round trip is work that tmux does for any client: accepting it, identifying it, freeing it. On the machine above the shortest command costs the tmux server 85 to 130 µs of processor time, plus two wakeups in the operating system, so a round trip cannot take 56 µs. 3.3a is slower than later versions because it lists its open files before each read. Where the ratio is better, the tmux program itself starts more slowly, as Debian's of 3.7c and 3.8 do.
- list_panes shows 13 values for each of 100 panes. tmux expands them one by one, looks up each name among its options first, and the running command and the directory in /proc: a call for the ids alone takes a third to half as long. capture_pane, list_sessions and send_keys take 0.1 to 0.3 ms more than with one pane.
- send_keys reads the screen before it types, in the same round trip: a wait that follows counts from there. That is why it takes longer than capture_pane.
- run_command has a shell and a dd record the output, so that a command outlives this server. tmux starts them in the round trip that types the line, so the start of two programs is part of its time. By exec each round trip is a run of the tmux program besides.
- search_panes has tmux itself look for a text, at most 160,000 cells at a time: tmux serves nobody else meanwhile, and a screen of letters with accents takes it 0.35 µs a cell (see SECURITY.md). So 500 panes take seven lists of commands, and for each tmux goes over all 500. Up to 75 panes of 80x24 take one list. For a regular expression the screens are captured, in parts for the same reason.
`

// number has three digits that matter.
func number(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// machine names the processor, how many there are, and the system.
func machine() string {
	cpu := runtime.GOARCH
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if m := regexp.MustCompile(`(?m)^model name\s*: (.*)$`).FindSubmatch(text); m != nil {
			cpu = string(m[1])
		}
	} else if out, err := exec.Command("sysctl", "-n", "machdep.cpu.brand_string").Output(); err == nil {
		cpu = strings.TrimSpace(string(out))
	}
	system := runtime.GOOS
	if out, err := exec.Command("uname", "-sr").Output(); err == nil {
		system = strings.TrimSpace(string(out))
	}
	return fmt.Sprintf("%s (%d cores, %s)", cpu, runtime.NumCPU(), system)
}
