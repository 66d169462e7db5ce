package conform

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tmuxmcp/conform/report"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// debianLibtmux returns the PYTHONPATH of Debian's libtmux, which it fetches and installs nowhere.
// The test is skipped if that cannot be had.
func debianLibtmux(t *testing.T) string {
	t.Helper()
	for _, program := range []string{"python3", "apt-get", "dpkg-deb"} {
		if _, err := testtool.LookPath(program); err != nil {
			t.Skipf("no %s, to run Debian's python3-libtmux with", program)
		}
	}
	dir := t.TempDir()
	get := exec.CommandContext(t.Context(), "apt-get", "-q", "-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=10", "-o", "Acquire::https::Timeout=10",
		"download", "python3-libtmux")
	get.Dir = dir
	if out, err := get.CombinedOutput(); err != nil {
		lists, globErr := filepath.Glob("/var/lib/apt/lists/*_Packages*")
		if globErr != nil {
			t.Fatal(globErr)
		}
		fail := t.Skipf
		if os.Getenv(testtool.Required) == "1" && len(lists) > 0 {
			fail = t.Fatalf
		}
		fail("apt-get download python3-libtmux: %v: %s", err, out)
	}
	packages, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil || len(packages) != 1 {
		t.Fatalf("apt-get brought %q, %v", packages, err)
	}
	if out, err := exec.Command("dpkg-deb", "-x", packages[0], dir).CombinedOutput(); err != nil {
		t.Fatalf("dpkg-deb: %v: %s", err, out)
	}
	return filepath.Join(dir, "usr/lib/python3/dist-packages")
}

// rowOf returns the marks of the gaps in a report with one target and one column.
func rowOf(t *testing.T, r *report.Report) (row string) {
	t.Helper()
	var text strings.Builder
	if err := report.Write(&text, "text", r, report.Style{Unicode: true}); err != nil {
		t.Fatal(err)
	}
	matrix, _, _ := strings.Cut(strings.TrimLeft(text.String(), "\n"), "\n\n")
	for _, m := range regexp.MustCompile(`(?m)^ *\d+  .* (\S)$`).FindAllStringSubmatch(matrix, -1) {
		row += m[1]
	}
	return row
}

// TestLibtmuxOfDebian: the adapter for libtmux, and all between it and the report, on the libtmux
// that Debian has.
func TestLibtmuxOfDebian(t *testing.T) {
	if !testtool.Full {
		t.Skip("fetches libtmux, and plays all gaps with it: see " + testtool.FullSize)
	}
	t.Parallel()
	path := debianLibtmux(t)
	gaps, err := LoadSuites("670")
	if err != nil {
		t.Fatal(err)
	}
	adapter, err := filepath.Abs("../docs/adapters/libtmux.py")
	if err != nil {
		t.Fatal(err)
	}
	a, err := ParseAPI("PYTHONPATH=" + path + " PYTHONDONTWRITEBYTECODE=1 python3 " + report.CommandLine([]string{adapter}))
	if err != nil {
		t.Fatal(err)
	}
	r := mustRun(t, Options{Gaps: gaps, Layers: []report.Layer{report.APILayer}, APIs: []report.API{a}})
	is := r.APIs[0]
	major, minor := versionOf(t, is.Described.Version)
	t.Logf("%s on tmux %s", is.Name, r.Targets[0].Version)
	if is.Described.Name != "libtmux" {
		t.Errorf("it calls itself %s", is.Name)
	}
	if major > 0 || minor >= 56 {
		t.Skipf("the row of %s is not known: libtmux 0.56 closed the first of the gaps", is.Name)
	}
	version, err := tmux.ParseVersion(r.Targets[0].Version)
	if err != nil {
		t.Fatal(err)
	}
	want := "○○✗✗○○○✗✗✗○○○✗"
	if !version.Has(tmux.Version{Major: 3, Minor: 5}) {
		want = "○○✗✗○○○✗✗✗○–○✗"
	}
	if row := rowOf(t, r); row != want {
		t.Errorf("got  %s\nwant %s", row, want)
	}
	// An adapter that is broken may fail in the same places, for other reasons.
	for _, c := range r.Cells {
		first := c.Claims[0]
		switch c.Gap {
		case 4: // its reset leaves everything as it is
			if first.Evidence == nil || !strings.HasSuffix(strings.TrimSpace(first.Evidence.Actual), "\n98\n99\n100") || c.Claims[1].Outcome != report.True {
				t.Errorf("gap 4: %+v", c.Claims)
			}
		case 9:
			if !strings.HasSuffix(first.Why, ": command(@0 rename-window -t @1 wrong): it passes silently") {
				t.Errorf("gap 9: %+v", first)
			}
		case 1, 2, 6, 11:
			lacks := map[int]string{1: "Server.display_message", 2: "Window.display_message", 6: "Server.list_buffers", 11: "Server.clients"}
			if first.Outcome != report.Outcome(report.NotOffered) || !strings.Contains(first.Why, "no "+lacks[c.Gap]) {
				t.Errorf("gap %d: %+v, want no %s", c.Gap, first, lacks[c.Gap])
			}
		}
	}
}

// versionOf returns the first two numbers of a version.
func versionOf(t *testing.T, version string) (major, minor int) {
	t.Helper()
	m := regexp.MustCompile(`^(\d+)\.(\d+)`).FindStringSubmatch(version)
	if m == nil {
		t.Fatalf("the version is %q", version)
	}
	major, _ = strconv.Atoi(m[1])
	minor, _ = strconv.Atoi(m[2])
	return major, minor
}
