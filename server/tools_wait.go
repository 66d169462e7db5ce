package server

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"tmuxmcp/server/params"
	"tmuxmcp/tmux"
)

var waitForText = tool[waitForTextIn, *waitForTextResult]{
	name: "wait_for_text", title: "Wait For Text", kind: reads, set: setPanes, core: true, selfBounded: true,
	aim:  readsOne(aPane),
	hint: "wait until a build is done or a server is ready",
	desc: "Wait until a pane prints one of patterns, such as a server being ready or a build being done, or prints one of stop, or the timeout passes. " +
		"Without patterns, waits for any output. Only text printed after the call counts. To wait for a command that you start, use run_command.",
	run: func(ctx context.Context, c *call, in waitForTextIn) (*waitForTextResult, error) {
		start := time.Now()
		w, err := in.wait(ctx, c)
		if err != nil {
			return nil, err
		}
		w.start, w.deadline, w.target = start, start.Add(w.budget), c.on.target
		if err := w.begin(ctx); err != nil {
			return nil, err
		}
		defer w.watch.stop()
		for {
			done, err := w.tick(ctx)
			if err != nil {
				return nil, err
			}
			if done {
				return w.finish(ctx), nil
			}
			if err := w.watch.next(ctx, w.out.shown.paneState, w.deadline); err != nil {
				return nil, err
			}
		}
	},
}

type waitForTextIn struct {
	Patterns patternList `json:"patterns,omitempty" desc:"texts to wait for, any of them; null: any output"`
	Stop     patternList `json:"stop,omitempty" desc:"texts that end the wait as a failure"`
	Regex    bool        `json:"regex,omitempty" desc:"texts are regular expressions (RE2)"`
	paneSelect
	Timeout   float64 `json:"timeout" default:"8" desc:"seconds"`
	Interval  float64 `json:"interval" default:"0.05" min:"0.01" desc:"seconds between looks"`
	MatchCase bool    `json:"match_case,omitempty" desc:"case-sensitive"`
	socket
}

// patternList is a list of texts, which may be absent but not empty by mistake.
type patternList struct {
	given bool
	texts []string
}

func (patternList) JSONSchema() string { return `"type":"array","items":{"type":"string"}` }

func (l *patternList) BindJSON(raw json.RawMessage) error {
	l.given = true
	if json.Unmarshal(params.Unquoted(raw, '['), &l.texts) != nil {
		return errors.New("must be a list of strings")
	}
	return nil
}

