package report

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"tmuxmcp/internal/test/testtool"
)

// fullReport returns a report with whatever a report can have, and text that would end or break
// what it is written in.
func fullReport() *Report {
	const nasty = "]]> </pre></details><script>x()</script> ```\n\n| # \\ \"q\" 'q' `c` \x1b[2J\x00\xff\ufffe\u009b {{.}} -->\n---\n...\n1..9\nnot ok 7"
	r := sampleReport()
	r.Started = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	r.Shard, r.Scripts = "1/2", "my/gaps"
	r.Gaps[0].Title = "zoom # TODO <b> | `x`"
	r.Cells[1].Evidence = []Evidence{{nasty, nasty, nasty}}
	r.Cells[1].Reason, r.Cells[1].Claims = nasty, nil
	settle(&r.Cells[1])
	r.Cells[3].Known = &Known{Reason: "not yet # done", Link: "https://example.org/1?a=b&c=d"}
	r.Cells[3].Claims[0].Known = r.Cells[3].Known
	r.Cells[7].Earlier = []Attempt{{Status: Fail, Reason: nasty, Evidence: []Evidence{{"a", nasty, ""}}}}
	r.Stale = []Stale{{Gap: 12, Layer: APILayer, Claim: "12/api/1", Tmux: []string{"head"}, Entry: "known.toml:3", Known: Known{Reason: "was slow", Link: "javascript:x()"}}}
	r.Interrupted = true
	return r
}

func written(t *testing.T, format string, r *Report) string {
	t.Helper()
	var buf bytes.Buffer
	if err := Write(&buf, format, r, Style{Unicode: true}); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// reader runs a program that reads a format, or skips the test where there is
// none.
func reader(t *testing.T, input string, name string, args ...string) string {
	t.Helper()
	testtool.Path(t, name)
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s\n%s", name, err, out, input)
	}
	return string(out)
}

var update = flag.Bool("update", false, "write what the formats are into testdata")

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); go test ./conform/report -update writes it:\n%s", path, diff)
	}
}

// The formats are those of testdata.
func TestFormats(t *testing.T) {
	golden(t, "sample.txt", written(t, "text", sampleReport()))
	golden(t, "full.xml", written(t, "junit", fullReport()))
	golden(t, "full.tap", written(t, "tap", fullReport()))
	golden(t, "full.md", written(t, "markdown", fullReport()))
	page := written(t, "html", fullReport())
	golden(t, "full.html", regexp.MustCompile(`(?s)<style>.*</style>`).ReplaceAllString(page, "<style></style>"))
}

// The page has once what cells of several targets show, and every cell its link.
func TestHTMLHasItOnce(t *testing.T) {
	r := sampleReport()
	for i, actual := range []string{"pid 7", "pid 12", "no pid"} {
		name := fmt.Sprint("t", i)
		r.Targets = append(r.Targets, Target{Name: name, Version: "3.6a"})
		c := Cell{Gap: 3, Layer: TmuxLayer, Tmux: name, Transport: "exec", Status: Pass, Evidence: []Evidence{{"show-it", "", actual}}}
		settle(&c)
		r.Cells = append(r.Cells, c)
	}
	page := written(t, "html", r)
	for text, want := range map[string]int{
		"pid 7": 1, "pid 12": 0, "no pid": 1, `<a href="#gap-3-t0-tmux">on tmux t0</a>`: 1, "as <a href=": 1,
		`id="gap-3-t0-tmux"`: 1, `id="gap-3-t1-tmux"`: 1, `id="gap-3-t2-tmux"`: 1,
	} {
		if n := strings.Count(page, text); n != want {
			t.Errorf("%q is there %d times, want %d", text, n, want)
		}
	}
}

func TestJUnitSchema(t *testing.T) {
	for _, r := range []*Report{sampleReport(), fullReport()} {
		reader(t, written(t, "junit", r), "xmllint", "--noout", "--schema", "testdata/readers/junit.xsd", "-")
	}
}

// What a strict reader gets out of TAP.
func TestTAP(t *testing.T) {
	// Debian's perl-base has no more than the core of the language.
	if err := exec.Command(testtool.Path(t, "perl"), "-MTAP::Parser", "-e", "1").Run(); err != nil {
		testtool.Missing(t, "perl has no TAP::Parser: %v", err)
	}
	golden(t, "full.tap.read", reader(t, written(t, "tap", fullReport()), "perl", "testdata/readers/tap.pl"))
}

