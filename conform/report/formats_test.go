package report

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"tmuxmcp/internal/test/testtool"
)

// fullReport has whatever a report can have, and text that would end or break
// what it is written in.
func fullReport() *Report {
	const nasty = "]]> </pre></details><script>x()</script> ```\n\n| # \\ \"q\" 'q' `c` \x1b[2J\x00\xff\ufffe\u009b {{.}} -->\n---\n...\n1..9\nnot ok 7"
	r := sampleReport()
	r.Started = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	r.Shard, r.Scripts = "1/2", "my/gaps"
	r.Gaps[0].Title = "zoom # TODO <b> | `x`"
	r.Cells[1].Evidence = []Evidence{{nasty, nasty, nasty}}
	r.Cells[1].Reason = nasty
	r.Cells[3].Known = &Known{Reason: "not yet # done", Link: "https://example.org/1?a=b&c=d"}
	r.Cells[7].Earlier = []Attempt{{Status: Fail, Reason: nasty, Evidence: []Evidence{{"a", nasty, ""}}}}
	r.Stale = []Stale{{Gap: 12, Layer: APILayer, Tmux: []string{"head"}, Entry: "known.toml:3", Known: Known{Reason: "was slow", Link: "javascript:x()"}}}
	r.Interrupted = true
	return r
}

