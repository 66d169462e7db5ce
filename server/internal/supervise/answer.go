package supervise

import (
	"context"
	"strings"
	"time"

	"tmuxmcp/server/internal/agents"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
)

func agentAnswer(f *agents.Finder) *tool.Tool {
	return tool.New(tool.Decl{
		Name: "agent_answer", Title: "Agent Answer", Kind: tool.Reads, Set: tool.Panes,
		Aim:  target.Need(target.Pane),
		Hint: "what another coding agent has answered, in full",
		Desc: "Get the last answer of the coding agent in a pane as it wrote it (Markdown, in full, though it has scrolled off), with its prompt; with since, " +
			"all since then. From the agent's transcript, else its screen.",
	}, func(ctx context.Context, c tool.Call, in agentAnswerIn) (*agentAnswerResult, error) {
		id, err := target.PaneID(ctx, c.Tmux, c.On)
		if err != nil {
			return nil, err
		}
		e, err := f.LastAnswer(ctx, c.Tmux, id, in.Since)
		if err != nil {
			return nil, err
		}
		out := &agentAnswerResult{answered: answeredBy(e), Messages: []agentMessage{}, since: in.Since != "", skip: in.Offset}
		if lines := out.lines(); in.Offset > 0 && !out.since {
			out.Answer = strings.Join(lines[min(in.Offset, len(lines)):], "\n")
		}
		for _, m := range e.Messages {
			out.Messages = append(out.Messages, agentMessage{User: m.User, Text: m.Text, At: stamp(m.At)})
		}
		return out, nil
	})
}

type agentAnswerIn struct {
	target.SelectPaneID
	Since  string `json:"since,omitempty" desc:"a cursor"`
	Offset int    `json:"offset,omitempty" min:"0" desc:"lines to skip"`
	target.OnSocket
}

type answered struct {
	agentInfo
	Prompt *string `json:"prompt" exact:"true"`
	Answer string  `json:"answer" exact:"true"`
	// AnswerTruncated is set if the answer has lost its beginning to the limit of results.
	AnswerTruncated bool   `json:"answer_truncated"`
	PromptTruncated bool   `json:"prompt_truncated"`
	Source          string `json:"source" desc:"transcript, screen; empty without answer"`
	// Why says why the source is the screen.
	Why      *string `json:"why"`
	Complete bool    `json:"complete" desc:"false: it is still being written, or the source is the screen"`
	Began    *string `json:"began"`
	Ended    *string `json:"ended"`
	Cursor   *string `json:"cursor"`
}

// answeredBy returns an exchange as a caller sees it.
func answeredBy(e *agents.Exchange) answered {
	a := answered{
		agentInfo: infoOf(e.Agent), Answer: e.Answer, Source: "transcript", Complete: e.Complete,
		Prompt: reply.NonEmpty(e.Prompt), Why: reply.NonEmpty(e.Why), Cursor: reply.NonEmpty(e.Cursor),
		Began: reply.NonEmpty(stamp(e.Began)), Ended: reply.NonEmpty(stamp(e.Ended)),
	}
	if e.Why != "" {
		a.Source = "screen"
	}
	return a
}

// stamp returns a time in RFC 3339, or "" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// facts adds the facts about an answer.
func (a answered) facts(v *reply.View) {
	v.Head = true
	v.More = "agent_answer with offset"
	switch {
	case a.Source == "screen":
		v.Fact("its screen, as %s", *a.Why)
	case a.Answer == "" && a.Prompt != nil:
		v.Fact("no answer yet")
	case a.Answer == "":
	case !a.Complete:
		v.Fact("still being written")
	}
	if a.Began != nil && a.Ended != nil {
		v.Fact("asked %s", *a.Began)
		v.Fact("answered %s", *a.Ended)
	}
	if a.Prompt != nil {
		v.Fact("to: %s", reply.Named(reply.Flat(*a.Prompt), ""))
	}
	v.FactIf(a.Cursor != nil, "cursor %s", reply.ValueOr(a.Cursor, ""))
}

// asking returns what an agent asks, below its answer.
func (a answered) asking() []string {
	if a.State != string(agents.Asks) {
		return nil
	}
	return a.agentInfo.lines()
}

// plain returns lines without control characters, which a terminal would obey.
func plain(lines []string) []string {
	all := make([]string, len(lines))
	for i, line := range lines {
		all[i] = strings.Map(func(r rune) rune {
			if r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 {
				return '\ufffd'
			}
			return r
		}, line)
	}
	return all
}

func (a answered) lines() []string {
	if a.Answer == "" {
		return nil
	}
	return strings.Split(a.Answer, "\n")
}

type agentAnswerResult struct {
	answered
	// Messages are all messages since the given cursor.
	Messages          []agentMessage `json:"messages"`
	MessagesTruncated bool           `json:"messages_truncated"`
	since             bool
	skip              int
}

type agentMessage struct {
	User bool   `json:"user"`
	Text string `json:"text" exact:"true"`
	At   string `json:"at"`
}

func (r *agentAnswerResult) View() reply.View {
	var v reply.View
	v.Fact("%s %s %s", r.PaneID, r.Agent, r.State)
	r.facts(&v)
	lines := r.lines()
	if r.since && r.Source == "transcript" {
		lines = nil
		v.Fact("%s since", reply.Count(len(r.Messages), "message"))
		for _, m := range r.Messages {
			who, text := reply.Say("%s", r.Agent), strings.Split(m.Text, "\n")
			if m.User {
				who = "prompt"
			}
			if m.At != "" {
				who += reply.Say(", %s", m.At)
			}
			lines = append(append(lines, string(reply.Say("== %s, %s", who, reply.Count(len(text), "line")))), text...)
		}
	}
	if r.since {
		lines = lines[min(r.skip, len(lines)):]
	}
	v.Lines = append(v.Lines, plain(lines)...)
	v.FactIf(r.skip > 0, "%s skipped", reply.Count(r.skip, "line"))
	if asks := r.asking(); asks != nil {
		v.Fact("%s, then what it asks", reply.Count(len(v.Lines), "line"))
		v.Lines = append(v.Lines, asks...)
	}
	return v
}
