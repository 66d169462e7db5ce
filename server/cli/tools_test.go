package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestToolsWrap: on a terminal no line of tools is wider than that or cut in a word; in a pipe each
// tool is a line.
func TestToolsWrap(t *testing.T) {
	t.Parallel()
	var o options
	cmd, _, err := command(&o, nil, io.Discard).Find([]string{"tools"})
	if err == nil {
		err = cmd.ParseFlags(nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := o.lister(cmd, true)
	if err != nil {
		t.Fatal(err)
	}
	var whole bytes.Buffer
	if err := s.WriteTools(&whole, 0); err != nil || strings.Count(whole.String(), "\n") != len(s.Tools()) {
		t.Fatalf("%v\n%s", err, whole.String())
	}
	for _, width := range []int{50, 80, 120} {
		var wrapped bytes.Buffer
		if err := s.WriteTools(&wrapped, width); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(wrapped.String()) {
			if utf8.RuneCountInString(line)-1 > width {
				t.Errorf("%d columns: %s", width, line)
			}
		}
		if got, want := strings.Fields(wrapped.String()), strings.Fields(whole.String()); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%d columns: the words are others\n%s", width, wrapped.String())
		}
	}
}
