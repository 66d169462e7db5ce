package conform

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"tmuxmcp/conform/report"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// A wrapper in Go that is not ours, by the adapter in docs, which is a module of its own.
func TestGotmux(t *testing.T) {
	t.Parallel()
	if !testtool.Full {
		t.Skip("downloads and builds gotmux: see " + testtool.FullSize)
	}
	adapter := filepath.Join(t.TempDir(), "gotmux-adapter")
	goCommand := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir, cmd.Env = "../docs/adapters/gotmux", append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod -buildvcs=false")
		return cmd.CombinedOutput()
	}
	if out, err := goCommand("mod", "download"); err != nil {
		testtool.Missing(t, "cannot download gotmux: %v\n%s", err, out)
	}
	if out, err := goCommand("build", "-o", adapter, "."); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	gaps := slices.DeleteFunc(lastingSuites(t), func(g *Gap) bool { return g.Suite != report.Suites()[0].Name })
	r := mustRun(t, Options{Gaps: gaps, Layers: []report.Layer{report.APILayer}, APIs: []report.API{{Command: adapter}}})
	if name := r.APIs[0].Name; name != "gotmux 0.5.0" {
		t.Errorf("the wrapper is %s", name)
	}
	// It has windows that are typed and clients, but nothing that reads a format, filters, or
	// takes flags. Its errors say which of its methods failed, or are nil.
	want := "○○✓○○○○✗○◐◐○○✗"
	version, err := tmux.ParseVersion(r.Targets[0].Version)
	if err != nil {
		t.Fatal(err)
	}
	if needs, _ := tmux.ParseVersion("3.5"); !version.Has(needs) {
		want = "○○✓○○○○✗○◐◐–○✗" // run-shell has neither flag
	}
	row, reasons := "", ""
	for _, c := range r.Cells {
		row += c.Look().Glyph
		reasons += fmt.Sprintf("\n%d: %s %s", c.Gap, c.Status, c.Reason)
	}
	if row != want {
		t.Errorf("got %s, want %s%s", row, want, reasons)
	}
}
