package clients

import (
	"encoding/json"
	"fmt"
	"slices"
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

// screenOnly are agents whose conversations are not read.
var screenOnly = []string{"cline", "cn", "crush", "droid", "kimi", "nanocoder"}

// answer is what send_prompt returns with answer.
type answer struct {
	State string
	Reply struct {
		State, Answer, Source string
		Why                   *string
		Complete              bool
		Prompt, Question      *string
	}
}

// One call gives an agent a prompt, and returns its answer exactly as its model wrote it:
// also if it was working, or has begun another conversation, and what it asks instead.
func TestAnswers(t *testing.T) {
	for _, c := range agentClients(t) {
		if c.colours != "" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			s := newPromptStage(t, c)
			s.truth.now("idle")
			ask := func(prompt string) (a answer) {
				t.Helper()
				if said, ok := s.mcp.call("send_prompt", map[string]any{"pane_id": "%0", "prompt": prompt, "answer": true}, &a); !ok {
					t.Fatalf("%s\n%s", said, s.screen())
				}
				return a
			}
			want := func(a answer, text string) {
				t.Helper()
				if slices.Contains(screenOnly, c.name) {
					last := text[strings.LastIndexByte(text, '\n')+1:]
					if a.Reply.Source != "screen" || a.Reply.Why == nil || !strings.Contains(a.Reply.Answer, last) {
						t.Errorf("%+v", a)
					}
				} else if a.Reply.Answer != text || a.Reply.Source != "transcript" || !a.Reply.Complete {
					why, _ := json.Marshal(a.Reply.Why)
					t.Errorf("%s, %s, %s, complete %v: %.300q … of %d bytes, want %d\n%s", a.Reply.State, a.Reply.Source, why,
						a.Reply.Complete, a.Reply.Answer, len(a.Reply.Answer), len(text), s.screen())
				}
			}
			want(ask(whole+"please"), wholeAnswer)
			if said, ok := s.mcp.call("send_prompt", map[string]any{"pane_id": "%0", "prompt": slowly + "first"}, nil); !ok {
				t.Fatalf("%s\n%s\n%s", said, s.tmux("display-message", "-p", "-t", "%0", "#{cursor_x},#{cursor_y} of #{pane_height} #{history_size} #{cursor_flag}"), s.screen())
			}
			s.awaits("working")
			want(ask("And now this, please: second"), understood)
			if a := ask(asking + "third"); a.Reply.State != "asks" || a.Reply.Question == nil {
				t.Errorf("%+v\n%s", a, s.screen())
			}
			if slices.Contains(screenOnly, c.name) {
				report(t, "%-13s its answers are read off its screen", c.name)
			} else {
				report(t, "%-13s answers with %d bytes, and while it works, exactly as its model wrote them", c.name, len(wholeAnswer))
			}
		})
	}
}
