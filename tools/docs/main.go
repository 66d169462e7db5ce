// Docs makes what the docs show of this machine's programs:
//
//	go run ./tools/docs bench TMUX...         the figures in docs/performance.md
//	go run ./tools/docs picture LINES COMMAND...  an SVG of what commands print in a pane
//	go run ./tools/docs draw TITLE <SCREEN    an SVG of what capture-pane -e printed
//	go generate ./tools/docs                  the tables of what models read
//
// A row of figures in docs/performance.md names its benchmark and metric in a comment; one with
// several metrics also the version of tmux. The pictures in README.md are of programs built into the PATH: mcp-conform, with the tmux
// programs that mcp-conform tmux get fetches; mcp-swap, in a checkout, in a home with the
// configs of swap/testdata/configs; and an agent at work, which endtoend/clients draws.
//
//	docs picture 20 'mcp-conform --tmux debian:bookworm --tmux debian:trixie --tmux debian:sid' >docs/mcp-conform.svg
//	docs picture 40 'mcp-swap use-local' 'mcp-swap verify' 'mcp-swap revert' >docs/mcp-swap.svg
//	PICTURE=docs/agent.svg .ci/clients --test
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

func main() {
	err := errors.New("usage: docs bench TMUX... | docs picture LINES COMMAND... | docs draw TITLE | docs tables")
	var image string
	switch args := os.Args[1:]; {
	case len(args) > 1 && args[0] == "bench":
		err = bench("docs/performance.md", args[1:])
	case len(args) > 2 && args[0] == "picture":
		image, err = picture(args[1], args[2:])
	case len(args) == 2 && args[0] == "draw":
		var screen []byte
		screen, err = io.ReadAll(os.Stdin)
		image = draw(string(screen), args[1])
	case len(args) == 1 && args[0] == "tables":
		err = tables()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
	fmt.Print(image)
}

// bench runs the benchmarks with each tmux program, and writes a column for each.
func bench(page string, binaries []string) error {
	var on string
	var versions []string
	var all []map[string]float64
	for _, binary := range binaries {
		path, err := exec.LookPath(binary)
		if err != nil {
			return err
		}
		version, err := exec.Command(path, "-V").Output()
		if err != nil {
			return fmt.Errorf("%s -V: %w", binary, err)
		}
		fmt.Fprintf(os.Stderr, "%s", version)
		figures, cpu, err := measure(path)
		if err != nil {
			return err
		}
		on = fmt.Sprintf("%s (%d cores, %s), with %s.", cpu, runtime.NumCPU(), runtime.GOOS, runtime.Version())
		versions, all = append(versions, strings.TrimPrefix(strings.TrimSpace(string(version)), "tmux ")), append(all, figures)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	filled := machine.ReplaceAllString(fill(string(text), versions, all), "${1}"+on)
	return os.WriteFile(page, []byte(filled), 0o644)
}

var (
	machine    = regexp.MustCompile(`(?m)^(Measured by .* on ).*$`)
	processor  = regexp.MustCompile(`(?m)^cpu: (.*\S) *$`)
	line       = regexp.MustCompile(`(?m)^Benchmark(\S+?)(?:-\d+)?\s+\d+\t(.*)$`)
	metric     = regexp.MustCompile(`([0-9.e+-]+) (\S+)`)
	row        = regexp.MustCompile(`(?m)^(\| .*<!-- (.*) --> \|[^|]*\|).*$`)
	delimiters = regexp.MustCompile(`(?m)^(\| <!-- tmux --> .*\n)\|---\|---\|(---:\|)+$`)
)

// measure returns the figures of one tmux, and the processor's name. The keys are the
// benchmark's name, a space and the metric.
func measure(binary string) (figures map[string]float64, cpu string, err error) {
	cmd := exec.Command("go", "test", "./tmux", "./server", "-p=1", "-count=1", "-run=^$", "-benchtime=50x",
		"-bench=^Benchmark(Transports|Tools|Search|RunCommand|Start|Wait|Limit)$")
	cmd.Env = append(os.Environ(), "TMUX_TEST_BINARY="+binary, "TMUX_TEST_TRANSPORT=")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, "", fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
	}
	figures = map[string]float64{}
	for _, l := range line.FindAllStringSubmatch(string(out), -1) {
		for _, m := range metric.FindAllStringSubmatch(l[2], -1) {
			if v, err := strconv.ParseFloat(m[1], 64); err == nil {
				figures[l[1]+" "+m[2]] = v
			}
		}
	}
	if m := processor.FindSubmatch(out); m != nil {
		cpu = string(m[1])
	}
	return figures, cpu, nil
}

// fill rewrites the columns of the tables.
func fill(page string, versions []string, all []map[string]float64) string {
	page = row.ReplaceAllStringFunc(page, func(old string) string {
		m := row.FindStringSubmatch(old)
		if version, keys, ok := strings.Cut(m[2], ": "); ok {
			if i := slices.Index(versions, version); i >= 0 {
				return limitRow(old, keys, all[i])
			}
			return old
		}
		if m[2] == "tmux" {
			return m[1] + " " + strings.Join(versions, " | ") + " |"
		}
		for _, figures := range all {
			if v, ok := figures[m[2]]; ok {
				m[1] += " " + number(v) + " |"
			} else {
				m[1] += " – |"
			}
		}
		return m[1]
	})
	return delimiters.ReplaceAllString(page, "${1}|---|---|"+strings.Repeat("---:|", len(versions)))
}

// limitRow rewrites a row whose columns are metrics of one benchmark with one tmux.
func limitRow(old, keys string, figures map[string]float64) string {
	title, _, _ := strings.Cut(old, " -->")
	names := strings.Fields(keys)
	cells := title + " --> |"
	for _, metric := range names[1:] {
		cells += " " + number(figures[names[0]+" "+metric]) + " |"
	}
	return cells
}

// number formats a value with three significant digits.
func number(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
