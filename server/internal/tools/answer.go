package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tmuxmcp/server/internal/agents"
	"tmuxmcp/server/internal/deliver"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/server/internal/typing"
	"tmuxmcp/tmux"
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

// answered is an answer of an agent.
type answered struct {
	agentInfo
	Prompt *string `json:"prompt" exact:"true"`
	Answer string  `json:"answer" exact:"true"`
	Source string  `json:"source" desc:"transcript, screen; empty without answer"`
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
		agentInfo: infoOf(e.Seen), Answer: e.Answer, Source: "transcript", Complete: e.Complete,
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

// facts add what is to be known of an answer.
func (a answered) facts(v *reply.View) {
	v.Head = true
	v.More = "agent_answer with offset"
	switch {
	case a.Source == "screen":
		v.Fact("its screen, as %s", *a.Why)
	case a.Answer == "":
		v.Fact("no answer yet")
	case !a.Complete:
		v.Fact("still being written")
	}
	if a.Began != nil && a.Ended != nil {
		v.Fact("asked %s", *a.Began)
		v.Fact("answered %s", *a.Ended)
	}
	if a.Prompt != nil {
		v.Fact("to: %s", reply.Flat(*a.Prompt))
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

// lines returns the lines of the answer.
func (a answered) lines() []string {
	if a.Answer == "" {
		return nil
	}
	return strings.Split(a.Answer, "\n")
}

// agentAnswerResult is the outcome of agent_answer.
type agentAnswerResult struct {
	answered
	// Messages are all since the cursor that was given.
	Messages []agentMessage `json:"messages"`
	since    bool
	skip     int
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
			who, text := r.Agent, strings.Split(m.Text, "\n")
			if m.User {
				who = "prompt"
			}
			lines = append(append(lines, fmt.Sprintf("== %s, %s, %s", who, m.At, reply.Count(len(text), "line"))), text...)
		}
	}
	v.Lines = append(v.Lines, lines[min(r.skip, len(lines)):]...)
	v.FactIf(r.skip > 0, "%s skipped", reply.Count(min(r.skip, len(lines)), "line"))
	if asks := r.asking(); asks != nil {
		v.Fact("%s, then what it asks", reply.Count(len(v.Lines), "line"))
		v.Lines = append(v.Lines, asks...)
	}
	return v
}

// sentAndAnswered is the outcome of send_prompt.
type sentAndAnswered struct {
	deliver.Sent
	Reply *answered `json:"reply"`
}

func (s *sentAndAnswered) View() reply.View {
	v := s.Sent.View()
	if s.Reply == nil {
		return v
	}
	a := *s.Reply
	v.Facts[len(v.Facts)-1-len(s.Notes)] = "now " + a.State
	a.Prompt = nil // the caller knows it
	a.facts(&v)
	v.Lines = a.lines()
	if asks := a.asking(); asks != nil {
		v.Fact("%s, then what it asks", reply.Count(len(v.Lines), "line"))
		v.Lines = append(v.Lines, asks...)
	}
	return v
}

func waitForAgent(f *agents.Finder, r *screen.Reader) *tool.Tool {
	return tool.New(tool.Decl{
		Name: "wait_for_agent", Title: "Wait For Agent", Kind: tool.Reads, Set: tool.Panes, SelfBounded: true,
		Aim:  target.Nowhere,
		Hint: "wait until the first of several coding agents is done or asks something",
		Desc: "Wait until a coding agent, the first of several or all, is idle or asks. Returns their states, questions and choices, and with answer what they answered.",
	}, func(ctx context.Context, c tool.Call, in waitForAgentIn) (*waitForAgentResult, error) {
		start := time.Now()
		budget, err := r.Budget(in.Timeout)
		if err != nil {
			return nil, err
		}
		var panes []tmux.PaneID
		if len(in.Panes) > 0 {
			if panes, err = panesNamed(ctx, c, "panes", in.Panes); err != nil {
				return nil, err
			}
		}
		a, err := f.Await(ctx, c.Tmux, panes, in.states(), in.Until == "all", budget)
		if err != nil {
			return nil, err
		}
		if len(a.Seen)+len(a.Gone) == 0 {
			return nil, reply.Faultf(reply.KindRefused, "no coding agent runs in any pane").Suggest("agent_status lists those that do")
		}
		out := &waitForAgentResult{Agents: []awaitedAgent{}, Gone: append([]tmux.PaneID{}, a.Gone...)}
		for _, s := range a.Seen {
			one := awaitedAgent{answered{agentInfo: infoOf(s)}, a.Reached[s.ID]}
			if one.Reached && in.Answer {
				e, err := f.LastAnswer(ctx, c.Tmux, s.ID, "")
				if err != nil {
					return nil, err
				}
				one.answered = answeredBy(e)
			}
			out.Agents = append(out.Agents, one)
		}
		slices.SortStableFunc(out.Agents, func(a, b awaitedAgent) int { return order(b.Reached) - order(a.Reached) })
		out.TimedOut = len(a.Reached)+len(a.Gone) == 0
		out.ElapsedSeconds = reply.Seconds(time.Since(start))
		return out, nil
	})
}

func order(first bool) int {
	if first {
		return 1
	}
	return 0
}

type waitForAgentIn struct {
	Panes   []string `json:"panes,omitempty" desc:"ids or sessions; default all with an agent"`
	State   []string `json:"state,omitempty" desc:"working, asks, idle, ended; default idle, asks, ended"`
	Until   string   `json:"until" default:"any" enum:"any,all"`
	Answer  bool     `json:"answer,omitempty"`
	Timeout float64  `json:"timeout" default:"60" desc:"seconds, to 300"`
	target.OnSocket
}

func (in waitForAgentIn) Check(tool.Limits) error {
	_, err := statesNamed(in.State)
	return err
}

// states returns the states to wait for.
func (in waitForAgentIn) states() []agents.State {
	if states, _ := statesNamed(in.State); states != nil {
		return states
	}
	return []agents.State{agents.Idle, agents.Asks, agents.Ended}
}

// waitForAgentResult is the outcome of wait_for_agent, those first that have come to the
// states.
type waitForAgentResult struct {
	Agents         []awaitedAgent `json:"agents"`
	Gone           []tmux.PaneID  `json:"gone"`
	TimedOut       bool           `json:"timed_out"`
	ElapsedSeconds float64        `json:"elapsed_seconds"`
}

type awaitedAgent struct {
	answered
	Reached bool `json:"reached"`
}

func (r *waitForAgentResult) View() reply.View {
	var v reply.View
	v.Head = true
	var still []string
	done := 0
	for _, a := range r.Agents {
		if !a.Reached {
			still = append(still, fmt.Sprintf("%s %s", a.PaneID, a.State))
			continue
		}
		done++
		v.Lines = append(v.Lines, a.agentInfo.lines()...)
		if a.Source != "" {
			var said reply.View
			a.facts(&said)
			text := a.lines()
			v.Lines = append(v.Lines, fmt.Sprintf("== answer of %s, %s: %s", a.PaneID, reply.Count(len(text), "line"), reply.Legible(strings.Join(said.Facts, ", "), "")))
			v.Lines = append(v.Lines, text...)
		}
	}
	v.Fact("%s after %s", reply.Count(done, "agent"), reply.Elapsed(r.ElapsedSeconds))
	v.FactIf(r.TimedOut, "timeout")
	v.FactIf(len(r.Gone) > 0, "gone: %s", reply.Joined(r.Gone))
	v.FactIf(len(still) > 0 && len(still) <= mostStill, "not yet: %s", strings.Join(still, "; "))
	v.FactIf(len(still) > mostStill, "not yet: %d others", len(still))
	return v
}

// mostStill is how many agents are named that a wait has not ended for.
const mostStill = 20

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
		budget, err := k.Screens.Budget(seconds)
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
	Answer  bool     `json:"answer,omitempty" desc:"wait for its answer, and return it"`
	Timeout *float64 `json:"timeout,omitempty" desc:"seconds until it takes input (30), with answer until it has answered (300)"`
	target.OnSocket
}

func (in sendPromptIn) Check(tool.Limits) error { return in.Prompt.Check() }
