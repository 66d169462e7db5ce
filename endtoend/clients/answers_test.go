package clients

import (
	"fmt"
	"strings"
	"testing"
)

// wholeAnswer has what a screen loses: Markdown, tabs, wide characters, and more lines than
// a screen has.
var wholeAnswer = func() string {
	var b strings.Builder
	b.WriteString("The total is **42**, see `shop.go`:\n\n```go\nfunc Total(count, price int) int {\n\treturn count * price // 二つ 🎉\n}\n```\n\n" +
		"| item | price |\n|---|---:|\n| 茶 tea | 3 |\n| café | 14 |\n\n")
	for n := range 300 {
		fmt.Fprintf(&b, "%d. line %d of a list, *with* [a link](https://example.com/%d) & <tags>\n", n+1, n+1, n)
	}
	b.WriteString("\nThat is all there is to say about it.")
	return b.String()
}()

// One call gives an agent a prompt, and returns its answer exactly as its model wrote it.
func TestAnswers(t *testing.T) {
	for _, c := range agentClients(t) {
		if c.colours != "" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			s := newPromptStage(t, c)
			s.truth.now("idle")
			var got struct {
				State string
				Reply struct {
					Answer, Source   string
					Why              *string
					Complete         bool
					Question, Cursor *string
				}
			}
			said, ok := s.mcp.call("send_prompt", map[string]any{"pane_id": "%0", "prompt": whole + "please", "answer": true}, &got)
			if !ok || got.Reply.Answer != wholeAnswer || got.Reply.Source != "transcript" || !got.Reply.Complete {
				why := ""
				if got.Reply.Why != nil {
					why = *got.Reply.Why
				}
				t.Errorf("%v, %s %s, %s, complete %v: %.300q … of %d bytes, want %d\n%.200s\n%s", ok, got.State, got.Reply.Source, why, got.Reply.Complete, got.Reply.Answer, len(got.Reply.Answer), len(wholeAnswer), said, s.screen())
			}
		})
	}
}
