package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
)

// seen is what a tool that types returns.
type seen struct {
	Seen *awaited `json:"seen"`
}

func numberedRows(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "row %d\n", i)
	}
	return b.String()
}

// TestShownScreensAreWhole: all rows, drawn to the end, and what comes then is new.
func TestShownScreensAreWhole(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "keep")
	p := serve(t, configFor(srv))
	s := newScreen(t, srv, "a", 80, 30)
	s.print("ready\n")
	rows := strings.SplitAfter(numberedRows(25), "\n")
	whole := func(name string) (got *awaited, is bool) {
		drawn := make(chan struct{})
		call, _ := p.begin("tools/call", json.RawMessage(`{"name":"send_keys","arguments":{"pane_id":"`+s.pane+`","keys":"x","patterns":["status `+name+`"],"show":"screen","timeout":30}}`))
		go func() {
			defer close(drawn)
			time.Sleep(100 * time.Millisecond) // the keys come first
			s.in.WriteString("\x1b[H\x1b[2J\x1b[29Hstatus " + name + "\x1b[H")
			for _, row := range rows {
				time.Sleep(5 * time.Millisecond) // as a program draws
				s.in.WriteString(row)
			}
		}()
		got = decode[seen](p, "send_keys", p.await(call)).Seen
		<-drawn
		s.print("")
		return got, got.Outcome == "matched" && len(got.Tail) >= 26 && got.Tail[0] == "row 0" && got.Tail[24] == "row 24"
	}
	// On a busy machine the drawing may pause for longer than a moment.
	var got *awaited
	is := false
	for i := 0; i < 5 && !is; i++ {
		got, is = whole(fmt.Sprint("try", i))
	}
	if !is {
		t.Fatalf("%+v", got)
	}
	if got := ok[awaited](p, "wait_for_text", `{"pane_id":"`+s.pane+`","timeout":0.3}`); got.Outcome != "timeout" {
		t.Errorf("what was shown is new again: %+v", got)
	}
}