func TestJSONSchema(t *testing.T) {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	schema, err := compiler.Compile("../../docs/report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	wrapper := sampleReport()
	wrapper.APIs = []API{{Name: "a 1", Command: "./a", Described: &Described{Protocol: 1, Name: "a", Version: "1", Language: "go"}}, {Name: BuiltIn}}
	wrapper.Cells[0].Layer, wrapper.Cells[0].API, wrapper.Cells[0].Transport = APILayer, "a 1", ""
	for _, r := range []*Report{sampleReport(), fullReport(), wrapper} {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(written(t, "json", r)))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Error(err)
		}
		v.(map[string]any)["cells"].([]any)[0].(map[string]any)["status"] = "good"
		if schema.Validate(v) == nil {
			t.Error("the schema takes a status of no such name")
		}
	}
}

// However long the report is, the page stays within GitHub's limit and says what
// was left out.
func TestMarkdownFits(t *testing.T) {
	r := fullReport()
	text := written(t, "markdown", r)
	for _, bad := range []string{"<script>", "\x1b", "\x00"} {
		// Within a fence nothing is markup.
		inFence := false
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "````") {
				inFence = !inFence
			} else if !inFence && strings.Contains(line, bad) {
				t.Errorf("%q in: %s", bad, line)
			}
		}
	}

	for i := range 300 {
		c := r.Cells[1]
		c.Known, c.Claims, c.Reason = nil, nil, strings.Repeat("reason ", i)
		c.Evidence = []Evidence{{"tmux x", "y", strings.Repeat("é", 4<<10)}}
		settle(&c)
		r.Cells = append(r.Cells, c)
	}
	text = written(t, "markdown", r)
	if len(text) > maxMarkdown || len(text) < maxMarkdown/2 {
		t.Errorf("%d bytes, want at most %d", len(text), maxMarkdown)
	}
	for _, want := range []string{"bytes left out) …", "more failures are not shown here", "### Claims that tmux refutes"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.ToValidUTF8(text, "") != text {
		t.Error("cut within a character")
	}
}

// A browser makes of it the page that was written: nothing has run, the link to a
// cell opens it, on a phone nothing is wider than the screen, what can be scrolled says
// so, and in the dark the page is dark.
func TestHTMLInBrowser(t *testing.T) {
	t.Parallel()
	if !testtool.Full {
		t.Skip("a browser takes seconds: see " + testtool.FullSize)
	}
	r := fullReport()
	for _, name := range []string{"3.2a", "3.4", "3.5a", "3.6", "3.6a", "3.7c", "3.8", "debian", "brew", "mine"} {
		r.Targets = append(r.Targets, Target{Name: name, Version: name, Path: "/opt/" + strings.Repeat("long/", 30) + "tmux"})
		for _, c := range r.Cells[:4] {
			c.Tmux = name
			r.Cells = append(r.Cells, c)
		}
	}
	page := written(t, "html", r)
	frame, err := os.ReadFile("testdata/readers/frame.html")
	if err != nil {
		t.Fatal(err)
	}
	for width, scheme := range map[string]struct{ setting, background, failuresFirst string }{
		"390":  {"0", "rgb(20, 23, 26)", "true"},
		"1400": {"1", "rgb(251, 250, 247)", "false"},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "frame.html")
		for name, text := range map[string]string{
			file:                              strings.ReplaceAll(string(frame), "WIDTH", width),
			filepath.Join(dir, "report.html"): page,
		} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		dom := browse(t, file, "--dump-dom", "--virtual-time-budget=10000", "--allow-file-access-from-files",
			"--blink-settings=preferredColorScheme="+scheme.setting)
		// Width, cells, open cells, scripts, text, hints that more can be seen, and only where it
		// can; the table on the first screen, the heading asked for below its bar, and on a
		// phone the failures above the prose.
		if want := `<body id="` + width + `,14,1,0,true,2,true,true,true,` + scheme.failuresFirst + `,` + scheme.background + `">`; !strings.Contains(dom, want) {
			t.Errorf("%s, want %s", regexp.MustCompile(`<body[^>]*>`).FindString(dom), want)
		}
	}
}

// browse loads a page in Chromium, and returns what that prints.
func browse(t *testing.T, url string, args ...string) string {
	t.Helper()
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		testtool.Missing(t, "Chromium, which reads the page, is not installed")
	}
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), browser, append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking",
		"--disable-dev-shm-usage", "--user-data-dir=" + home}, append(args, "file://"+url)...)...)
	cmd.Env = append(os.Environ(), "HOME="+home)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", browser, err)
	}
	return string(out)
}
