package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/test/cases"
)

func TestDiff(t *testing.T) {
	for _, c := range cases.Load(t, "testdata/diff.txtar", "from", "to", "worse") {
		t.Run(c.Name, func(t *testing.T) {
			d := Compare(resultsReport(strings.Fields(c.One("from"))...), resultsReport(strings.Fields(c.One("to"))...))
			var buf bytes.Buffer
			if err := WriteDiff(&buf, d, Style{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.Texts["diff"], buf.String()); diff != "" || fmt.Sprint(d.Worse()) != c.One("worse") {
				t.Errorf("worse: %v (-want +got):\n%s", d.Worse(), diff)
			}
			text, err := json.Marshal(d)
			if err != nil || bytes.Contains(text, []byte("null")) {
				t.Errorf("%v: %s", err, text)
			}
		})
	}
}