func written(t *testing.T, write func(io.Writer, *Report) error, r *Report) string {
	t.Helper()
	var buf bytes.Buffer
	if err := write(&buf, r); err != nil {
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
	golden(t, "sample.txt", written(t, func(w io.Writer, r *Report) error { return WriteText(w, r, Style{Unicode: true}) }, sampleReport()))
	golden(t, "full.xml", written(t, WriteJUnit, fullReport()))
	golden(t, "full.tap", written(t, WriteTAP, fullReport()))
	golden(t, "full.md", written(t, WriteMarkdown, fullReport()))
}

func TestJUnitSchema(t *testing.T) {
	for _, r := range []*Report{sampleReport(), fullReport()} {
		reader(t, written(t, WriteJUnit, r), "xmllint", "--noout", "--schema", "testdata/readers/junit.xsd", "-")
	}
}

// What a strict reader gets out of TAP.
func TestTAP(t *testing.T) {
	// Debian's perl-base has no more than the core of the language.
	if err := exec.Command(testtool.Path(t, "perl"), "-MTAP::Parser", "-e", "1").Run(); err != nil {
		testtool.Missing(t, "perl has no TAP::Parser: %v", err)
	}
	golden(t, "full.tap.read", reader(t, written(t, WriteTAP, fullReport()), "perl", "testdata/readers/tap.pl"))
}

func TestJSONSchema(t *testing.T) {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	schema, err := compiler.Compile("../../docs/report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*Report{sampleReport(), fullReport()} {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(written(t, WriteJSON, r)))
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
	text := written(t, WriteMarkdown, r)
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

	for i := range 2000 {
		c := r.Cells[1]
		c.Known, c.Reason = nil, strings.Repeat("reason ", i)
		c.Evidence = []Evidence{{"tmux x", "y", strings.Repeat("é", 4<<10)}}
		r.Cells = append(r.Cells, c)
	}
	text = written(t, WriteMarkdown, r)
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

// The page is one file of balanced tags, asks for nothing and runs nothing, and
// has all there is.
func TestHTML(t *testing.T) {
	const issue = "https://github.com/tmux-python/libtmux/issues/670"
	text := written(t, WriteHTML, fullReport())
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var open, links []string
	ids := map[string]bool{}
	cells := 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v in:\n%s", err, text)
		}
		switch e := token.(type) {
		case xml.StartElement:
			open = append(open, e.Name.Local)
			if e.Name.Local == "script" || e.Name.Local == "img" || e.Name.Local == "iframe" {
				t.Errorf("an element %s", e.Name.Local)
			}
			for _, a := range e.Attr {
				switch {
				case e.Name.Local == "details" && a.Name.Local == "class" && a.Value == "cell":
					cells++
				case a.Name.Local == "id" && ids[a.Value]:
					t.Errorf("two elements of id %s", a.Value)
				case a.Name.Local == "id":
					ids[a.Value] = true
				case a.Name.Local == "href" && strings.HasPrefix(a.Value, "#"):
					links = append(links, a.Value[1:])
				case a.Name.Local == "src", strings.HasPrefix(a.Name.Local, "on"),
					a.Name.Local == "href" && !slices.Contains([]string{"data:,", "https://example.org/1?a=b&c=d", issue}, a.Value):
					t.Errorf("%s has %s=%q", e.Name.Local, a.Name.Local, a.Value)
				}
			}
		case xml.EndElement:
			if len(open) == 0 || open[len(open)-1] != e.Name.Local {
				t.Fatalf("</%s> where %v are open", e.Name.Local, open)
			}
			open = open[:len(open)-1]
		}
	}
	for _, to := range links {
		if !ids[to] {
			t.Errorf("a link to #%s, which is nowhere", to)
		}
	}
	head, _, _ := strings.Cut(text, "</header>")
	for _, to := range []string{"failures", "matrix"} {
		if !strings.Contains(head, `<a href="#`+to+`">`) {
			t.Errorf("no link to the %s at the top", to)
		}
	}
	if len(links) < 5 {
		t.Errorf("%d links within the page", len(links))
	}
	if len(open) > 0 || cells != 4 {
		t.Errorf("%v left open, %d cells", open, cells)
	}
	for _, want := range []string{"prefers-color-scheme: dark", `name="viewport"`, "Not as expected|Interrupted", "known.toml:3", "run-shell -E came with tmux 3.6", "&lt;script&gt;x()"} {
		if a, b, _ := strings.Cut(want, "|"); !strings.Contains(text, a) && (b == "" || !strings.Contains(text, b)) {
			t.Errorf("no %q", want)
		}
	}
}

// A browser makes of it the page that was written: nothing has run, the link to a
// cell opens it, on a phone nothing is wider than the screen, what can be scrolled says
// so, and in the dark the page is dark. "go test -artifacts -run HTMLInBrowser" keeps the pictures.
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
	page := written(t, WriteHTML, r)
	for _, tt := range []struct {
		name  string
		width int
		dark  bool
	}{{"phone", 390, true}, {"wide", 1400, false}} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.ArtifactDir()
			file, frame, picture := filepath.Join(dir, "report.html"), filepath.Join(dir, "frame.html"), filepath.Join(dir, "picture.png")
			for name, text := range map[string]string{file: page, frame: fmt.Sprintf(`<!DOCTYPE html><iframe width="%d" height="800" style="border: 0" src="report.html#gap-3-3.3a-api"></iframe>
<script>onload = () => {
	const d = document.querySelector("iframe").contentDocument, n = (s) => d.querySelectorAll(s).length
	const hinted = () => [...d.querySelectorAll(".scroll")].every((s) => (s.scrollWidth > s.clientWidth) === (s.querySelector(".more").offsetHeight > 10))
	const look = () => { // An animation along a scroll timeline begins some frames after the page is there.
		if (!hinted()) requestAnimationFrame(look)
		document.body.id = [d.documentElement.scrollWidth, n("details.cell"), n("details.cell[open]"), d.scripts.length, d.body.textContent.includes("</details><script>x()"),
			n(".scroll .more"), hinted()].join()
	}
	look()
}</script>`, tt.width)} {
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			dom := browse(t, frame, "--dump-dom", "--virtual-time-budget=10000", "--allow-file-access-from-files")
			if want := fmt.Sprintf(`<body id="%d,14,1,0,true,2,true">`, tt.width); !strings.Contains(dom, want) {
				t.Errorf("%s, want %s: width, cells, open cells, scripts, text, hints that more can be seen, and only where it can", regexp.MustCompile(`<body[^>]*>`).FindString(dom), want)
			}
			scheme := 1
			if tt.dark {
				scheme = 0
			}
			browse(t, file, "--screenshot="+picture, fmt.Sprintf("--window-size=%d,900", tt.width), fmt.Sprintf("--blink-settings=preferredColorScheme=%d", scheme))
			if light := brightness(t, picture); (light < 0.3) != tt.dark || (light > 0.7) == tt.dark {
				t.Errorf("brightness %.2f", light)
			}
		})
	}
}

// browse has Chromium load a page, and returns what it prints.
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

// brightness is that of a picture, from 0 to 1.
func brightness(t *testing.T, file string) float64 {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	picture, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	var sum, n float64
	b := picture.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			sum += float64(color.Gray16Model.Convert(picture.At(x, y)).(color.Gray16).Y) / 0xffff
			n++
		}
	}
	return sum / n
}
