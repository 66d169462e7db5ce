package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"tmuxmcp/conform"
	"tmuxmcp/conform/report"
)

// On a terminal, one line shows the progress of a run and is erased at the end. A pipe
// gets a line at times, and nothing for what happens in between.
func TestProgress(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var out bytes.Buffer
	p := newProgress(&out, false)
	p.now, p.start = func() time.Time { return now }, now
	event := func(gap int, done bool, ended int, status report.Status) {
		p.event(conform.Event{Cell: report.Cell{Gap: gap, Layer: "api", Tmux: "3.6a", Status: status}, Done: done, Ended: ended, Total: 9})
	}
	event(1, false, 0, "")
	if out.Len() > 0 {
		t.Errorf("in a pipe: %q", out.String())
	}
	times, stopped := make(chan time.Time), make(chan bool)
	go func() {
		p.tick(times)
		close(stopped)
	}()
	times <- now
	close(p.done)
	<-stopped
	p.done = make(chan struct{})
	if !strings.HasPrefix(out.String(), "mcp-conform: 0 of 9, 9 left, 0 s; running 1/api/3.6a\n") {
		t.Errorf("in a pipe after a while: %q", out.String())
	}
	p.live = true
	want := func(want string) {
		t.Helper()
		if got := p.line(); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	event(2, false, 0, "")
	want("0 of 9, 9 left, 0 s; running 1/api/3.6a, 2/api/3.6a")
	now = now.Add(3 * time.Second)
	event(2, true, 1, report.Fail)
	want("1 of 9, 8 left, 3 s, 1 failed; running 1/api/3.6a 3 s")
	p.end()
	if got := out.String(); !bytes.HasSuffix(out.Bytes(), []byte("\r\x1b[K")) {
		t.Errorf("ends with %q", got[max(0, len(got)-40):])
	}
}