// compile makes matchers of the patterns.
func (l patternList) compile(ctx context.Context, c *call, argument string, in waitForTextIn) ([]*matcher, error) {
	if len(l.texts) > maxPatterns {
		return nil, argumentFault(argument, "takes at most %d patterns", maxPatterns)
	}
	var all []*matcher
	for _, p := range l.texts {
		m, err := newMatcher(argument, p, in.Regex, in.MatchCase)
		if err != nil {
			if p != "" {
				c.warn(ctx, err.Error())
			}
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// The outcomes of a wait.
const (
	outcomeMatched   = "matched"
	outcomeAnyOutput = "any_output"
	outcomeStopped   = "stopped"
	outcomeAlternate = "alternate_screen"
	outcomeTimeout   = "timeout"
)

type waitForTextResult struct {
	Found            bool        `json:"found"`
	Outcome          string      `json:"outcome" enum:"matched,any_output,stopped,alternate_screen,timeout"`
	MatchedIndex     *int        `json:"matched_index"`
	MatchedLines     []string    `json:"matched_lines" exact:"true"`
	Tail             []string    `json:"tail" exact:"true"`
	SawNewOutput     bool        `json:"saw_new_output"`
	MatchedAtEntry   bool        `json:"matched_at_entry"`
	AlternateScreen  bool        `json:"alternate_screen"`
	LinesMissed      bool        `json:"lines_missed"`
	PaneID           tmux.PaneID `json:"pane_id"`
	ElapsedSeconds   float64     `json:"elapsed_seconds"`
	EffectiveTimeout float64     `json:"effective_timeout"`
}

// textWait is one wait for text.
type textWait struct {
	c                *call
	target           tmux.Target
	patterns, stop   []*matcher
	anything         bool
	start, deadline  time.Time
	budget, interval time.Duration

	out     *output
	res     waitForTextResult
	atEntry bool
	warned  bool
	watch   *paneWatch
	look    matching
	sent    time.Time // of the last progress
	grown   int       // by how many rows the history grew at the last look
}

// wait checks the arguments.
func (in waitForTextIn) wait(ctx context.Context, c *call) (w *textWait, err error) {
	w = &textWait{c: c, anything: !in.Patterns.given, interval: time.Duration(in.Interval * float64(time.Second))}
	if w.budget, err = c.s.budget(in.Timeout); err != nil {
		return nil, err
	}
	if in.Patterns.given && len(in.Patterns.texts) == 0 {
		return nil, argumentFault("patterns", "must not be empty; null waits for any output")
	}
	if w.patterns, err = in.Patterns.compile(ctx, c, "patterns", in); err != nil {
		return nil, err
	}
	w.stop, err = in.Stop.compile(ctx, c, "stop", in)
	return w, err
}

// bounded bounds one look at the pane: a server that does not answer must not take
// all of the time. Near the end of the wait a busy one still has three seconds.
func (w *textWait) bounded(ctx context.Context, look func(ctx context.Context) error) error {
	budget := max(min(5*time.Second, time.Until(w.deadline)), 3*time.Second)
	bound, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	err := look(bound)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		f := faultf(kindTimeout, "tmux did not answer within %.2fs: the tmux server is unresponsive", budget.Seconds())
		f.cause = err
		return f
	}
	return err
}

// begin remembers the pane as it is now.
func (w *textWait) begin(ctx context.Context) error {
	var g *grid
	var shown []string
	err := w.bounded(ctx, func(ctx context.Context) (err error) {
		if g, err = w.c.readGrid(ctx, w.target, gridRequest{from: visible, joined: true}); err != nil {
			return err
		}
		w.target, w.res.PaneID, w.res.AlternateScreen = g.ID, g.ID, g.Alternate
		for _, l := range g.lines {
			if l.end() > g.History {
				shown = append(shown, l.text)
			}
		}
		if g.Alternate {
			g, err = w.c.readHidden(ctx, w.target)
		}
		return err
	})
	if err != nil {
		return err
	}
	if g.Dead {
		return g.died(withoutBlankEnd(g.from(g.History)))
	}
	i, err := w.first(ctx, w.patterns, shown)
	if err != nil {
		return err
	}
	w.atEntry = i >= 0
	w.out, w.watch = newOutput(g), w.c.watch(ctx, g.paneState, w.interval)
	return nil
}

// tick looks at the pane once, and reports whether the wait is over.
func (w *textWait) tick(ctx context.Context) (done bool, err error) {
	w.progress(ctx)
	began := time.Now()
	var g *grid
	known := true
	err = w.bounded(ctx, func(ctx context.Context) (err error) {
		last := w.out.shown
		g, err = w.c.readGrid(ctx, w.target, gridRequest{from: w.out.readFrom(), history: last.History, slack: 20 + 2*w.grown, joined: true})
		if err != nil {
			return err
		}
		if g.PID != w.out.pid && g.PID != "" && !g.Dead {
			return g.respawned(w.out.pid, w.out.tail())
		}
		w.grown = max(0, g.History-last.History)
		known, err = w.out.follow(g, func() (*grid, error) {
			return w.c.readGrid(ctx, w.target, gridRequest{history: g.History, slack: 100})
		})
		return err
	})
	switch {
	case errors.Is(err, tmux.ErrNotFound), errors.Is(err, tmux.ErrNoServer), errors.Is(err, tmux.ErrServerGone):
		return false, w.gone(err)
	case err != nil:
		return false, err
	case !known:
		return false, faultf(kindRefused, "pane %s was cleared or its lines were wrapped anew: the history shrank below the baseline of the wait, so new output cannot be identified", g.ID).
			suggest("call wait_for_text again, or use wait_for_channel")
	}
	w.warnOfTrims(ctx, g)
	w.res.AlternateScreen = w.res.AlternateScreen || g.Alternate
	if g.Alternate {
		w.watch.saw(began, false)
		return w.over(), nil
	}
	fresh := w.out.fresh()
	w.watch.saw(began, len(fresh) > 0 && (!w.res.SawNewOutput || w.grown > 0))
	w.res.SawNewOutput = w.res.SawNewOutput || len(fresh) > 0
	// A failure and a success may come in the same look, and a broad pattern of
	// success must not hide the failure.
	for _, p := range []struct {
		patterns []*matcher
		outcome  string
	}{{w.stop, outcomeStopped}, {w.patterns, outcomeMatched}} {
		i, err := w.first(ctx, p.patterns, fresh)
		if err != nil {
			return false, err
		}
		if i >= 0 {
			lines, err := w.look.lines(ctx, p.patterns[i], fresh)
			return w.end(p.outcome, &i, lines), err
		}
	}
	if g.Dead {
		return false, g.died(w.out.tail())
	}
	if w.anything && len(fresh) > 0 {
		return w.end(outcomeAnyOutput, nil, fresh), nil
	}
	return w.over(), nil
}

// first is [matching.first] with a limit that a long wait reaches later.
func (w *textWait) first(ctx context.Context, patterns []*matcher, lines []string) (int, error) {
	w.look.most = maxMatching + time.Since(w.start)/10
	return w.look.first(ctx, patterns, lines)
}

// gone says that the pane is no more. What tmux said stays the cause.
func (w *textWait) gone(err error) error {
	f := faultf(kindPaneGone, "pane_gone: pane %s died: it was closed while it was waited for", w.res.PaneID)
	if !errors.Is(err, tmux.ErrNotFound) {
		f.msg = "pane_gone: pane " + string(w.res.PaneID) + " died with its tmux server on " + w.c.tmux.SocketPath()
	}
	f.cause = err
	return f.suggest("list_panes shows which panes are left%s", lastWords(w.out.tail()))
}

func (w *textWait) end(outcome string, index *int, lines []string) bool {
	w.res.Outcome, w.res.MatchedIndex, w.res.MatchedLines = outcome, index, lines
	return true
}

// over reports whether the time is up.
func (w *textWait) over() bool {
	if time.Now().Before(w.deadline) {
		return false
	}
	if w.res.AlternateScreen {
		return w.end(outcomeAlternate, nil, nil)
	}
	return w.end(outcomeTimeout, nil, nil)
}

// finish is the answer.
func (w *textWait) finish(ctx context.Context) *waitForTextResult {
	most, size := 20, 2000
	r := &w.res
	r.Found = r.Outcome == outcomeMatched || r.Outcome == outcomeAnyOutput
	r.MatchedAtEntry = w.atEntry && !r.Found
	r.EffectiveTimeout, r.LinesMissed = w.budget.Seconds(), w.out.missed
	if r.Outcome == outcomeTimeout || r.Outcome == outcomeAlternate {
		w.c.warn(ctx, "No match in pane "+string(r.PaneID)+" before the timeout of "+w.budget.String())
	}
	matched, _, _ := limited(r.MatchedLines, &most, &size)
	tail, _, _ := limited(w.out.tail(), &most, &size)
	r.MatchedLines, r.Tail = append([]string{}, matched...), append([]string{}, tail...)
	r.ElapsedSeconds = seconds(time.Since(w.start))
	return r
}

// progress reports the wait to the client, once a second.
func (w *textWait) progress(ctx context.Context) {
	if now := time.Now(); now.Sub(w.sent) >= time.Second {
		w.sent = now
		w.c.waited(ctx, "pane "+string(w.res.PaneID), w.start, w.budget)
	}
}

// warnOfTrims warns once that tmux may drop lines before they are looked at.
func (w *textWait) warnOfTrims(ctx context.Context, g *grid) {
	if w.warned || g.Limit <= 0 || !g.mayTrim() {
		return
	}
	w.warned = true
	w.c.warn(ctx, "the history of pane "+string(g.ID)+" is nearly full: lines that tmux drops at once may be missed; wait_for_channel misses nothing")
}
