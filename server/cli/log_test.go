package cli

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// TestALogLosesNothingUnsaid: while nobody reads, records are dropped. Those that are there
// are in order, and where some are missing another one says how many.
func TestALogLosesNothingUnsaid(t *testing.T) {
	r, out := io.Pipe()
	var told strings.Builder
	w := newLogWriter(out, slog.New(slog.NewTextHandler(&told, nil)), false)
	log := slog.New(slog.NewJSONHandler(w, nil))
	n := 0
	record := func() { log.Info("call", "n", n); n++ }
	for range 3 * mostRecords {
		record()
	}
	log.Info(strings.Repeat("x", mostBytes)) // too large at any time
	n++
	lines := bufio.NewScanner(r)
	next, dropped := 0, 0
	read := func() {
		if !lines.Scan() {
			t.Fatal("the log has ended")
		}
		switch msg := gjson.Get(lines.Text(), "msg").String(); {
		case msg != "call":
			missing := 0
			if _, err := fmt.Sscanf(msg, "%d records dropped", &missing); err != nil {
				t.Fatalf("it has %s", lines.Text())
			}
			next += missing
			dropped += missing
		case int(gjson.Get(lines.Text(), "n").Int()) != next:
			t.Fatalf("record %d is %s", next, lines.Text())
		default:
			next++
		}
	}
	for next < n {
		read()
	}
	if dropped != 2*mostRecords+1 {
		t.Errorf("%d records are missing", dropped)
	}
	for range mostRecords - 1 { // the last that was read may still be in the queue
		record()
	}
	closed := make(chan struct{})
	go func() { w.close(time.Minute); close(closed) }()
	for next < n {
		read()
	}
	<-closed
	if text := told.String(); dropped != 2*mostRecords+1 || strings.Count(text, "\n") != 2 ||
		!strings.Contains(text, `"1 audit records were lost"`) || !strings.Contains(text, fmt.Sprintf(`"%d audit records were lost"`, 2*mostRecords)) {
		t.Errorf("%d records are missing, and the other log says:\n%s", dropped, text)
	}
}
