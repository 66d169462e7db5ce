package supervise

import (
	"context"
	"fmt"
	"time"

	"tmuxmcp/server/internal/agents"
	"tmuxmcp/server/internal/deliver"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/server/internal/typing"
)

func sendPrompt(k *typing.Keyboard, s *deliver.Sender, f *agents.Finder) *tool.Tool {
	return typing.Tool(k, tool.Decl{
		Name: "send_prompt", Title: "Send Prompt", Kind: tool.Shell, Set: tool.Input, SelfBounded: true,
		Aim:  target.Need(target.Pane),
		Hint: "give another coding agent a task, and get its answer",
		Desc: "Give the coding agent in a pane a prompt of any length: waits until it takes input, pastes, submits and checks, exactly once. With answer, waits " +
			"until it has answered or asks, and returns that. Types nothing, and says why, if it asks, its box is not empty, a user is looking, or no agent runs there.",
	}, func(ctx context.Context, t *typing.Typist, on target.Object, in sendPromptIn) (*sentAndAnswered, error) {
		start := time.Now()
		seconds := takesWithin
		if in.Timeout != nil {
			seconds = *in.Timeout
		}
		budget, err := k.Screens.Budget(seconds, "wait_for_agent can wait for the rest")
		if err != nil {
			return nil, err
		}
		if !in.Answer {
			sent, err := s.Send(ctx, t, on, in.Prompt, budget)
			if err != nil {
				return nil, err
			}
			return &sentAndAnswered{Sent: *sent}, nil
		}
		if in.Timeout == nil {
			budget = k.Screens.WaitMax
		}
		id, err := target.PaneID(ctx, t.Tmux, on)
		if err != nil {
			return nil, err
		}
		q := f.Ask(ctx, t.Tmux, id, in.Text)
		sent, err := s.Send(ctx, t, on, in.Prompt, min(budget, time.Duration(takesWithin)*time.Second))
		if err != nil {
			return nil, err
		}
		e, err := q.Answer(ctx, max(budget-time.Since(start), 0))
		if err != nil {
			return nil, answerFailed(sent, err)
		}
		reply := answeredBy(e)
		return &sentAndAnswered{*sent, &reply}, nil
	})
}

// takesWithin is how long an agent may take to take a prompt, in seconds, by default.
const takesWithin = 30.0

// answerFailed returns the fault for a prompt that was sent, and whose answer could not be
// waited for.
func answerFailed(sent *deliver.Sent, err error) error {
	f, _ := reply.FaultOf(err)
	failed := *f
	failed.Message = fmt.Sprintf("the prompt was sent to pane %s, once; waiting for its answer failed: %s", sent.PaneID, f.Message)
	failed.Suggestion = "do not send it again; agent_status and agent_answer show what became of it"
	return &failed
}

type sendPromptIn struct {
	target.SelectPaneID
	deliver.Prompt
	Answer  bool     `json:"answer,omitempty" desc:"wait for it, and return it"`
	Timeout *float64 `json:"timeout,omitempty" desc:"seconds until it takes input (30), with answer until it has answered (300)"`
	target.OnSocket
}

func (in sendPromptIn) Check(tool.Limits) error { return in.Prompt.Check() }

// sentAndAnswered is the outcome of send_prompt.
type sentAndAnswered struct {
	deliver.Sent
	Reply *answered `json:"reply"`
}

func (s *sentAndAnswered) View() reply.View {
	if s.Reply == nil {
		return s.Sent.View()
	}
	a := *s.Reply
	sent := s.Sent
	sent.State = a.State
	v := sent.View()
	v.FactIf(a.Answer == "" && a.Source == "transcript", "no answer yet")
	a.Prompt = nil // the caller knows it
	a.facts(&v)
	v.Lines = plain(a.lines())
	if asks := a.asking(); asks != nil {
		v.Fact("%s, then what it asks", reply.Count(len(v.Lines), "line"))
		v.Lines = append(v.Lines, asks...)
	}
	return v
}
